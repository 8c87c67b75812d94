package main

import (
	"context"

	"capcli"
	"capcli/cmd/report"
)

// changeJSON is one thing that turns out otherwise.
type changeJSON struct {
	What   string     `json:"what"` // demand, on_demand or a term
	Share  float64    `json:"share"`
	Kept   capcli.USD `json:"cost_usd"`
	Best   capcli.USD `json:"optimum_cost_usd"`
	Regret capcli.USD `json:"regret_usd"`
}

// vary says what becomes of the plan when something is otherwise, where asked.
func (r *curvePlan) vary(ctx context.Context, share float64) error {
	if share == 0 {
		return nil
	}
	var err error
	r.changes, err = r.market.Sensitivity(ctx, r.demand.curve, r.best.Purchases, share)
	return err
}

func (r *curvePlan) changesJSON() []changeJSON {
	out := []changeJSON{}
	for _, c := range r.changes {
		out = append(out, changeJSON{c.What, c.Share, c.Kept, c.Best, c.Regret()})
	}
	return out
}

func (r *curvePlan) sensitivityTable() report.Table {
	t := report.Table{Name: "sensitivity", Title: "The same purchases when something is otherwise", Columns: []report.Column{
		{Name: "what", Align: report.Left},
		{Name: "share", Head: "by"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "difference_usd", Head: "difference"},
		{Name: "optimum_cost_usd", Head: "best then"},
		{Name: "regret_usd", Head: "regret"},
	}}
	for _, c := range r.changes {
		t.Rows = append(t.Rows, []any{c.What, report.Change{Of: report.Percent(c.Share)}, c.Kept, report.Change{Of: c.Kept - r.best.Cost}, c.Best, c.Regret()})
	}
	return t
}

// breakEven is the price on demand under which the purchases cost more than they
// save, all else as it is; nil where nothing is bought or used, where the price
// changes, and of discounted amounts.
func (r *curvePlan) breakEven() *capcli.USD {
	b := r.best
	if b.Used == 0 || len(r.market.OnDemand) > 1 || r.market.Discount != 0 {
		return nil
	}
	v := capcli.USDOf(b.Commitments.Float() / b.Used.Hours())
	return &v
}
