package futures

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate/outcome"
	"capcli/simulate/plan"
)

// limit is a condition on what a plan comes to in a future.
type limit struct {
	metric *metric
	text   string
	value  float64
	least  bool
}

// metric is a figure of a plan in a future that can be bounded.
type metric struct {
	name  string
	share bool // not money
	get   func(o *plan.InFuture) (float64, bool)
}

var metrics = []metric{
	{"cost", false, func(o *plan.InFuture) (float64, bool) { return o.Cost.Float(), true }},
	{"total", false, func(o *plan.InFuture) (float64, bool) { return o.Cost.Float(), true }},
	{"committed", false, func(o *plan.InFuture) (float64, bool) { return o.Committed.Float(), true }},
	{"on_demand", false, func(o *plan.InFuture) (float64, bool) { return o.OnDemand.Float(), true }},
	{"stranded", false, func(o *plan.InFuture) (float64, bool) { return o.Unused.Float(), true }},
	{"stranded_usd", false, func(o *plan.InFuture) (float64, bool) { return o.Unused.Float(), true }},
	{"regret", false, func(o *plan.InFuture) (float64, bool) { return o.Regret.Float(), true }},
	{"coverage", true, func(o *plan.InFuture) (float64, bool) {
		return float64(o.Covered) / float64(o.Wanted), o.Wanted > 0
	}},
	{"utilisation", true, func(o *plan.InFuture) (float64, bool) {
		return float64(o.Covered) / float64(o.Paid), o.Paid > 0
	}},
}

// parseLimits reads limits from above and from below.
func parseLimits(most, least []string) ([]limit, error) {
	names := capcli.Catalog[*metric]{Kind: "metric of a plan for futures"}
	for i := range metrics {
		names.Add(metrics[i].name, "", &metrics[i])
	}
	var out []limit
	for i, text := range append(append([]string(nil), most...), least...) {
		field, op := "max", "<="
		if i >= len(most) {
			field, op = "min", ">="
		}
		l, err := parseLimit(&names, field, op, text)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func parseLimit(names *capcli.Catalog[*metric], field, op, text string) (limit, error) {
	const hint = "--max cost=1.7M --min coverage=80%"
	name, value, ok := strings.Cut(text, "=")
	name, value = strings.TrimRight(strings.TrimSpace(name), "<> "), strings.TrimSpace(value)
	if !ok {
		return limit{}, &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants METRIC=VALUE, found %q", text), Hint: hint}
	}
	m, err := names.Get(name)
	if err != nil {
		return limit{}, &capcli.RequestError{Field: field, Text: ": " + err.Error()}
	}
	as := "cost" // money with k and M, or a share
	if m.share {
		as = "allocation_rate"
	}
	c, err := outcome.ParseCheck(as + op + value)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return limit{}, &capcli.RequestError{Field: field, Text: fmt.Sprintf(": %s: %s", name, why), Hint: hint}
	}
	return limit{metric: m, text: name + " " + op + " " + value, value: c.Value, least: op == ">="}, nil
}

// holds tells whether a future holds the limit; a figure that there is not does.
func (l *limit) holds(o *plan.InFuture) bool {
	v, known := l.metric.get(o)
	return !known || l.least && v >= l.value || !l.least && v <= l.value
}

// holdingShare is the share of futures in which all of some limits hold.
func holdingShare(a *plan.Assessed, limits []limit) float64 {
	n := 0
	for i := range a.Outcomes {
		all := true
		for k := range limits {
			all = all && limits[k].holds(&a.Outcomes[i])
		}
		if all {
			n++
		}
	}
	return float64(n) / float64(len(a.Outcomes))
}
