package tables

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/savings"
)

// SavingsDoc is the report of a plan of savings plans.
func SavingsDoc(r *savings.Result) report.Doc {
	figures := []report.Field[*savings.Result]{
		{Name: "commitment_usd_per_hour", Head: "commit, an hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "all_on_demand_cost_usd", Head: "all on demand"},
		{Name: "unused_usd", Head: "of the commitment unused"},
	}
	if r.Utilisation != nil {
		figures = append(figures, report.Field[*savings.Result]{Name: "utilisation", Head: "utilisation", As: report.AsPercent})
	}
	return report.Doc{
		Lead:   fmt.Sprintf("Commit %s an hour: %s over %s hours, %s all on demand; no other commitment costs less.", r.Commit, r.Cost, capcli.Grouped(int64(r.Hours)), r.AllOnDemand),
		Tables: []report.Table{report.Figures("savings", r, figures)}, Data: r, Notes: r.Notes,
	}
}
