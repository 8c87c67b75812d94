package capcli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Time is an instant: whole seconds since 1970-01-01 UTC.
type Time int64

// NoTime is a time that is unknown or has not come.
const NoTime Time = math.MinInt64

// IsKnown reports whether t is not NoTime.
func (t Time) IsKnown() bool { return t != NoTime }

// Std returns t as a time of the standard library, in UTC.
func (t Time) Std() time.Time { return time.Unix(int64(t), 0).UTC() }

// Date returns the day of t in UTC: 2027-01-31.
func (t Time) Date() string { return t.Std().Format(time.DateOnly) }

// String returns t in RFC 3339, or "" for NoTime.
func (t Time) String() string {
	if !t.IsKnown() {
		return ""
	}
	return t.Std().Format(time.RFC3339)
}

// TimeOf converts a standard time, rounded down to the second.
func TimeOf(t time.Time) Time { return Time(t.Unix()) }

// ParseTime reads a date or a time. A text without a zone is in zone; nil is UTC. A date is its
// first second, or its last if end is true.
func ParseTime(text string, zone *time.Location, end bool) (Time, error) {
	if zone == nil {
		zone = time.UTC
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return TimeOf(t), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return TimeOf(t), nil
		}
	}
	t, err := time.ParseInLocation("2006-01-02", text, zone)
	if err != nil {
		return 0, fmt.Errorf("wants a date or a time, found %q", text)
	}
	if end {
		t = t.AddDate(0, 0, 1).Add(-time.Second)
	}
	return TimeOf(t), nil
}

// Seconds is a length of time, or a time since a run's start.
type Seconds int64

// Common lengths of time.
const (
	Minute Seconds = 60
	Hour   Seconds = 3600
	Day    Seconds = 86400
)

// Hours returns s in hours.
func (s Seconds) Hours() float64 { return float64(s) / 3600 }

// String returns s for people: "45 s", "22 min", "1h34m", "3d04h".
func (s Seconds) String() string {
	if s < 0 {
		return "-" + (-s).String()
	}
	switch {
	case s < Minute:
		return strconv.FormatInt(int64(s), 10) + " s"
	case s < Hour:
		if s%Minute == 0 || s >= 10*Minute {
			return strconv.FormatInt(int64((s+Minute/2)/Minute), 10) + " min"
		}
		return fmt.Sprintf("%dm%02ds", s/Minute, s%Minute)
	case s < 2*Day:
		return fmt.Sprintf("%dh%02dm", s/Hour, s%Hour/Minute)
	}
	return fmt.Sprintf("%dd%02dh", s/Day, s%Day/Hour)
}

// ParseSeconds reads a length of time: "90s", "30m", "1h30m", "2d". An integer is
// seconds. "6mo" is refused, since months differ in length.
func ParseSeconds(text string) (Seconds, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return 0, errors.New("empty length of time")
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Seconds(n), nil
	}
	var total int64
	for rest := s; rest != ""; {
		n, unit, after, ok := cutUnit(rest)
		if !ok || n > math.MaxInt64/unit || total > math.MaxInt64-n*unit {
			return 0, fmt.Errorf("%q is not a length of time; write 90s, 30m, 1h30m, 2d or 1w", text)
		}
		total += n * unit
		rest = after
	}
	return Seconds(total), nil
}

// cutUnit cuts a number and its unit off the front of s.
func cutUnit(s string) (n, unit int64, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 || i == len(s) {
		return 0, 0, "", false
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	if err != nil {
		return 0, 0, "", false
	}
	units := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}
	unit, ok = units[s[i]]
	return n, unit, s[i+1:], ok
}

// GPUTime is GPU time in thousandths of a GPU-second, so that a quarter of a shared GPU
// is exact. 100,000 GPUs for fifty years stay under 2^63.
type GPUTime int64

// GPUSecond is one whole GPU for one second.
const GPUSecond GPUTime = 1000

// Hours returns t in GPU-hours.
func (t GPUTime) Hours() float64 { return float64(t) / (1000 * 3600) }

// USD is money in millionths of a dollar.
type USD int64

// Dollar is one dollar.
const Dollar USD = 1_000_000

// Float returns u in dollars, for ratios and charts, never for sums.
func (u USD) Float() float64 { return float64(u) / 1e6 }

// MeanUSD returns the mean of n amounts, 0 if n is 0. It rounds half up if half is true, else down.
// The sum of the amounts may exceed USD.
func MeanUSD(n int, half bool, amount func(i int) USD) USD {
	if n == 0 {
		return 0
	}
	var whole, rest USD
	for i := range n {
		u := amount(i)
		whole, rest = whole+u/USD(n), rest+u%USD(n)
	}
	if half {
		rest += USD(n) / 2
	}
	return whole + rest/USD(n)
}

// USDOf rounds dollars to the millionth, halves away from zero.
func USDOf(dollars float64) USD {
	if dollars < 0 {
		return -USDOf(-dollars)
	}
	return USD(dollars*1e6 + 0.5)
}

// String returns u in dollars and whole cents, "$1,695,168.00". Decimal is exact.
func (u USD) String() string {
	if u < 0 {
		u = max(u, -math.MaxInt64) // -u must fit
		return "-" + (-u).String()
	}
	cents := (u + 5_000) / 10_000
	return "$" + Grouped(int64(cents/100)) + fmt.Sprintf(".%02d", cents%100)
}

// Brief returns u in three significant figures from ten thousand dollars up: "$1.70M".
func (u USD) Brief() string {
	if u < 10_000*Dollar {
		return u.String()
	}
	dollars := u.Float()
	v, unit := dollars/1e3, "k"
	switch {
	case dollars >= 1e9:
		v, unit = dollars/1e9, "B"
	case dollars >= 1e6:
		v, unit = dollars/1e6, "M"
	}
	places := 2
	for limit := 9.995; places > 0 && v >= limit; limit *= 10 {
		places--
	}
	return fmt.Sprintf("$%.*f%s", places, v, unit)
}

// Decimal returns u exactly, as a decimal with two to six places: "25.20", "0.000001".
func (u USD) Decimal() string {
	sign, size := "", uint64(u)
	if u < 0 {
		sign, size = "-", -size // also of the least amount, whose opposite is no USD
	}
	frac := fmt.Sprintf("%06d", size%uint64(Dollar))
	for len(frac) > 2 && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	return sign + strconv.FormatUint(size/uint64(Dollar), 10) + "." + frac
}

// Grouped returns n with commas between thousands: "1,695,168".
func Grouped(n int64) string { return GroupDigits(strconv.FormatInt(n, 10)) }

// GroupDigits returns the decimal number s with commas between the thousands.
func GroupDigits(s string) string {
	digits, rest, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + digits + rest
}

// BriefNumber formats v for a sentence: as a whole number, or in three significant figures below a
// hundred.
func BriefNumber(v float64) string {
	if v >= 100 {
		return Grouped(int64(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Plural returns word, with an s unless n is one.
func Plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	if strings.HasSuffix(word, "x") || strings.HasSuffix(word, "ch") || strings.HasSuffix(word, "ss") {
		return word + "es"
	}
	if bare, ok := strings.CutSuffix(word, "aly"); ok {
		return bare + "alies"
	}
	return word + "s"
}

// Agree returns one if n is 1, else more.
func Agree[N ~int | ~int64](n N, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Abridge returns the first n texts of list and a note of how many more there are.
func Abridge(list []string, n int) []string {
	if len(list) > n {
		return append(append([]string(nil), list[:n]...), fmt.Sprintf("and %d more", len(list)-n))
	}
	return list
}

// CutMagnitude cuts k, M or B off the end of a number. times is a thousand, a million or a billion;
// 1 if there is none.
func CutMagnitude(s string) (rest string, times int64) {
	if s == "" {
		return "", 1
	}
	switch s[len(s)-1] {
	case 'k', 'K':
		times = 1e3
	case 'M', 'm':
		times = 1e6
	case 'B', 'b', 'G':
		times = 1e9
	default:
		return s, 1
	}
	return strings.TrimSpace(s[:len(s)-1]), times
}

// ParseUSD reads an amount of dollars: "$2.10", "2.1", "1,695,168.00", at most
// six decimal places.
func ParseUSD(text string) (USD, error) {
	bad := fmt.Errorf("%q is not an amount of dollars; write 2.10", text)
	s := strings.TrimPrefix(strings.TrimSpace(text), "$")
	whole, frac, _ := strings.Cut(s, ".")
	if parts := strings.Split(whole, ","); len(parts) > 1 {
		for i, p := range parts {
			if (i > 0 && len(p) != 3) || p == "" {
				return 0, bad
			}
		}
		whole = strings.Join(parts, "")
	}
	if len(frac) > 6 || strings.ContainsAny(frac, "+-") || strings.HasPrefix(whole, "+") || whole+frac == "" {
		return 0, bad
	}
	n, err := strconv.ParseInt("0"+whole, 10, 64)
	if err != nil || n > math.MaxInt64/int64(Dollar)-1 {
		return 0, bad
	}
	f, err := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	if err != nil {
		return 0, bad
	}
	return USD(n)*Dollar + USD(f), nil
}

// Rate is the price of one GPU for one hour, in millionths of a dollar.
type Rate = USD

// ErrOverflow says that an amount exceeds 2^63 millionths of a dollar.
var ErrOverflow = errors.New("money overflow: an amount is over 9.2 trillion dollars")

// Cost returns the cost of t GPU time at rate r, rounded half up to the millionth. The product is
// computed in 128 bits. Cost panics with ErrOverflow when the result does not fit, because then a
// limit on the input was missing.
func Cost(r Rate, t GPUTime) USD {
	if r < 0 || t < 0 {
		panic(fmt.Errorf("cost of %d GPU time at rate %d: neither may be negative", t, r))
	}
	const perHour = 1000 * 3600
	hi, lo := bits.Mul64(uint64(r), uint64(t))
	lo, carry := bits.Add64(lo, perHour/2, 0)
	hi += carry
	if hi >= perHour {
		panic(ErrOverflow)
	}
	q, _ := bits.Div64(hi, lo, perHour)
	if q > math.MaxInt64 {
		panic(ErrOverflow)
	}
	return USD(q)
}

// Split divides total among weights in proportion, to the millionth, by the
// largest-remainder method (Hamilton's; ties to the earlier weight). The shares always
// sum to total. When all weights are zero, the first gets everything.
func Split(total USD, weights []int64) []USD {
	out := make([]USD, len(weights))
	if len(weights) == 0 {
		return out
	}
	var sum uint64
	for _, w := range weights {
		sum += uint64(max(w, 0))
	}
	if sum == 0 {
		out[0] = total
		return out
	}
	return splitBy(total, weights, sum, out)
}

func splitBy(total USD, weights []int64, sum uint64, out []USD) []USD {
	neg := total < 0
	abs := uint64(total)
	if neg {
		abs = uint64(-total)
	}
	rems := make([]uint64, len(weights))
	left := abs
	for i, w := range weights {
		hi, lo := bits.Mul64(abs, uint64(max(w, 0)))
		q, r := bits.Div64(hi, lo, sum)
		out[i], rems[i] = USD(q), r
		left -= q
	}
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rems[b], rems[a]) })
	for _, i := range order[:left] { // left is less than the number of non-zero remainders
		out[i]++
	}
	if neg {
		for i := range out {
			out[i] = -out[i]
		}
	}
	return out
}

// MicrosText formats microseconds for people, in three significant figures below a minute: 0.35 ms, 183 ms,
// 2.58 s, 3m5s.
func MicrosText(us float64) string {
	three := func(v float64) string {
		text := strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(max(v, 0.01))))), 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
	switch {
	case us < 0:
		return "-" + MicrosText(-us)
	case us == 0:
		return "0 s"
	case us < 999_500:
		return three(us/1e3) + " ms"
	case us < 59_950_000:
		return three(us/1e6) + " s"
	}
	return (time.Duration(math.Round(us/1e6)) * time.Second).String()
}
