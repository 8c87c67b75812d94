package main

import "capcli/cmd/report"

// figureTable is a table of single figures, one in a row: what it is, and how
// much.
type figureTable struct{ report.Table }

func newFigures(name string) *figureTable {
	return &figureTable{report.Table{Name: name, Columns: []report.Column{{Name: "figure"}, {Name: "value", Align: report.Right}}}}
}

// add appends a figure, by its name for programs and its words for people.
func (t *figureTable) add(name, head string, value any) {
	t.Rows = append(t.Rows, []any{report.Label{Name: name, Head: head}, value})
}
