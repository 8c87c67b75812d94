package main

import (
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/decide"
	"capcli/simulate/plan/market"
)

// decideDoc is the report of a decision: the answer, its alternatives, what is bought when, the same at
// other sellers, and the steps.
func decideDoc(r *decide.Result) report.Doc {
	d := report.Doc{Lead: r.Answer, Data: r, Notes: append(append([]string{}, r.Warnings...), r.Notes...)}
	d.Tables = []report.Table{
		report.Fill(report.Table{Name: "plans", Title: "The plan and its alternatives, over " + r.Length.String()}, r.Alternatives, []report.Field[decide.Choice]{
			{Name: "plan"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "place_gpus", Head: "fenced", Omit: !r.Stacks()},
			{Name: "as", Priority: 2},
			{Name: "patience", Priority: 3},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference"},
			{Name: "cost_worst_5_percent_usd", Head: "worst 5%", Priority: 1},
			{Name: "on_demand_usd", Head: "on demand", Priority: 2},
			{Name: "stranded_usd", Head: "unused", Priority: 2},
			{Name: "unserved_share", Head: "not served", As: report.AsPercent, Priority: 2},
			{Name: "wait_mean_s", Head: "mean wait", As: report.AsSeconds, Priority: 1},
			{Name: "wait_p95_s", Head: "p95 wait", As: report.AsSeconds, Priority: 2},
			{Name: "held_share", Head: "limits held", As: report.AsPercent, Priority: 1},
		}),
		report.Fill(report.Table{Name: "purchases", Title: "What the plan buys, and when"}, r.Purchases(), []report.Field[market.Purchase]{
			{Name: "term"},
			{Name: "start", Cell: func(p market.Purchase) any { return p.Start.Cell() }},
			{Name: "end", Cell: func(p market.Purchase) any { return p.End.Cell() }},
			{Name: "gpus", Head: "GPUs"},
			{Name: "usd_per_gpu_hour", Head: "a GPU-hour"},
			{Name: "cost_usd", Head: "cost"},
		}),
		report.Fill(report.Table{Name: "sellers", Title: "The same work at the listed prices of other sellers"}, r.Sellers, []report.Field[decide.Seller]{
			{Name: "provider"},
			{Name: "on_demand_usd_per_gpu_hour", Head: "on demand"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "term", Priority: 1},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference"},
			{Name: "on_demand_key", Head: "price", Priority: 3},
		}),
		requestTable(r.Requests),
		report.Fill(report.Table{Name: "steps", Title: "The steps; each can be run alone"}, r.Steps, []report.Field[decide.Step]{
			{Name: "step"},
			{Name: "command"},
			{Name: "files", Priority: 3, Cell: func(s decide.Step) any { return strings.Join(s.Files, " ") }},
		}),
	}
	if r.Plan == nil && len(r.Ways) > 0 {
		d.Tables = []report.Table{report.Fill(report.Table{Name: "ways", Title: "What each way to count the log answers"}, r.Ways, []report.Field[decide.Way]{
			{Name: "as_if"},
			{Name: "futures_mean_gpus", Head: "GPUs in use"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "term", Priority: 1},
			{Name: "cost_usd", Head: "cost"},
			{Name: "counts", Head: "log", Priority: 2},
			{Name: "failure", Priority: 2},
		})}
	}
	return d
}

// requestTable is the table of what requests take and cost; it is not shown where there are none.
func requestTable(list []decide.Ask) report.Table {
	return report.Fill(report.Table{Name: "requests", Title: "What each request takes of the plan, and adds to its cost", Aside: len(list) == 0}, list, []report.Field[decide.Ask]{
		{Name: "event", Head: "request"},
		{Name: "team"},
		{Name: "gpu_hours", Head: "GPU-hours", As: report.AsCount},
		{Name: "committed_share", Head: "committed", As: report.AsPercent},
		{Name: "marginal_cost_usd", Head: "cost"},
		{Name: "fits", Priority: 1},
		{Name: "value_usd", Head: "value", Priority: 2},
		{Name: "without", Head: "without it", Priority: 3},
	})
}
