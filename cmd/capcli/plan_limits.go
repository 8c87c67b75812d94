package main

import (
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/simulate/outcome"
	"capcli/simulate/plan/mix"
)

// limitsOf are the limits of a plan: those of the scenario, and in the place of
// one of the same metric and side what --max and --min say.
func (m *mixPlan) limitsOf() error {
	o := &m.o.mix
	given, err := givenLimits(o)
	if err != nil {
		return err
	}
	for _, c := range m.base.Scenario.Limits {
		replaced := false
		for _, g := range given {
			replaced = replaced || g.Metric.Name == c.Metric.Name && g.Op[0] == c.Op[0]
		}
		if !replaced {
			m.limits = append(m.limits, c)
		}
	}
	m.limits = append(m.limits, given...)
	if err := m.limitUndone(); err != nil {
		return err
	}
	for _, c := range m.limits {
		if !strings.HasPrefix(c.Op, "<") && !strings.HasPrefix(c.Op, ">") {
			return &usageError{text: fmt.Sprintf("the limit %s cannot be planned for: want a bound from above or below", c), hint: "--max wait_p95=30m"}
		}
	}
	return nil
}

// undoneMost is the share of the work that a run may leave undone where nobody says
// otherwise. Without a limit the cheapest mix would be one that does nothing.
const undoneMost = "0.5%"

// limitUndone bounds the work that a run leaves undone, unless it is bounded already
// or has a price.
func (m *mixPlan) limitUndone() error {
	for _, c := range m.limits {
		if c.Metric.Name == "unserved_share" && strings.HasPrefix(c.Op, "<") {
			return nil
		}
	}
	if m.o.mix.priceUnserved {
		return nil
	}
	c, err := outcome.ParseCheck("unserved_share<=" + undoneMost)
	if err != nil {
		return err
	}
	m.limits = append(m.limits, c)
	m.notes = append(m.notes, "a mix must do the work: each run may leave "+undoneMost+" of what could have been done by its end undone (--max unserved_share=… changes this, --price-unserved gives it a price)")
	return nil
}

// givenLimits reads --max and --min: "wait_p95=30m", or with the sign written
// out, "wait_p95<=30m".
func givenLimits(o *mixOptions) ([]outcome.Check, error) {
	var out []outcome.Check
	for _, side := range []struct {
		flag, op string
		list     []string
	}{{"--max", "<=", o.most}, {"--min", ">=", o.least}} {
		for _, text := range side.list {
			name, value, ok := strings.Cut(text, "=")
			name = strings.TrimRight(strings.TrimSpace(name), "<>")
			if !ok {
				return nil, &usageError{text: fmt.Sprintf("%s %q: want METRIC=VALUE", side.flag, text), hint: "--max wait_p95=30m --min availability=0.95"}
			}
			c, err := outcome.ParseCheck(name + side.op + strings.TrimSpace(value))
			if err != nil {
				return nil, &usageError{text: side.flag + ": " + err.Error(), hint: "--max wait_p95=30m --min availability=0.95"}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// plannable are the limits as the search takes them: those on work that is left
// undone hold in each run.
func plannable(checks []outcome.Check) []mix.Limit {
	var out []mix.Limit
	for _, c := range checks {
		out = append(out, mix.Limit{Metric: c.Metric.Name, Op: c.Op, Value: c.Value, Text: c.String(), Each: strings.HasPrefix(c.Metric.Name, "unserved_") && strings.HasPrefix(c.Op, "<")})
	}
	return out
}

// withinOf is the wait that availability counts: as asked, else the limit on
// waits, the one on the most jobs first, else an hour.
func (m *mixPlan) withinOf() (capcli.Seconds, error) {
	if text := m.o.mix.within; text != "" {
		s, err := capcli.ParseSeconds(text)
		if err != nil || s < 0 {
			return 0, &usageError{text: fmt.Sprintf("--within %q is no length of time", text), hint: "--within 30m"}
		}
		return s, nil
	}
	return outcome.AvailableWithin(m.limits), nil
}

// shareFlag reads a share such as 95% or 0.95.
func shareFlag(flag, text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, &usageError{text: fmt.Sprintf("%s %q is no share", flag, text), hint: flag + " 95%"}
	}
	return v, nil
}
