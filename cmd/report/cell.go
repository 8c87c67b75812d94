package report

import (
	"fmt"
	"math"
	"strconv"

	"capcli"
)

// Percent is a share between 0 and 1. People read 93.1%, programs 0.931.
type Percent float64

// Ratio is a number without a unit, such as a slowdown. People read 2.50.
type Ratio float64

// MeanTime is a mean duration in seconds. People read 22 min, programs 1320.25.
type MeanTime float64

// Micros is a time in microseconds. People read 183 ms, programs 183000.
type Micros float64

// ShortTime is a duration in seconds, mostly below one. People read 183 ms, programs 0.183.
type ShortTime float64

// Range is a figure Mid with its interval from Lo to Hi. Mid may be of another type than the
// bounds. Where a bound is nil only Mid is shown.
type Range struct{ Mid, Lo, Hi any }

// Change is a difference. People read a + before a positive one.
type Change struct{ Of any }

// AtLeast is a figure with a known lower bound only. People read "over 22 min"; programs read an
// unknown value.
type AtLeast struct{ Of any }

// Verdict is a word that a terminal may color.
type Verdict struct {
	Text string
	Good bool
}

// Label is a name with a form for people and one for programs, such as that of the figure in a
// row: Head "wait p95" and Name "wait_p95_s".
type Label struct{ Name, Head string }

// Money is an amount in any currency that may have more decimal places than capcli.USD. People
// read it rounded, programs read every digit.
type Money struct {
	Exact    string // decimal number, all digits
	Near     capcli.USD
	Currency string // ISO code; "" is USD
}

// notANumber returns the error of a figure that is NaN or infinite. That is a bug where it was
// computed: an unknown value must be nil.
func notANumber(v float64) error {
	return fmt.Errorf("a figure is %v: refused, for unknown is written as n/a, not as a number", v)
}

// plainValue returns the value in a Verdict, a Label or a Change, an int as int64, and nil for an
// unknown time and an AtLeast. It returns any other v as it is.
func plainValue(v any) any {
	switch v := v.(type) {
	case capcli.Time:
		if !v.IsKnown() {
			return nil
		}
	case int:
		return int64(v)
	case Verdict:
		return v.Text
	case Label:
		return v.Name
	case AtLeast:
		return nil
	case Change:
		return plainValue(v.Of)
	}
	return v
}

// Number returns the figure of a cell, and as, a function that makes a cell of the same kind from
// another figure, such as a mean. as is nil where the cell is not a figure, or is Money. Times
// are in seconds, GPU time in hours.
func Number(cell any) (value float64, as func(float64) any) {
	switch v := cell.(type) {
	case int:
		return float64(v), AsCount
	case int64:
		return float64(v), AsCount
	case float64:
		return v, asNumber
	case Percent:
		return float64(v), AsPercent
	case Ratio:
		return float64(v), AsRatio
	case MeanTime:
		return float64(v), AsSeconds
	case Micros:
		return float64(v), AsMicros
	case ShortTime:
		return float64(v), AsShortTime
	case capcli.Seconds:
		return float64(v), AsSeconds
	case capcli.GPUTime:
		return v.Hours(), AsHours
	case capcli.USD:
		return v.Float(), AsMoney
	case Money:
		return v.Near.Float(), nil
	case Range:
		return Number(v.Mid)
	}
	return 0, nil
}

// AsMoney returns the cell of an amount in dollars.
func AsMoney(dollars float64) any { return capcli.USDOf(dollars) }

// AsHours returns the cell of GPU-hours.
func AsHours(hours float64) any { return capcli.GPUTime(roundHalf(hours * 3.6e6)) }

// AsSeconds returns the cell of a mean duration in seconds.
func AsSeconds(seconds float64) any { return MeanTime(seconds) }

// AsMicros returns the cell of a time in microseconds.
func AsMicros(us float64) any { return Micros(us) }

// AsShortTime returns the cell of a short duration in seconds.
func AsShortTime(seconds float64) any { return ShortTime(seconds) }

// AsPercent returns the cell of a share between 0 and 1.
func AsPercent(share float64) any { return Percent(share) }

// AsRatio returns the cell of a number without a unit.
func AsRatio(v float64) any { return Ratio(v) }

// AsCount returns the cell of a count, rounded; halves away from zero.
func AsCount(v float64) any { return roundHalf(v) }

func asNumber(v float64) any { return v }

// roundHalf returns v rounded, halves away from zero.
func roundHalf(v float64) int64 {
	if v < 0 {
		return -roundHalf(-v)
	}
	return int64(v + 0.5)
}

// exact returns the text of a cell for programs: not rounded, without a unit, "" where unknown.
// It fails for NaN, infinities and types that no form can write.
func exact(v any) (string, error) {
	switch v := plainValue(v).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	case capcli.USD:
		return v.Decimal(), nil
	case Money:
		return v.Exact, nil
	case capcli.Seconds:
		return strconv.FormatInt(int64(v), 10), nil
	case capcli.GPUTime:
		return exactFloat(v.Hours())
	case capcli.Time:
		return v.String(), nil
	case float64:
		return exactFloat(v)
	case Percent:
		return exactFloat(float64(v))
	case Ratio:
		return exactFloat(float64(v))
	case MeanTime:
		return exactFloat(float64(v))
	case Micros, ShortTime:
		f, _ := Number(v)
		return exactFloat(f)
	case Range:
		return exact(v.Mid)
	default:
		return "", fmt.Errorf("no form can write a cell of type %T", v)
	}
}

func exactFloat(v float64) (string, error) {
	if !finite(v) {
		return "", notANumber(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64), nil
}

// AsTenths returns the cell of a figure rounded to one decimal; nil where it is NaN or infinite.
func AsTenths(v float64) any {
	if !finite(v) {
		return nil
	}
	return math.Round(10*v) / 10
}

// isText reports whether a cell is text or a bool, not a figure.
func isText(v any) bool {
	switch plainValue(v).(type) {
	case string, bool:
		return true
	}
	return false
}
