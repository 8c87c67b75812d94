package tables

import (
	"capcli/cmd/report"
	"capcli/simulate/serving/roofline"
)

// LinesTable shows lines to paste into a SPEC.
func LinesTable(lines []string) report.Table {
	t := report.Table{Name: "spec", Title: "Lines of a SPEC", Columns: []report.Column{{Name: "line"}}}
	for _, l := range lines {
		t.Rows = append(t.Rows, []any{l})
	}
	return t
}

// FittedFields are the columns of measured rows beside what the fit says, of tables of this kind.
func FittedFields(kind string) []report.Field[roofline.Predicted] {
	what := []report.Field[roofline.Predicted]{{Name: "tokens"}, {Name: "batch", Head: "requests"}}
	if kind == "server" {
		what = []report.Field[roofline.Predicted]{
			{Name: "batch", Head: "requests"},
			{Name: "tokens_in", Head: "prompt tokens"},
			{Name: "tokens_out", Head: "answer tokens"},
			{Name: "present", Head: "requests that fit", Priority: 1},
		}
	}
	return append(what, report.Field[roofline.Predicted]{Name: "measured_ms", Head: "measured ms"}, report.Field[roofline.Predicted]{Name: "fitted_ms", Head: "fitted ms"},
		report.Field[roofline.Predicted]{Name: "deviation", As: report.AsPercent})
}
