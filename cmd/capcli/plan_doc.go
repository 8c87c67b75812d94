package main

import (
	"fmt"
	"strconv"

	"capcli/cmd/report"
	planning "capcli/simulate/plan"
)

// curvePlan is the plan of a demand curve.
type curvePlan struct {
	o      *planOptions
	demand *demandCurve
	market *planning.Market
	best   *planning.Optimum
}

func (r *curvePlan) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead(), Notes: r.notes(), Tables: []report.Table{r.purchaseTable(), r.totalTable(), r.periodTable()}}
	if form == "json" {
		d.Data = r.json()
	}
	return d
}

func (r *curvePlan) lead() string {
	b := r.best
	text := fmt.Sprintf("The demand costs at least %s", b.Cost)
	if rate, ok := b.SavingsRate(); ok {
		text += fmt.Sprintf(", %.1f%% under %s all on demand", 100*rate, b.AllOnDemand)
	}
	return text + ": proven, no purchases at these prices cost less."
}

func (r *curvePlan) notes() []string {
	notes := append([]string(nil), r.demand.notes...)
	if c := r.demand.curve; !c.Dated() {
		notes = append(notes, fmt.Sprintf("the curve has no dates: each value lasts %s (--step), a month has 730 hours, and starts count periods from 0", c.Step))
	}
	if r.market.Discount != 0 {
		notes = append(notes, fmt.Sprintf("amounts are worth of today: a payment in a year counts %s%% less a year (--discount)", figureText(100*r.market.Discount)))
	}
	return notes
}

func (r *curvePlan) purchaseTable() report.Table {
	t := report.Table{Name: "purchases", Title: "What to buy", Columns: []report.Column{
		{Name: "start"},
		{Name: "end", Priority: 2},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 1},
		{Name: "cost_usd", Head: "cost"},
	}}
	for _, p := range r.best.Purchases {
		t.Rows = append(t.Rows, []any{r.when(p.From), r.when(p.To), r.market.Terms[p.Term].Name, gpus(p.Milli), p.Rate, p.Cost})
	}
	return t
}

func (r *curvePlan) totalTable() report.Table {
	b := r.best
	t := report.Table{Name: "totals", Columns: []report.Column{{Name: "figure", Align: report.Left}, {Name: "value", Align: report.Right}}}
	add := func(name, head string, v any) {
		t.Rows = append(t.Rows, []any{report.Label{Name: name, Head: head}, v})
	}
	add("cost_usd", "cost", b.Cost)
	add("committed_cost_usd", "of it committed", b.Commitments)
	add("on_demand_cost_usd", "of it on demand", b.OnDemand)
	add("all_on_demand_cost_usd", "all on demand", b.AllOnDemand)
	percent := func(name, head string, of func() (float64, bool)) {
		if v, ok := of(); ok {
			add(name, head, report.Percent(v))
			return
		}
		add(name, head, nil)
	}
	percent("coverage", "coverage", b.Coverage)
	percent("utilisation", "utilisation", b.Utilisation)
	percent("effective_savings_rate", "effective savings rate", b.SavingsRate)
	return t
}

func (r *curvePlan) periodTable() report.Table {
	t := report.Table{Name: "periods", Aside: true, Columns: []report.Column{
		{Name: "start"},
		{Name: "committed_gpus", Head: "committed"},
		{Name: "worth_of_one_more_usd", Head: "one more is worth"},
		{Name: "shadow_price_usd", Head: "shadow price"},
	}}
	for _, p := range r.best.Periods {
		t.Rows = append(t.Rows, []any{r.when(p.From), gpus(p.Milli), p.Worth, p.Price})
	}
	return t
}

// figureText is a number in the fewest digits that tell it apart.
func figureText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
