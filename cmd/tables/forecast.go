package tables

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/forecast/outlook"
)

// Figure is a number that may be unknown.
type Figure = capcli.Figure

// ModelsDoc is the report of the models that can forecast.
func ModelsDoc() report.Doc {
	data := outlook.ListModels()
	t := report.Table{Name: "models", Columns: []report.Column{{Name: "model"}, {Name: "doc", Head: "what it does"}}}
	for _, m := range data.Models {
		t.Rows = append(t.Rows, []any{m.Name, m.Doc})
	}
	return report.Doc{Tables: []report.Table{t}, Data: data}
}
