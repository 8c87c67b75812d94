package main

import (
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/decide"
)

// decideDoc is the report of a decision: the answer, its alternatives and the steps.
func decideDoc(r *decide.Result) report.Doc {
	d := report.Doc{Lead: r.Answer, Data: r, Notes: append([]string{}, r.Warnings...)}
	d.Notes = append(d.Notes, r.Notes...)
	d.Tables = []report.Table{
		report.Fill(report.Table{Name: "plans", Title: "The plan and its alternatives, over " + r.Length.String()}, r.Alternatives, []report.Field[decide.Choice]{
			{Name: "plan"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "patience", Priority: 2},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference", Priority: 1},
			{Name: "cost_worst_5_percent_usd", Head: "worst 5%", Priority: 2},
			{Name: "unserved_share", Head: "not served", As: report.AsPercent},
			{Name: "wait_p95_s", Head: "p95 wait", As: report.AsSeconds},
			{Name: "held_share", Head: "limits held", As: report.AsPercent, Priority: 1},
			{Name: "on_demand_usd", Head: "on demand", Priority: 3},
			{Name: "stranded_usd", Head: "stranded", Priority: 3},
		}),
		report.Fill(report.Table{Name: "steps", Title: "The steps; each can be run alone"}, r.Steps, []report.Field[decide.Step]{
			{Name: "step"},
			{Name: "command"},
			{Name: "files", Priority: 3, Cell: func(s decide.Step) any { return strings.Join(s.Files, " ") }},
		}),
	}
	return d
}
