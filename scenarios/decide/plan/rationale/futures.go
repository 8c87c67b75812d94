package rationale

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/futures"
)

// explainFutures explains a plan for an unknown demand.
func explainFutures(file string, text []byte) (*Answer, error) {
	var p futures.Result
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, notAPlan(file, "found "+err.Error())
	}
	if len(p.Plans) == 0 {
		return nil, notAPlan(file, "found one without plans")
	}
	d := newAnswer(file)
	d.Assumed = append([]string{}, p.Assumptions...)
	o := &p.Optimum
	d.Cost, d.Bound, d.Gap = &o.Cost, &o.Bound, o.Gap
	if o.Cost == o.Bound {
		d.Why = append(d.Why, fmt.Sprintf("no purchases have a smaller %s of the cost over %d futures: the lower bound is the same", p.Risk, p.Futures.Count))
	} else {
		d.Why = append(d.Why, fmt.Sprintf("no purchases have a %s of the cost over %d futures under %s*", p.Risk, p.Futures.Count, o.Bound))
	}
	chosen := &p.Plans[0]
	own, _ := riskOf(chosen, p.Risk)
	for i := range p.Plans[1:] {
		x := &p.Plans[1+i]
		cost, what := riskOf(x, p.Risk)
		loses := cost - own
		d.Others = append(d.Others, Other{
			Name: x.Name, Cost: &cost, Loses: &loses,
			Why: fmt.Sprintf("%s; regrets %s* in the mean, %s* at most%s", what, x.MeanRegret, x.MaxRegret, limitsInFutures(x)),
		})
	}
	slices.SortStableFunc(d.Others, func(a, b Other) int { return cmp.Compare(*a.Loses, *b.Loses) })
	d.nearest("the plan")
	d.Why = append(d.Why, fmt.Sprintf("compared with perfect information it costs %s* more on average, and %s* more in future %d, the worst", chosen.MeanRegret, chosen.MaxRegret, chosen.MaxFuture))
	if w := p.Waiting; w != nil {
		d.Why = append(d.Why, fmt.Sprintf("waiting %s to commit is worth %s*", w.For, w.Value))
	}
	if text := limitsInFutures(chosen); text != "" {
		d.Why = append(d.Why, strings.TrimPrefix(text, "; "))
	}
	return d, nil
}

// limitsInFutures says in which share of the futures a plan holds its limits; "" without limits.
func limitsInFutures(p *futures.Plan) string {
	var out string
	for _, l := range p.Held {
		out += fmt.Sprintf("; holds %s in %.0f%% of the futures", l.Limit, 100*l.Share)
	}
	return out
}

// riskOf returns a plan's cost under the named risk, and that risk in words. Where the document
// does not have it, riskOf returns the mean.
func riskOf(p *futures.Plan, name string) (capcli.USD, string) {
	for _, x := range []struct {
		name string
		v    *capcli.USD
	}{{"p50", p.P50}, {"p80", p.P80}, {"p95", p.P95}, {"cvar95", p.CVaR95}} {
		if x.v != nil && x.name == strings.ToLower(name) {
			return *x.v, name + " of its cost"
		}
	}
	if p.Mean != nil {
		return *p.Mean, "mean cost"
	}
	return 0, "cost not known"
}
