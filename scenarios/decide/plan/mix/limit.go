package mix

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
)

// Limit bounds a figure of an outcome: "wait_p95 <= 1800".
type Limit struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"` // <=, <, >= or >
	Value  float64 `json:"value"`
	Text   string  `json:"limit"` // for people
	// OnMean means that the mean over the runs must hold the limit too, beside the share of the runs that
	// the search asks for. Limits on unserved work are of this kind: a run that does less work costs
	// less, so the few runs that may break a limit must not leave much of the work undone.
	OnMean bool `json:"on_mean,omitempty"`
}

// holds reports whether an outcome holds the limit. An unknown figure does not.
func (l *Limit) holds(o *outcome.Outcome) bool {
	holds, known := outcome.Check{Metric: outcome.MetricNamed(l.Metric), Op: l.Op, Value: l.Value}.Holds(o)
	return holds && known
}

func (l *Limit) isUpper() bool { return l.Op == "<=" || l.Op == "<" }

// onCost reports whether a lower bound on cost can break the limit.
func (l *Limit) onCost() bool { return l.isUpper() && (l.Metric == "cost" || l.Metric == "total") }

// miss returns by how much a figure is beyond the limit, in the figure's unit; below 0 it is
// within.
func (l *Limit) miss(v float64) float64 {
	if l.isUpper() {
		return v - l.Value
	}
	return l.Value - v
}

// UndoneMost is the default limit on the share of the work that may be left undone. Without a
// limit the cheapest mix would do nothing.
const UndoneMost = "0.5%"

// makeLimits collects the limits of a plan: those of the scenario and of the request. A limit of
// the request replaces the scenario's limit on the same metric and side.
func (p *Planner) makeLimits() error {
	given, err := p.req.limits()
	if err != nil {
		return err
	}
	for _, c := range p.req.Case.Scenario.Limits {
		if !slices.ContainsFunc(given, func(g outcome.Check) bool { return g.Metric.Name == c.Metric.Name && g.Op[0] == c.Op[0] }) {
			p.limits = append(p.limits, c)
		}
	}
	p.limits = append(p.limits, given...)
	if err := p.limitMissing(); err != nil {
		return err
	}
	if err := p.limitUndone(); err != nil {
		return err
	}
	for _, c := range p.limits {
		if !isUpper(c) && !strings.HasPrefix(c.Op, ">") {
			return &capcli.RequestError{Text: fmt.Sprintf("the limit %s cannot be planned for: want a bound from above or below", c), Hint: "max=wait_p95=30m"}
		}
	}
	return nil
}

func isUpper(c outcome.Check) bool { return strings.HasPrefix(c.Op, "<") }

// limitUndone limits the work that is left undone, unless it already has a limit or a price.
func (p *Planner) limitUndone() error {
	if p.req.PriceUnserved || slices.ContainsFunc(p.limits, func(c outcome.Check) bool { return c.Metric.Name == "unserved_share" && isUpper(c) }) {
		return nil
	}
	c, err := outcome.ParseCheck("unserved_share<=" + UndoneMost)
	if err != nil {
		return err
	}
	p.limits = append(p.limits, c)
	p.notes = append(p.notes, "a mix must do the work: it may leave "+UndoneMost+" of what could have been done by the end undone, on the mean and in the runs that hold the limits (--max unserved_share=… changes this, --search price-unserved gives it a price)")
	return nil
}

// limits parses Max and Min: "wait_p95=30m" or, with the sign written out, "wait_p95<=30m".
func (r *Request) limits() ([]outcome.Check, error) {
	var out []outcome.Check
	for _, side := range []struct {
		field, op string
		list      []string
	}{{"max", "<=", r.Max}, {"min", ">=", r.Min}} {
		for _, text := range side.list {
			const hint = "max=wait_p95=30m min=availability=0.95"
			name, value, ok := strings.Cut(text, "=")
			name = strings.TrimRight(strings.TrimSpace(name), "<>")
			if !ok {
				return nil, &capcli.RequestError{Field: side.field, Text: fmt.Sprintf("%q: want METRIC=VALUE", text), Hint: hint}
			}
			c, err := outcome.ParseCheck(name + side.op + strings.TrimSpace(value))
			if err != nil {
				return nil, &capcli.RequestError{Field: side.field, Text: ": " + err.Error(), Hint: hint}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// limitsOf returns checks as limits of a search; those on unserved work must hold on the mean too.
func limitsOf(checks []outcome.Check) []Limit {
	var out []Limit
	for _, c := range checks {
		out = append(out, Limit{
			Metric: c.Metric.Name, Op: c.Op, Value: c.Value, Text: c.String(),
			OnMean: strings.HasPrefix(c.Metric.Name, "unserved_") && isUpper(c),
		})
	}
	return out
}
