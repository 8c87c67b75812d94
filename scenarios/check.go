package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// Unit is what a metric is measured in.
type Unit uint8

// The units. Values of a Check are in seconds, dollars, GPU-hours, plain
// counts and shares of 1.
const (
	InSeconds Unit = iota
	InUSD
	InGPUHours
	InCount
	InShare
)

// Metric is a figure of a result that can be bounded.
type Metric struct {
	Name  string
	Unit  Unit
	AtMin bool // more is better, so a limit without a sign is a lower bound
	Doc   string
}

// Metrics are the figures that limits and --fail-if may name, in the order of
// a report.
var Metrics = []Metric{
	{"wait_mean", InSeconds, false, "mean time from submission to first start; until the end for a job that never started"},
	{"wait_p50", InSeconds, false, "median of it, of all jobs; not known where it falls among those that never started"},
	{"wait_p95", InSeconds, false, "its 95th percentile"},
	{"wait_p99", InSeconds, false, "its 99th percentile"},
	{"wait_max", InSeconds, false, "the longest"},
	{"queue_time_mean", InSeconds, false, "mean time spent waiting, after preemptions too, until the end of the run"},
	{"jct_mean", InSeconds, false, "mean time from submission to end; to that of the run for a job that has not ended"},
	{"bounded_slowdown_mean", InCount, false, "mean of max(1, JCT / max(run time, 10 s))"},
	{"makespan", InSeconds, false, "from the first submission to the last end; to that of the run where a job has not ended"},
	{"queue_max", InCount, false, "most jobs waiting at once"},
	{"queue_mean", InCount, false, "jobs waiting, mean over time"},
	{"unserved_gpu_hours", InGPUHours, false, "work that could have been done by the end and was not"},
	{"unserved_share", InShare, false, "the same, of the work that could have been done"},
	{"unserved_jobs", InCount, false, "jobs waiting at the end and jobs that can never run"},
	{"unserved_usd", InUSD, false, "unserved work at the on-demand price"},
	{"backlog_gpu_hours", InGPUHours, false, "work left at the end of the jobs that wait or can never run"},
	{"backlog_usd", InUSD, false, "the same at the on-demand price"},
	{"waiting", InCount, false, "jobs still waiting at the end"},
	{"unplaceable", InCount, false, "jobs that can never run"},
	{"finished", InCount, true, "jobs that finished"},
	{"preemptions", InCount, false, "times that a job lost its GPUs"},
	{"deadline_misses", InCount, false, "jobs that had not ended by their deadline"},
	{"cost", InUSD, false, "all that was paid"},
	{"total", InUSD, false, "the same as cost"},
	{"committed", InUSD, false, "paid for owned and reserved capacity"},
	{"on_demand", InUSD, false, "paid for on-demand capacity"},
	{"spot", InUSD, false, "paid for spot capacity"},
	{"on_demand_equivalent", InUSD, false, "what all use would have cost on demand"},
	{"stranded_usd", InUSD, false, "paid for committed GPUs that nobody held"},
	{"stranded", InUSD, false, "the same as stranded_usd"},
	{"availability", InShare, true, "jobs that started within the limit on waits, or an hour, of all that came"},
	{"effective_savings_rate", InShare, true, "1 - cost / on-demand equivalent"},
	{"allocation_rate", InShare, true, "GPU-hours held of all that were offered"},
	{"stranded_gpu_hours", InGPUHours, false, "committed GPU-hours that nobody held"},
	{"used_gpu_hours", InGPUHours, true, "GPU-hours held"},
	{"idle_gpu_hours", InGPUHours, false, "free while nobody waited for them"},
	{"blocked_gpu_hours", InGPUHours, false, "free while jobs waited that could not start"},
	{"down_gpu_hours", InGPUHours, false, "failed or draining"},
	{"fragmentation_gpus_mean", InCount, false, "free GPUs that the mix of jobs could not use"},
}

// Check is a condition on a result: "wait_p95<=30m".
type Check struct {
	Metric Metric
	Op     string // "<=", "<", ">=", ">", "==", "!="
	Value  float64
	text   string // as it was written
}

// String gives the check as "wait_p95 <= 30m".
func (c Check) String() string { return c.Metric.Name + " " + c.Op + " " + c.text }

// Holds tells whether the condition is true of a result whose figures get
// gives, in the metric's unit. known is false when the result has no such
// figure; then the condition is neither true nor false.
func (c Check) Holds(get func(metric string) (float64, bool)) (holds, known bool) {
	v, ok := get(c.Metric.Name)
	if !ok || math.IsNaN(v) {
		return false, false
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

// HoldsFrom tells the same of a figure of which only a lower bound is known:
// known is false where a larger figure may or may not meet the condition.
func (c Check) HoldsFrom(least float64) (holds, known bool) {
	if least < c.Value || least == c.Value && c.Op != "<" && c.Op != ">=" {
		return false, false
	}
	return c.Op == ">" || c.Op == ">=" || c.Op == "!=", true
}

// ops in an order in which the longer come before their beginnings.
var ops = []string{"<=", ">=", "==", "!=", "<", ">", "="}

// ParseCheck reads a condition such as "wait_p95<=30m", "cost > 1.70M" or
// "allocation_rate<93%".
func ParseCheck(text string) (Check, error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return Check{}, fmt.Errorf("%s is no condition; write a metric, a sign and a value: wait_p95<=30m", strict.Show(text))
	}
	for _, op := range ops {
		if value, ok := strings.CutPrefix(text[at:], op); ok {
			name := strings.TrimSpace(text[:at])
			m, err := metricOf(name)
			if err != nil {
				return Check{}, err
			}
			return newCheck(m, name, op, value)
		}
	}
	return Check{}, fmt.Errorf("%s is no condition; the sign is one of <= < >= > == !=", strict.Show(text))
}

// newCheck reads the value of a check of a metric, which was called name. A name
// that says its unit, wait_p95_s or stranded_usd, needs none at the value.
func newCheck(m Metric, name, op, value string) (Check, error) {
	if op == "=" {
		op = "=="
	}
	value = strings.TrimSpace(value)
	if v, ok := bareNumber(value); ok && v != 0 {
		switch {
		case m.Unit == InSeconds && name == m.Name:
			return Check{}, fmt.Errorf("%s: %s has no unit; write %ss for seconds or %s for minutes", m.Name, strict.Show(value), value, asMinutes(value, v))
		case m.Unit == InUSD && !strings.HasSuffix(name, "_usd"):
			return Check{}, fmt.Errorf("%s: %s has no unit; write $%s, or %sk for thousands of dollars", m.Name, strict.Show(value), value, value)
		case m.Unit == InSeconds:
			value += "s"
		case m.Unit == InUSD:
			value = "$" + value
		}
	}
	v, err := m.parse(value)
	return Check{Metric: m, Op: op, Value: v, text: value}, err
}

// asMinutes writes a number of minutes as a length of time.
func asMinutes(text string, v float64) string {
	if strings.Contains(text, ".") {
		return strconv.FormatFloat(60*v, 'f', -1, 64) + "s"
	}
	return text + "m"
}

// bareNumber reads a number with no unit of any kind: nor k, M, % or a comma.
func bareNumber(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	return amount(s)
}

// metricOf finds a metric by its name or by that of its JSON field.
func metricOf(name string) (Metric, error) {
	names := make([]string, len(Metrics))
	for i, m := range Metrics {
		if name == m.Name || name == m.Name+"_s" && m.Unit == InSeconds || name == m.Name+"_usd" && m.Unit == InUSD {
			return m, nil
		}
		names[i] = m.Name
	}
	if near := capcli.Nearest(name, names); near != "" {
		return Metric{}, fmt.Errorf("unknown metric %s; did you mean %q?", strict.Show(name), near)
	}
	return Metric{}, fmt.Errorf("unknown metric %s: have %s", strict.Show(name), strings.Join(names, ", "))
}

// parse reads a bound in the metric's unit: 30m, $1.7M, 93%, 12000.
func (m Metric) parse(s string) (float64, error) {
	switch m.Unit {
	case InSeconds:
		if v, err := capcli.ParseSeconds(s); err == nil && v >= 0 {
			return float64(v), nil
		}
		if v, ok := bareNumber(strings.TrimSuffix(s, "s")); ok { // parts of a second, or 0
			return v, nil
		}
		return 0, fmt.Errorf("%s: %s is no length of time; write 90s, 30m or 1h30m", m.Name, strict.Show(s))
	case InUSD:
		if v, ok := amount(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, "$"), "USD"))); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%s: %s is no amount of US dollars; write $1700000, 1.7M or 85k", m.Name, strict.Show(s))
	case InShare:
		digits, percent := strings.CutSuffix(s, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if percent {
			v /= 100
		}
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1 {
			return 0, fmt.Errorf("%s: %s is no share; write 93%% or 0.93", m.Name, strict.Show(s))
		}
		return v, nil
	case InGPUHours, InCount:
	}
	if v, ok := amount(s); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s: %s is no number; write 12000 or 12k", m.Name, strict.Show(s))
}

// amount reads a number that is not negative with k, M or B for thousands,
// millions and billions; commas may part thousands.
func amount(s string) (float64, bool) {
	times := 1.0
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			times = 1e3
		case 'M', 'm':
			times = 1e6
		case 'B', 'b', 'G':
			times = 1e9
		}
		if times > 1 {
			s = strings.TrimSpace(s[:len(s)-1])
		}
	}
	if whole, _, _ := strings.Cut(s, "."); strings.Contains(s, ",") {
		for i, part := range strings.Split(whole, ",") {
			if i > 0 && len(part) != 3 {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	v *= times
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, false
	}
	return v, true
}

// AvailableWithin is the wait that availability counts under some limits: that of
// the limit on waits, the one on the most jobs first, else an hour.
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

// limits reads bounds by metric. One without a sign is an upper bound, or a
// lower one where more is better.
func limits(dst *[]Check) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			d.FaultWant(n, "bounds such as {wait_p95: 30m}")
			return
		}
		taken := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if d.DecimalComma(n, i) {
				continue
			}
			d.Enter(key.Value)
			c, at, err := limit(key, value)
			switch {
			case err != nil:
				d.Fault(at, "%s", err)
			case taken[c.Metric.Name+c.Op]:
				d.Fault(key, "%s is bounded twice", c.Metric.Name)
			default:
				*dst = append(*dst, c)
			}
			taken[c.Metric.Name+c.Op] = err == nil
			d.Leave()
		}
	}
}

// limit reads one bound; with an error it gives the node to blame.
func limit(key, value *yaml.Node) (Check, *yaml.Node, error) {
	m, err := metricOf(key.Value)
	if err != nil {
		return Check{}, key, err
	}
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		return Check{}, value, fmt.Errorf("%s: want a bound such as 30m, $1.7M or 93%%", m.Name)
	}
	op, bound := "<=", strings.TrimSpace(value.Value)
	if m.AtMin {
		op = ">="
	}
	for _, o := range ops {
		if rest, ok := strings.CutPrefix(bound, o); ok {
			op, bound = o, rest
			break
		}
	}
	c, err := newCheck(m, key.Value, op, bound)
	return c, value, err
}
