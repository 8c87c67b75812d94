package tables

import (
	"slices"

	"capcli/cmd/report"
	"capcli/simulate/serving/service"
)

// ServiceScaleDoc is the report of the runs.
func ServiceScaleDoc(r *service.ScaleResult) report.Doc {
	fields := []report.Field[service.ScaleRun]{
		{Name: "file", Align: report.Left, Priority: 4},
		{Name: "scaler", Align: report.Left},
		{Name: "late_share", Head: "late", As: report.AsPercent},
		{Name: "replica_hours", Head: "replica-hours", As: report.AsRatio},
		{Name: "bound_replica_hours", Head: "bound", As: report.AsRatio},
		{Name: "over_bound", Head: "over", As: report.AsPercent},
		{Name: "max_desired", Head: "most", Priority: 1},
		{Name: "max_backlog", Head: "most waiting", Priority: 2},
		{Name: "backlog_end", Head: "unserved", Priority: 3},
		{Name: "changes", Priority: 3},
	}
	if r.Runs[0].Cost != nil {
		fields = slices.Insert(fields, 6, report.Field[service.ScaleRun]{Name: "cost_usd", Head: "cost"})
	}
	t := report.Fill(report.Table{Name: "runs", Title: "By scaler, beside the bound of a plan that knows the future"}, r.Runs, fields)
	return report.Doc{Lead: r.Answer, Notes: r.Notes, Data: r, Tables: []report.Table{t}}
}
