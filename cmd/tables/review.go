package tables

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/review"
)

// ReviewDoc is the report of commitments against use.
func ReviewDoc(r *review.Result) report.Doc {
	return report.Doc{
		Lead: reviewLead(r), Notes: r.Notes, Data: r,
		Tables: []report.Table{commitmentTable(r.Commitments), adviceTable(r.Advice), reviewTotals(r)},
	}
}

func reviewLead(r *review.Result) string {
	text := fmt.Sprintf("%s GPU-hours were used in %s", capcli.Grouped(int64(r.Used.Hours()+0.5)), review.Span(r.Length))
	if r.Committed > 0 {
		text += fmt.Sprintf(", %.1f%% of them on commitments; %.1f%% of the commitments were used, %s unused", 100*float64(r.Covered)/float64(max(1, r.Used)), 100*float64(r.Covered)/float64(r.Committed), r.Unused)
	}
	if r.Costs > 0 {
		return fmt.Sprintf("%s. Doing nothing costs %s more than the best* over %s.", text, r.Costs, review.Span(r.Ahead))
	}
	return text + ". No purchase would save anything."
}

func commitmentTable(list []review.Commitment) report.Table {
	return report.Fill(report.Table{Name: "commitments", Title: "Current commitments"}, list, []report.Field[review.Commitment]{
		{Name: "commitment", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "from", Priority: 3},
		{Name: "until", Priority: 1},
		{Name: "days_left", Head: "days left", As: report.AsRatio},
		{Name: "utilisation", Head: "used", As: report.AsPercent},
		{Name: "unused_gpu_hours", Head: "unused GPUh", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "idle_gpus", Head: "GPUs not worth their price"},
	})
}

func adviceTable(list []review.Advice) report.Table {
	return report.Fill(report.Table{Name: "advice", Title: "What to change*"}, list, []report.Field[review.Advice]{
		{Name: "date"},
		{Name: "do", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "term", Align: report.Left},
		{Name: "cost_usd", Head: "cost"},
	})
}

func reviewTotals(r *review.Result) report.Table {
	return report.Figures("totals", r, []report.Field[*review.Result]{
		{Name: "used_gpu_hours", Head: "GPU-hours used"},
		{Name: "committed_gpu_hours", Head: "GPU-hours committed"},
		{Name: "coverage", Head: "coverage", As: report.AsPercent},
		{Name: "utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "unused_usd", Head: "unused"},
		{Name: "on_demand_usd", Head: "on demand"},
		{Name: "do_nothing_usd", Head: "cost of doing nothing*"},
		{Name: "best_usd", Head: "cost of the best*"},
		{Name: "doing_nothing_costs_usd", Head: "difference*"},
	})
}
