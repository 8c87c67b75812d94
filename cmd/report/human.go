package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
)

// human returns the text of a cell for people: rounded, with its unit, n/a where unknown. It
// fails for NaN, infinities and types that no form can write.
func human(v any) (string, error) {
	switch v := v.(type) {
	case Label:
		return Strip(v.Head), nil
	case Range:
		return humanRange(v)
	case AtLeast:
		s, err := human(v.Of)
		return "over " + s, err
	case Change:
		s, err := human(v.Of)
		if err == nil && isPositive(v.Of) {
			s = "+" + s
		}
		return s, err
	}
	switch v := plainValue(v).(type) {
	case nil:
		return "n/a", nil
	case string:
		return Strip(v), nil
	case int64:
		return capcli.GroupDigits(strconv.FormatInt(v, 10)), nil
	case bool:
		if v {
			return "yes", nil
		}
		return "no", nil
	case capcli.USD:
		return humanMoney(v), nil
	case Money:
		if v.Currency == "" || v.Currency == "USD" {
			return humanMoney(v.Near), nil
		}
		return strings.Replace(humanMoney(v.Near), "$", "", 1) + " " + Strip(v.Currency), nil
	case capcli.Seconds:
		return v.String(), nil
	case capcli.GPUTime:
		return humanFloat(v.Hours())
	case capcli.Time:
		return v.Std().Format("2006-01-02 15:04"), nil
	case float64:
		return humanFloat(v)
	case Percent:
		s, err := fixed(float64(v)*100, 1)
		return s + "%", err
	case Ratio:
		return fixed(float64(v), 2)
	case MeanTime:
		return humanTime(float64(v), 1e15, func(v float64) string { return capcli.Seconds(math.Round(v)).String() })
	case Micros:
		return humanTime(float64(v), 1e18, capcli.MicrosText)
	case ShortTime:
		return humanTime(float64(v)*1e6, 1e18, capcli.MicrosText)
	default:
		return "", fmt.Errorf("no form can write a cell of type %T", v)
	}
}

// humanTime returns a time of at most limit by its text. It fails for NaN and beyond.
func humanTime(v, limit float64, text func(float64) string) (string, error) {
	if math.IsNaN(v) || math.Abs(v) > limit {
		return "", notANumber(v)
	}
	return text(v), nil
}

// humanMoney returns an amount in dollars: without cents from $100 up, and with all decimal
// places below one cent, so that a price never reads as zero.
func humanMoney(u capcli.USD) string {
	abs := max(u, -u)
	switch {
	case abs >= 100*capcli.Dollar:
		rounded := (abs + capcli.Dollar/2) / capcli.Dollar * capcli.Dollar
		if u < 0 {
			rounded = -rounded
		}
		return strings.TrimSuffix(rounded.String(), ".00")
	case abs > 0 && abs < capcli.Dollar/100:
		return strings.Replace("$"+u.Decimal(), "$-", "-$", 1)
	}
	return u.String()
}

// humanFloat returns v in three significant digits, or as an integer where that is more.
func humanFloat(v float64) (string, error) {
	abs := math.Abs(v)
	switch {
	case abs == 0 || abs >= 99.95:
		return fixed(v, 0)
	case abs >= 9.995:
		return fixed(v, 1)
	case abs >= 0.1:
		return fixed(v, 2)
	}
	if _, err := exactFloat(v); err != nil {
		return "", err
	}
	return strconv.FormatFloat(v, 'g', 3, 64), nil
}

func fixed(v float64, places int) (string, error) {
	if _, err := exactFloat(v); err != nil {
		return "", err
	}
	s := capcli.GroupDigits(strconv.FormatFloat(v, 'f', places, 64))
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // -0 is 0
	}
	return s, nil
}

// humanRange returns a range such as "22 min (17 to 29)". A unit that all three figures share is
// written once. Three equal figures are written as one.
func humanRange(r Range) (string, error) {
	mid, err := human(r.Mid)
	if err != nil || r.Lo == nil || r.Hi == nil {
		return mid, err
	}
	lo, err := human(r.Lo)
	if err != nil {
		return "", err
	}
	hi, err := human(r.Hi)
	if err != nil {
		return "", err
	}
	if lo == mid && hi == mid {
		return mid, nil
	}
	for _, unit := range []string{" s", " min", "%"} {
		if strings.HasSuffix(mid, unit) && strings.HasSuffix(lo, unit) && strings.HasSuffix(hi, unit) {
			lo, hi = strings.TrimSuffix(lo, unit), strings.TrimSuffix(hi, unit)
			break
		}
	}
	return mid + " (" + lo + " to " + hi + ")", nil
}

func isPositive(cell any) bool {
	v, _ := Number(plainValue(cell))
	return v > 0
}
