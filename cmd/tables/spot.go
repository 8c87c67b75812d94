package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/spot"
)

// SpotDoc is the report of policies for spot capacity under a deadline.
func SpotDoc(r *spot.Result) report.Doc {
	t := report.Fill(report.Table{Name: "policies", Title: "By policy"}, r.Rows, []report.Field[spot.Row]{
		{Name: "policy"},
		{Name: "cost_mean_usd", Head: "cost"},
		{Name: "cost_max_usd", Head: "at most"},
		{Name: "saving", As: report.AsPercent},
		{Name: "spot_share_of_work", Head: "on spot", As: report.AsPercent},
		{Name: "changeovers_mean", Head: "changes", Priority: 2},
		{Name: "met_deadline", Head: "met"},
		{Name: "late"},
		{Name: "unfinished", Priority: 3},
		{Name: "late_max_s", Head: "late by", Priority: 1},
	})
	return report.Doc{Lead: r.Answer, Tables: []report.Table{t}, Notes: r.Notes, Data: r}
}
