package main

import (
	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/forecast/outlook"
)

func newForecastModels(e *env) *cobra.Command {
	var o outputOptions
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "List the models that forecast can use",
		Example: "  capcli forecast models",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return emit(e, o, modelsDoc()) },
	}
	addOutputFlags(cmd, &o)
	return cmd
}

func modelsDoc() report.Doc {
	data := outlook.ListModels()
	t := report.Table{Name: "models", Columns: []report.Column{{Name: "model"}, {Name: "doc", Head: "what it does"}}}
	for _, m := range data.Models {
		t.Rows = append(t.Rows, []any{m.Name, m.Doc})
	}
	return report.Doc{Tables: []report.Table{t}, Data: data}
}
