package outcome

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
)

// Check is a condition on a result: "wait_p95<=30m".
type Check struct {
	Metric *Metric
	Op     string // "<=", "<", ">=", ">", "==", "!="
	Value  float64
	text   string // the value as given
}

// String returns the check as "wait_p95 <= 30m".
func (c Check) String() string { return c.Metric.Name + " " + c.Op + " " + c.text }

// Holds reports whether the condition is true of an outcome. known is false if the figure, or its
// lower bound, does not decide it.
func (c Check) Holds(o *Outcome) (holds, known bool) {
	f, ok := c.Metric.Read(o)
	if !ok || math.IsNaN(f.Value) {
		return false, false
	}
	return c.holds(f)
}

func (c Check) holds(f Figure) (holds, known bool) {
	v := f.Value
	if f.AtLeast {
		if v < c.Value || v == c.Value && c.Op != "<" && c.Op != ">=" {
			return false, false
		}
		return c.Op == ">" || c.Op == ">=" || c.Op == "!=", true
	}
	switch c.Op {
	case "<=":
		return v <= c.Value, true
	case "<":
		return v < c.Value, true
	case ">=":
		return v >= c.Value, true
	case ">":
		return v > c.Value, true
	case "==":
		return v == c.Value, true
	}
	return v != c.Value, true
}

// ops are the comparison signs; a sign comes before its prefixes.
var ops = []string{"<=", ">=", "==", "!=", "<", ">", "="}

// ParseCheck reads a condition such as "wait_p95<=30m", "cost > 1.70M" or
// "allocation_rate<93%".
func ParseCheck(text string) (Check, error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return Check{}, fmt.Errorf("%s is no condition; write a metric, a sign and a value: wait_p95<=30m", capcli.Quoted(text))
	}
	for _, op := range ops {
		if value, ok := strings.CutPrefix(text[at:], op); ok {
			name := strings.TrimSpace(text[:at])
			m, err := FindMetric(name)
			if err != nil {
				return Check{}, err
			}
			return newCheck(m, name, op, value)
		}
	}
	return Check{}, fmt.Errorf("%s is no condition; the sign is one of <= < >= > == !=", capcli.Quoted(text))
}

// newCheck parses the value of a check on a metric that was called name. After a name with a unit,
// wait_p95_s or stranded_usd, the value needs no unit.
func newCheck(m *Metric, name, op, value string) (Check, error) {
	if op == "=" {
		op = "=="
	}
	value = strings.TrimSpace(value)
	if v, ok := bareNumber(value); ok && v != 0 {
		switch {
		case m.Unit == InSeconds && name == m.Name:
			return Check{}, fmt.Errorf("%s: %s has no unit; write %ss for seconds or %s for minutes", m.Name, capcli.Quoted(value), value, asMinutes(value, v))
		case m.Unit == InUSD && !strings.HasSuffix(name, "_usd"):
			return Check{}, fmt.Errorf("%s: %s has no unit; write $%s, or %sk for thousands of dollars", m.Name, capcli.Quoted(value), value, value)
		case m.Unit == InSeconds:
			value += "s"
		case m.Unit == InUSD:
			value = "$" + value
		}
	}
	v, err := m.parse(value)
	return Check{Metric: m, Op: op, Value: v, text: value}, err
}

// asMinutes formats a number of minutes as a length of time.
func asMinutes(text string, v float64) string {
	if strings.Contains(text, ".") {
		return strconv.FormatFloat(60*v, 'f', -1, 64) + "s"
	}
	return text + "m"
}

// bareNumber reads a number without a magnitude, % or a comma.
func bareNumber(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	return amount(s)
}

// FindMetric returns the metric with a name or JSON field. The error suggests the nearest metric.
func FindMetric(name string) (*Metric, error) {
	if m := plainMetric(name); m != nil {
		return m, nil
	}
	if m := ofOneService(name); m != nil {
		return m, nil
	}
	names := capcli.Map(Metrics, func(m *Metric) string { return m.Name })
	return nil, fmt.Errorf("unknown metric %s%s", capcli.Quoted(name), cmp.Or(capcli.DidYouMean(name, names), ": have "+strings.Join(names, ", ")))
}

// plainMetric returns the metric with a name or JSON field; nil if there is none.
func plainMetric(name string) *Metric {
	for _, m := range Metrics {
		if name == m.Name || name == m.Name+"_s" && m.Unit == InSeconds || name == m.Name+"_usd" && m.Unit == InUSD {
			return m
		}
	}
	return nil
}

// parse reads a bound in the metric's unit: 30m, $1.7M, 93%, 12000.
func (m *Metric) parse(s string) (float64, error) {
	switch m.Unit {
	case InSeconds:
		if v, err := capcli.ParseSeconds(s); err == nil && v >= 0 {
			return float64(v), nil
		}
		for unit, of := range map[string]float64{"ms": 1e3, "us": 1e6} {
			if number, has := strings.CutSuffix(s, unit); has {
				if v, ok := bareNumber(strings.TrimSpace(number)); ok {
					return v / of, nil
				}
			}
		}
		if v, ok := bareNumber(strings.TrimSuffix(s, "s")); ok { // a fraction of a second, or 0
			return v, nil
		}
		return 0, fmt.Errorf("%s: %s is no length of time; write 200ms, 90s, 30m or 1h30m", m.Name, capcli.Quoted(s))
	case InUSD:
		if v, ok := amount(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "$"), "USD"))); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%s: %s is no amount of US dollars; write $1700000, 1.7M or 85k", m.Name, capcli.Quoted(s))
	case InShare:
		digits, percent := strings.CutSuffix(s, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if percent {
			v /= 100
		}
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1 {
			return 0, fmt.Errorf("%s: %s is no share; write 93%% or 0.93", m.Name, capcli.Quoted(s))
		}
		return v, nil
	case InGPUHours, InCount:
	}
	if v, ok := amount(s); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s: %s is no number; write 12000 or 12k", m.Name, capcli.Quoted(s))
}

// amount reads a number of at least 0, with k, M or B for thousands, millions and billions. Commas
// may separate thousands.
func amount(s string) (float64, bool) {
	s, times := capcli.CutMagnitude(s)
	if whole, _, _ := strings.Cut(s, "."); strings.Contains(s, ",") {
		for i, part := range strings.Split(whole, ",") {
			if i > 0 && len(part) != 3 {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	v *= float64(times)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, false
	}
	return v, true
}

// AvailableWithin returns the longest wait that counts as available: the first limit on waits, from
// the longest wait to the mean, else an hour.
func AvailableWithin(limits []Check) capcli.Seconds {
	for _, name := range []string{"wait_max", "wait_p99", "wait_p95", "wait_p50", "wait_mean"} {
		for _, c := range limits {
			if c.Metric.Name == name && strings.HasPrefix(c.Op, "<") {
				return capcli.Seconds(c.Value)
			}
		}
	}
	return capcli.Hour
}

// ParseLimit reads a bound of the metric, which the user called name: "30m", or "< 2d" with a sign.
// A bound without a sign is an upper bound, or a lower bound if more is better.
func (m *Metric) ParseLimit(name, bound string) (Check, error) {
	op := "<="
	if m.AtMin {
		op = ">="
	}
	bound = strings.TrimSpace(bound)
	for _, o := range ops {
		if rest, ok := strings.CutPrefix(bound, o); ok {
			op, bound = o, rest
			break
		}
	}
	return newCheck(m, name, op, bound)
}
