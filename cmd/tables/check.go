package tables

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/profile/anomaly"
)

// AnomalyDoc is the report of what went wrong.
func AnomalyDoc(r *anomaly.Result) report.Doc {
	gpu := func(a *anomaly.Anomaly) any {
		if a.GPU == nil {
			return nil
		}
		return fmt.Sprint(*a.GPU)
	}
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{report.Fill(report.Table{Name: "anomalies", Most: 40, Aside: len(r.Anomalies) == 0}, r.Anomalies, []report.Field[*anomaly.Anomaly]{
		{Name: "since"},
		{Name: "until", Priority: 2, Cell: func(a *anomaly.Anomaly) any { return TextCell(a.Until) }},
		{Name: "severity", Align: report.Left, Priority: 1, Cell: func(a *anomaly.Anomaly) any { return string(a.Severity) }},
		{Name: "host", Align: report.Left},
		{Name: "gpu", Align: report.Left, Cell: gpu},
		{Name: "job", Align: report.Left, Priority: 1, Cell: func(a *anomaly.Anomaly) any { return TextCell(a.Job) }},
		{Name: "kind", Align: report.Left, Priority: 3},
		{Name: "what", Align: report.Left},
		{Name: "evidence", Align: report.Left},
		{Name: "size", Priority: 4},
		{Name: "unit", Align: report.Left, Priority: 4},
		{Name: "confidence", Priority: 3, As: report.AsPercent},
		{Name: "do", Head: "what to do", Align: report.Left, Priority: 4},
	})}}
}
