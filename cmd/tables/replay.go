package tables

import (
	"capcli/cmd/report"
	"capcli/simulate/serving/service"
)

// ServiceReplayDoc is the report of requests that were played: a column for each service.
func ServiceReplayDoc(r *service.Replayed) report.Doc {
	t := report.Table{Name: "summary", Columns: []report.Column{{Name: "figure"}}}
	all := r.Variants()
	for _, v := range all {
		t.Columns = append(t.Columns, report.Column{Name: v.Service, Align: report.Right})
	}
	for _, f := range service.FiguresOf(all) {
		row := []any{report.Label{Name: f.Name, Head: f.Head}}
		for _, v := range all {
			row = append(row, figureCell(f, v))
		}
		t.Rows = append(t.Rows, row)
	}
	replicas := report.Fill(report.Table{Name: "replicas", Title: "By replica", Most: 10, Aside: len(r.Replicas) < 2}, r.ReplicaRows(), []report.Field[service.ReplicaRow]{
		{Name: "replica"},
		{Name: "requests"},
		{Name: "iterations", Priority: 2},
		{Name: "busy_share", Head: "busy", As: report.AsPercent},
		{Name: "peak_blocks", Head: "peak blocks", Priority: 1},
		{Name: "preemptions"},
		{Name: "paid_us", Head: "paid", Cell: func(x service.ReplicaRow) any { return report.Micros(x.Paid) }},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{t, replicas}}
}

// figureCell returns the cell of a figure in its unit; nil where it is unknown.
func figureCell(f service.Figure, v *service.Variant) any {
	x, ok := f.Value(v)
	if !ok {
		return nil
	}
	switch f.Unit {
	case service.Micros:
		return report.AsMicros(x)
	case service.Share:
		return report.AsPercent(x)
	case service.Dollars:
		return report.AsMoney(x)
	case service.Plain:
		return report.AsRatio(x)
	case service.Count:
	}
	return report.AsCount(x)
}
