package tables

import (
	"capcli/cmd/report"
	"capcli/profile/upkeep"
)

// UpkeepDoc is the report of what was done.
func UpkeepDoc(r *upkeep.Result) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "removed", Aside: true}, r.Removed, []report.Field[upkeep.RemovedDay]{
			{Name: "host", Align: report.Left}, {Name: "day", Align: report.Left}, {Name: "files"}, {Name: "bytes"}, {Name: "why", Align: report.Left},
		}),
	}}
}
