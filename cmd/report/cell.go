package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

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

// Strip removes from a text all that could control a terminal: whole escape sequences (ECMA-48:
// CSI, OSC and other strings, two-byte ones), other control characters, and marks that change the
// direction of text. A byte that is not UTF-8 becomes U+FFFD. Tabs and line ends become a space,
// so that a cell stays on its line.
func Strip(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == 0x1b || r >= 0x90 && r <= 0x9f:
			s = s[escape(s, r, size):]
			continue
		case r == '\t' || r == '\n':
			b.WriteByte(' ')
		case harmless(r):
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

func clean(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !harmless(r) {
			return false
		}
	}
	return true
}

func harmless(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return false // direction
	case r == 0x2028 || r == 0x2029:
		return false // line and paragraph separators
	}
	return true
}

// escape returns the length in bytes of the escape sequence at the start of s; r is its first
// rune, of size bytes. A string without an end takes the rest of s.
func escape(s string, r rune, size int) int {
	kind, at := r, size
	if r == 0x1b {
		if at == len(s) {
			return at
		}
		next, n := utf8.DecodeRuneInString(s[at:])
		kind, at = next+0x40, at+n // ESC [ is CSI, and so on
	}
	switch kind {
	case 0x9b: // CSI: ends at the first byte from @ to ~
		for i := at; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: end at BEL or ST
		for i, c := range s[at:] {
			switch {
			case c == 0x07 || c == 0x9c:
				return at + i + utf8.RuneLen(c)
			case c == 0x1b && strings.HasPrefix(s[at+i:], "\x1b\\"):
				return at + i + 2
			}
		}
		return len(s)
	}
	return at
}

// wrap breaks a line between words so that no line is wider than width, except a single longer
// word. Lines after the first begin with indent. A width of 0 is no limit.
func wrap(line string, width int, indent string) string {
	if width <= 0 || twwidth.Width(line) <= width {
		return line
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		w := twwidth.Width(word)
		switch {
		case i == 0:
		case at+1+w > width:
			b.WriteString("\n" + indent)
			at = twwidth.Width(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}
