package tables

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/jobfile"
)

// ImportDoc is the report of the import as a table.
func ImportDoc(r *jobfile.Result) report.Doc {
	t := report.Table{Name: "import", Columns: []report.Column{{Name: "what"}, {Name: "rows"}, {Name: "reason"}}}
	t.Rows = append(t.Rows, []any{"kept", r.Kept, nil}, []any{"folded", r.Folded, nil}, []any{"rejected", r.Rejected, nil})
	for _, c := range r.Reasons {
		t.Rows = append(t.Rows, []any{"rejected_because", c.N, c.Reason})
	}
	for _, c := range r.Assumed {
		t.Rows = append(t.Rows, []any{"assumed", c.N, c.Reason})
	}
	return report.Doc{
		Lead:   fmt.Sprintf("%s of %s rows of %s are jobs, in %s.", capcli.Grouped(r.Kept), capcli.Grouped(r.Rows), r.Input, r.Out),
		Tables: []report.Table{t}, Notes: r.Notes, Data: r,
	}
}

// RowsAre is "row is" or "rows are".
func RowsAre(n int64) string {
	if n == 1 {
		return "row is"
	}
	return "rows are"
}

// Share is the text of a part of all, in percent.
func Share(part, all int64) string {
	v := float64(part) * 100 / float64(max(all, 1))
	if part > 0 && v < 0.01 {
		return "under 0.01%"
	}
	return fmt.Sprintf("%.2f%%", v)
}
