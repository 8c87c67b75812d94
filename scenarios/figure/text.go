package figure

import (
	"math"
	"strconv"
	"strings"
	"time"

	"capcli"
)

// Text returns n in the unit u for people, rounded, and "n/a" where it is unknown: "$1,695,168",
// "22 min", "93.1%", "2026-08-02 14:00". Moments are in UTC.
func (u Unit) Text(n Number) string {
	v := float64(n)
	if !n.IsKnown() {
		return "n/a"
	}
	switch u {
	case USD:
		return dollars(v)
	case Seconds:
		if math.Abs(v) < 1e12 {
			if v != math.Trunc(v) && math.Abs(v) < 10 {
				return rounded(v) + " s"
			}
			return capcli.Seconds(math.Round(v)).String()
		}
		return rounded(v/86400) + " d"
	case Share:
		return rounded1(v*100) + "%"
	case Time:
		return moment(v)
	case GPUHours:
		return rounded(v) + " GPU-h"
	default:
		return rounded(v)
	}
}

// Cell returns n for a cell of a table: as Text does, but dollars with cents.
func (u Unit) Cell(n Number) string {
	if u == USD && math.Abs(float64(n)) >= 0.01 && n.IsKnown() {
		return signed(grouped(float64(n), 2))
	}
	return u.Text(n)
}

// Exact returns n for programs: all digits, times in RFC 3339 UTC, "" where it is unknown.
func (u Unit) Exact(n Number) string {
	switch {
	case !n.IsKnown():
		return ""
	case u == Time && isMoment(float64(n)):
		return time.UnixMilli(int64(math.Round(float64(n) * 1000))).UTC().Format(time.RFC3339Nano)
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

// Suffix returns the unit for the head of a column: " ($)"; "" where the values show it.
func (u Unit) Suffix() string {
	switch u {
	case USD:
		return " ($)"
	case GPUHours:
		return " (GPU-h)"
	default:
		return ""
	}
}

// isMoment reports whether v seconds since 1970 are between the years 1 and 9999.
func isMoment(v float64) bool { return v > -62135596800 && v < 253402300800 }

func moment(v float64) string {
	if !isMoment(v) {
		return "n/a"
	}
	t := time.Unix(int64(math.Floor(v)), 0).UTC()
	switch {
	case t.Second() != 0:
		return t.Format("2006-01-02 15:04:05")
	case t.Hour() != 0 || t.Minute() != 0:
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02")
}

// dollars returns an amount without cents from $100 up.
func dollars(v float64) string {
	places := 2
	switch abs := math.Abs(v); {
	case abs >= 99.995:
		places = 0
	case abs > 0 && abs < 0.01:
		places = 6
	}
	text := grouped(v, places)
	if places == 6 {
		text = strings.TrimRight(text, "0")
		if strings.HasSuffix(text, ".") { // less than a millionth
			text = "0.00"
		}
	}
	return signed(text)
}

// signed returns a number with the sign of dollars, after a minus.
func signed(text string) string {
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return "-$" + rest
	}
	return "$" + text
}

// rounded returns v in three significant digits, or as an integer where that is more.
func rounded(v float64) string {
	switch abs := math.Abs(v); {
	case v == math.Trunc(v) || abs >= 99.95:
		return grouped(v, 0)
	case abs >= 9.995:
		return grouped(v, 1)
	case abs >= 0.1:
		return grouped(v, 2)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// rounded1 returns v with one decimal.
func rounded1(v float64) string {
	if abs := math.Abs(v); abs > 0 && abs < 0.1 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return grouped(v, 1)
}

// grouped returns v with so many decimals and commas between the thousands. From 10^21 up it has an
// exponent.
func grouped(v float64, places int) string {
	if math.Abs(v) >= 1e21 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := capcli.GroupDigits(strconv.FormatFloat(v, 'f', places, 64))
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-") // -0 is 0
	}
	return text
}
