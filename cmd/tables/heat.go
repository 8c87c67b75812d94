package tables

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/heat"
	pictures "capcli/scenarios/figure"
)

// HeatDoc is the report of a heatmap for a terminal of a width.
func HeatDoc(r *heat.Result, width int) report.Doc {
	p := r.Picture(max(width-r.NameWidth()-1, 10))
	chart := report.Chart{Title: fmt.Sprintf("%s, %s a column, %s", r.Title, p.Hours(), r.Zone), Top: p.Top, Shades: &report.Shades{Labels: p.Labels, Legend: r.Text(p.Top)}}
	for _, row := range p.Rows {
		chart.Lines = append(chart.Lines, report.Line{Name: row.Name, Values: row.Values})
	}
	type hour struct {
		row *heat.Row
		at  int
	}
	var hours []hour
	for _, row := range r.Rows {
		for i := range row.Values {
			hours = append(hours, hour{row, i})
		}
	}
	cells := report.Fill(report.Table{Name: "cells", Aside: true}, hours, []report.Field[hour]{
		{Name: "name", Align: report.Left, Cell: func(h hour) any { return h.row.Name }},
		{Name: "from", Cell: func(h hour) any { return r.Columns[h.at].From }},
		{Name: r.ColumnName(), Cell: func(h hour) any { return h.row.Values[h.at] }},
	})
	fields := []report.Field[*heat.Row]{
		{Name: "name", Align: report.Left},
		{Name: r.ColumnName(), Head: r.Title, Cell: func(h *heat.Row) any { return heatCell(r, h.Value) }},
		{Name: "held_gpu_hours", Head: "held GPUh"},
		{Name: "idle_held_gpu_hours", Head: "idle GPUh"},
	}
	if r.Price != nil {
		fields = append(fields, report.Field[*heat.Row]{Name: "idle_cost_usd", Head: "idle $", Cell: func(h *heat.Row) any { return h.Cost }})
	}
	rows := report.Fill(report.Table{Name: "rows", Most: 10}, append(r.Rows[:len(r.Rows):len(r.Rows)], r.Total), fields)
	return report.Doc{Lead: r.Lead(), Tables: []report.Table{cells, rows}, Charts: []report.Chart{chart}, Notes: r.Notes(), Data: r}
}

// heatCell is the cell of a value of a heatmap.
func heatCell(r *heat.Result, v capcli.Figure) any {
	if r.Unit == "%" {
		return Hundredths(float64(v))
	}
	return v
}

// HeatFigure is a heatmap as a pictures.
func HeatFigure(r *heat.Result) *pictures.Figure {
	const mostColumns = 168 // that have room
	p := r.Picture(mostColumns)
	f := &pictures.Figure{
		ID: "heat", Title: fmt.Sprintf("%s, %s a column, %s", r.Title, p.Hours(), r.Zone), Sentence: r.Lead(), Kind: pictures.Heat, Notes: r.Notes(),
		X: pictures.Axis{Unit: pictures.Name, Names: p.Names}, Y: pictures.Axis{Label: r.Title + ", " + r.Unit, Unit: pictures.Count},
	}
	if r.Unit == "USD" {
		f.Y.Unit = pictures.USD
	}
	for _, row := range p.Rows {
		f.Series = append(f.Series, pictures.Series{Name: row.Name, Y: pictures.Numbers(row.Values)})
	}
	return f
}
