package futures

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/outcome"
)

// limit is a condition on the outcome of a plan in a future.
type limit struct {
	metric *metric
	text   string
	value  float64
	least  bool
}

// metric is a figure of a plan in a future that can have a limit.
type metric struct {
	name  string
	share bool // a share, not money
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

// parseLimits parses upper and lower limits. It fails with *capcli.RequestError.
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
	as := "cost" // ParseCheck reads the value as money with k and M, or as a share
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

// holds reports whether a future holds the limit. An unknown figure does.
func (l *limit) holds(o *plan.InFuture) bool {
	v, known := l.metric.get(o)
	return !known || l.least && v >= l.value || !l.least && v <= l.value
}

// holdingShare returns the share of the futures in which all given limits hold together.
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
