package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// boughtTables shows the pools of bought nodes; none if there are none.
func boughtTables(runs []*play.Run) []report.Table {
	pools := partsOf(runs, func(r *play.Run) []outcome.Bought { return r.Bought })
	if len(pools[0]) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "bought", Title: "Bought nodes: node-hours are billed whole; waits are job-hours"}, rowsOf(pools), []report.Field[*outcome.Bought]{
		{Name: "pool"},
		{Name: "nodes_ordered", Head: "ordered"},
		{Name: "nodes_max", Head: "most", Priority: 1},
		{Name: "node_hours", Head: "node-hours", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.NodeHours) }},
		{Name: "utilisation", Head: "used", Cell: func(b *outcome.Bought) any { return orNothing(b.Utilisation, report.AsPercent) }},
		{Name: "lead_mean_s", Head: "lead", Priority: 1, Cell: func(b *outcome.Bought) any { return orNothing(b.LeadMean, report.AsSeconds) }},
		{Name: "orders_refused", Head: "refused"},
		{Name: "nodes_lost", Head: "lost", Priority: 2},
		{Name: "jobs_moved", Head: "moved", Priority: 2},
		{Name: "wait_for_lead_job_hours", Head: "wait: lead", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.LeadWait) }},
		{Name: "wait_for_shortage_job_hours", Head: "shortage", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.ShortWait) }},
	})}
}

// orNothing returns the cell of a figure, or nil if it is unknown.
func orNothing(v *float64, as func(float64) any) any {
	if v == nil {
		return nil
	}
	return as(*v)
}
