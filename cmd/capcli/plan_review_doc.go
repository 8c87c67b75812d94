package main

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/simulate/plan/review"
)

// reviewDoc says what was committed against what was used.
func reviewDoc(r *review.Result) report.Doc {
	return report.Doc{
		Lead: reviewLead(r), Notes: r.Notes, Data: r,
		Tables: []report.Table{commitmentTable(r.Commitments), adviceTable(r.Advice), reviewTotals(r)},
	}
}

func reviewLead(r *review.Result) string {
	text := fmt.Sprintf("%s GPU-hours were used in %s", grouped(int64(r.Used.Hours()+0.5)), review.Span(r.Length))
	if r.Committed > 0 {
		text += fmt.Sprintf(", %.1f%% of them on commitments, of which %.1f%% was used; unused %s", 100*float64(r.Covered)/float64(max(1, r.Used)), 100*float64(r.Covered)/float64(r.Committed), r.Unused)
	}
	if r.Costs > 0 {
		return fmt.Sprintf("%s. To do nothing costs %s more than the best* over %s.", text, r.Costs, review.Span(r.Ahead))
	}
	return text + ". No purchase would save anything."
}

func commitmentTable(list []review.Commitment) report.Table {
	t := report.Table{Name: "commitments", Title: "What is committed", Columns: []report.Column{
		{Name: "commitment", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "from", Priority: 3},
		{Name: "until", Priority: 1},
		{Name: "days_left", Head: "days left"},
		{Name: "utilisation", Head: "used"},
		{Name: "unused_gpu_hours", Head: "unused GPUh", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "idle_gpus", Head: "not worth their price"},
	}}
	for _, c := range list {
		var until any
		if c.Until != nil {
			until = instantCell(*c.Until)
		}
		t.Rows = append(t.Rows, []any{c.Name, c.GPUs, instantCell(c.From), until, ratioOf(c.DaysLeft), shareCell(c.Utilisation), c.Unused, valueCell(c.UnusedUSD), valueCell(c.Idle)})
	}
	return t
}

func adviceTable(list []review.Advice) report.Table {
	t := report.Table{Name: "advice", Title: "What to change*", Columns: []report.Column{
		{Name: "date"},
		{Name: "do", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "term", Align: report.Left},
		{Name: "cost_usd", Head: "cost"},
	}}
	for _, a := range list {
		t.Rows = append(t.Rows, []any{instantCell(a.Date), a.Do, a.GPUs, valueCell(a.Term), valueCell(a.Cost)})
	}
	return t
}

func reviewTotals(r *review.Result) report.Table {
	t := newFigures("totals")
	t.add("used_gpu_hours", "GPU-hours used", r.Used)
	t.add("committed_gpu_hours", "GPU-hours committed", r.Committed)
	t.add("coverage", "coverage", shareCell(r.Coverage))
	t.add("utilisation", "utilisation", shareCell(r.Utilisation))
	t.add("unused_usd", "unused", r.Unused)
	t.add("on_demand_usd", "on demand", r.OnDemand)
	t.add("do_nothing_usd", "to do nothing*", r.DoNothing)
	t.add("best_usd", "the best*", r.Best)
	t.add("doing_nothing_costs_usd", "doing nothing costs*", r.Costs)
	return t.Table
}
