package mix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// axisMost is the most values of one axis, mixesMost the most mixes of a plan.
const (
	axisMost  = 10_000
	mixesMost = 200_000
)

// variable lists the sections of a scenario that an axis may change. Jobs, the period and the seed
// are the same for all mixes.
var variable = []string{"capacity", "policy", "placement", "overflow", "preemption", "tenants", "commitments", "services", "widths"}

// demanded are the fields of a service that no axis may change: what comes, and what is promised.
var demanded = []string{"requests", "load", "promise", "slo", "mu"}

// ParseAxis reads an axis: "capacity.base.gpus=0..128:8" or
// "overflow.patience=0,15m,1h". It fails with *capcli.RequestError.
func ParseAxis(text string) (Axis, error) {
	path, list, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" || strings.TrimSpace(list) == "" {
		return Axis{}, axisError(text, "want PATH=VALUES")
	}
	section := path
	if i := strings.IndexAny(path, ".["); i >= 0 {
		section = path[:i]
	}
	if section == "services" && slices.ContainsFunc(demanded, func(field string) bool {
		return strings.HasSuffix(path, "."+field) || strings.Contains(path, "."+field+".")
	}) {
		return Axis{}, axisError(text, path+" is the same for every mix of a plan: a mix with fewer requests or another promise answers another question")
	}
	if !slices.Contains(variable, section) {
		return Axis{}, axisError(text, fmt.Sprintf("%s is the same for every mix of a plan; what may be varied: %s", section, strings.Join(variable, ", ")))
	}
	a := Axis{Path: path}
	for _, part := range splitTop(list) {
		values, err := parseValues(strings.TrimSpace(part))
		if err != nil {
			return Axis{}, axisError(text, err.Error())
		}
		if a.Values = append(a.Values, values...); len(a.Values) > axisMost {
			return Axis{}, axisError(text, fmt.Sprintf("over %d values; give wider steps", axisMost))
		}
	}
	seen := map[string]bool{}
	for _, v := range a.Values {
		if seen[v] {
			return Axis{}, axisError(text, fmt.Sprintf("%s is there twice", v))
		}
		seen[v] = true
	}
	a.Ordered = areRising(a.Values)
	return a, nil
}

func axisError(text, why string) error {
	return &capcli.RequestError{Field: "vary", Text: fmt.Sprintf("%q: %s", text, why), Hint: "--vary capacity.base.gpus=0..128:8 or --vary overflow.patience=0,15m,1h"}
}

// splitTop splits a list at its commas, but not at those within [ ] or { }.
func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, s[from:i]), i+1
			}
		}
	}
	return append(out, s[from:])
}

// parseValues parses one value, or a range FROM..TO:STEP of numbers or durations. A range includes
// FROM, and TO where a step lands on it.
func parseValues(s string) ([]string, error) {
	from, rest, isRange := strings.Cut(s, "..")
	if s == "" {
		return nil, fmt.Errorf("a value is empty")
	}
	if !isRange {
		return []string{s}, nil
	}
	to, step, has := strings.Cut(rest, ":")
	if !has {
		step = "1"
	}
	a, errA := parseQuantity(from)
	b, errB := parseQuantity(to)
	d, errD := parseQuantity(step)
	if errA != nil || errB != nil || errD != nil {
		return nil, fmt.Errorf("%q is no range; write 0..128:8 or 0..2h:15m", s)
	}
	isTime := a.time || b.time || d.time
	switch {
	case isTime && (!d.time || !b.time), !isTime && !has && (a.frac || b.frac):
		return nil, fmt.Errorf("%q is no range: its ends and its step must be of one kind, such as 0..2h:15m", s)
	case d.v <= 0 || b.v < a.v:
		return nil, fmt.Errorf("%q goes nowhere: want a step over 0 and an end that is not before the beginning", s)
	case (b.v-a.v)/d.v >= axisMost:
		return nil, fmt.Errorf("%q has over %d values; give a wider step", s, axisMost)
	}
	var out []string
	for v := a.v; v <= b.v; v += d.v {
		out = append(out, quantity{v: v, time: isTime}.text())
	}
	return out, nil
}

// quantity is a number in millionths, or a duration in millionths of a second.
type quantity struct {
	v          int64
	time, frac bool
}

const micro = 1_000_000

func parseQuantity(s string) (quantity, error) {
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseInt(s, 10, 40); err == nil {
		return quantity{v: v * micro}, nil
	}
	if v, err := capcli.ParseUSD(s); err == nil { // six decimal places, as in every number here
		return quantity{v: int64(v), frac: true}, nil
	}
	v, err := capcli.ParseSeconds(s)
	if err != nil || v > 1<<40 {
		return quantity{}, fmt.Errorf("%q is no number", s)
	}
	return quantity{v: int64(v) * micro, time: true}, nil
}

// text writes a quantity as a scenario does.
func (q quantity) text() string {
	if q.time {
		return timeText(capcli.Seconds(q.v / micro))
	}
	if q.v%micro == 0 {
		return strconv.FormatInt(q.v/micro, 10)
	}
	return strings.TrimRight(strconv.FormatFloat(float64(q.v)/micro, 'f', 6, 64), "0")
}

// timeText writes a duration as scenarios read it: 90s, 15m, 2h, 1h30m.
func timeText(s capcli.Seconds) string {
	text := ""
	for _, u := range []struct {
		length capcli.Seconds
		unit   string
	}{{capcli.Day, "d"}, {capcli.Hour, "h"}, {capcli.Minute, "m"}, {1, "s"}} {
		if n := s / u.length; n > 0 {
			text += strconv.FormatInt(int64(n), 10) + u.unit
			s %= u.length
		}
	}
	if text == "" {
		return "0s"
	}
	return text
}

// areRising reports whether there are at least two values and all are numbers or durations, each
// above the one before.
func areRising(values []string) bool {
	last, first := int64(0), true
	for _, v := range values {
		q, err := parseQuantity(v)
		if err != nil || !first && q.v <= last {
			return false
		}
		last, first = q.v, false
	}
	return len(values) > 1
}
