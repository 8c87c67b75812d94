package main

import (
	"fmt"
	"strconv"
	"strings"

	"capcli/simulate/plan/mix"

	"capcli"
)

// axisMax bounds the values of one --vary, spaceMax the mixes of a plan.
const (
	axisMax  = 10_000
	spaceMax = 200_000
)

// variable are the sections of a scenario that --vary may change. Jobs, the
// period and the seed are what all mixes have in common.
var variable = []string{"capacity", "policy", "placement", "overflow", "preemption", "tenants", "commitments"}

// parseVary reads an axis: "capacity.base.gpus=0..128:8" or
// "overflow.patience=0,15m,1h".
func parseVary(text string) (mix.Axis, error) {
	path, list, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" || strings.TrimSpace(list) == "" {
		return mix.Axis{}, varyError(text, "want PATH=VALUES")
	}
	first := path
	if i := strings.IndexAny(path, ".["); i >= 0 {
		first = path[:i]
	}
	known := false
	for _, v := range variable {
		known = known || v == first
	}
	if !known {
		return mix.Axis{}, varyError(text, fmt.Sprintf("%s is the same for every mix of a plan; what may be varied: %s", first, strings.Join(variable, ", ")))
	}
	a := mix.Axis{Path: path}
	for _, part := range splitTop(list) {
		values, err := parseValues(strings.TrimSpace(part))
		if err != nil {
			return mix.Axis{}, varyError(text, err.Error())
		}
		if a.Values = append(a.Values, values...); len(a.Values) > axisMax {
			return mix.Axis{}, varyError(text, fmt.Sprintf("over %d values; give wider steps", axisMax))
		}
	}
	seen := map[string]bool{}
	for _, v := range a.Values {
		if seen[v] {
			return mix.Axis{}, varyError(text, fmt.Sprintf("%s is there twice", v))
		}
		seen[v] = true
	}
	return a, nil
}

func varyError(text, why string) error {
	return &usageError{text: fmt.Sprintf("--vary %q: %s", text, why), hint: "--vary capacity.base.gpus=0..128:8 or --vary overflow.patience=0,15m,1h"}
}

// splitTop cuts a list at its commas, but not at those within [ ] or { }.
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

// parseValues reads one value, or a range FROM..TO:STEP of numbers or of lengths
// of time, both ends included.
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
	a, errA := parseStep(from)
	b, errB := parseStep(to)
	d, errD := parseStep(step)
	if errA != nil || errB != nil || errD != nil {
		return nil, fmt.Errorf("%q is no range; write 0..128:8 or 0..2h:15m", s)
	}
	isTime := a.time || b.time || d.time
	switch {
	case isTime && (!d.time || !b.time), !isTime && !has && (a.frac || b.frac):
		return nil, fmt.Errorf("%q is no range: its ends and its step must be of one kind, such as 0..2h:15m", s)
	case d.v <= 0 || b.v < a.v:
		return nil, fmt.Errorf("%q goes nowhere: want a step over 0 and an end that is not before the beginning", s)
	case (b.v-a.v)/d.v >= axisMax:
		return nil, fmt.Errorf("%q has over %d values; give a wider step", s, axisMax)
	}
	var out []string
	for v := a.v; v <= b.v; v += d.v {
		out = append(out, stepText(v, isTime))
	}
	return out, nil
}

// quantity is a number in millionths, or a length of time in seconds of a
// million.
type quantity struct {
	v          int64
	time, frac bool
}

const micro = 1_000_000

func parseStep(s string) (quantity, error) {
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseInt(s, 10, 40); err == nil {
		return quantity{v: v * micro}, nil
	}
	if v, err := capcli.ParseUSD(s); err == nil { // six decimal places, as every number here
		return quantity{v: int64(v), frac: true}, nil
	}
	v, err := capcli.ParseSeconds(s)
	if err != nil || v > 1<<40 {
		return quantity{}, fmt.Errorf("%q is no number", s)
	}
	return quantity{v: int64(v) * micro, time: true}, nil
}

// stepText writes a value of a range as a scenario has it.
func stepText(v int64, isTime bool) string {
	if isTime {
		return durationText(capcli.Seconds(v / micro))
	}
	if v%micro == 0 {
		return strconv.FormatInt(v/micro, 10)
	}
	return strings.TrimRight(strconv.FormatFloat(float64(v)/micro, 'f', 6, 64), "0")
}

// durationText writes a length of time as scenarios and flags read it: 90s, 15m,
// 2h, 1h30m.
func durationText(s capcli.Seconds) string {
	text := ""
	for _, u := range []struct {
		of   capcli.Seconds
		unit string
	}{{capcli.Day, "d"}, {capcli.Hour, "h"}, {capcli.Minute, "m"}, {1, "s"}} {
		if n := s / u.of; n > 0 {
			text += strconv.FormatInt(int64(n), 10) + u.unit
			s %= u.of
		}
	}
	if text == "" {
		return "0s"
	}
	return text
}

// ordered tells whether values are numbers or lengths of time that rise.
func ordered(values []string) bool {
	last, first := int64(0), true
	for _, v := range values {
		q, err := parseStep(v)
		if err != nil || !first && q.v <= last {
			return false
		}
		last, first = q.v, false
	}
	return len(values) > 1
}
