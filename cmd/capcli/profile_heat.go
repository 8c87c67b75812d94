package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/report/draw"
	"capcli/profile/heat"
	"capcli/profile/store"
	pictures "capcli/scenarios/paper/figure"
)

// heatOptions are the flags of profile heat.
type heatOptions struct {
	query  queryOptions
	r      heat.Request
	price  string
	output outputOptions
}

func newProfileHeat(e *env) *cobra.Command {
	var o heatOptions
	cmd := &cobra.Command{
		Use:   "heat DIR…",
		Short: "Draw what recorded boxes, GPUs, jobs or tenants did, hour by hour",
		Long: "heat draws a row for each box, GPU, job or tenant and a column for each hour, the one with the most idle GPU-hours\n" +
			"first. Hours without samples are gaps, not 0. --out heat.svg or heat.png draws the same as a pictures.",
		Example: "  capcli profile heat fleet --measure sm\n" +
			"  capcli profile heat fleet --by tenant --measure idle-dollars --price 2.20 --week --tz Europe/Berlin\n" +
			"  capcli profile heat gpu-07 --by gpu --from 2026-11-01 --to 2026-11-07 --out week.svg",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileHeat(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.r.By, "by", "host", "a row for each `KIND`: "+strings.Join(heat.Bys.Names(), ", "))
	f.StringVar(&o.r.Measure, "measure", "use", "`MEASURE` shown: "+strings.Join(heat.Measures.Names(), ", "))
	f.BoolVar(&o.r.Week, "week", false, "hours of the week in place of hours of the time")
	f.IntVar(&o.r.Rows, "rows", 40, "most rows, `N`: those with the most idle GPU-hours; the rest are summed up in one")
	f.StringVar(&o.price, "price", "", "price of a GPU-hour, `USD`")
	addOutputFlags(cmd, &o.output)
	complete(cmd, "by", func() []string { return entries(&heat.Bys) })
	complete(cmd, "measure", func() []string { return entries(&heat.Measures) })
	return cmd
}

func runProfileHeat(ctx context.Context, e *env, o *heatOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	var err error
	if o.r.Price, err = priceOf(o.price); err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	o.r.Zone = in
	b, err := heat.NewBuilder(o.r)
	if err != nil {
		return err
	}
	if _, err := summariseEach(ctx, e, args, store.SummaryRequest{Query: q, Zone: in, Each: b.Add, ListedJobs: true}); err != nil {
		return err
	}
	r, err := b.Result(args)
	if err != nil {
		return err
	}
	switch ending := strings.ToLower(filepath.Ext(o.output.out)); {
	case o.output.form == "" && ending == ".svg":
		return writeOutput(e, o.output.out, func(w io.Writer) error { return draw.SVG(w, heatFigure(r), draw.Options{}) })
	case o.output.form == "" && ending == ".png":
		return writeOutput(e, o.output.out, func(w io.Writer) error { return draw.PNG(w, heatFigure(r), draw.Options{}) })
	}
	return emit(e, o.output, heatDoc(r, e.width()))
}

// readTicks calls use with each tick of folders that q selects, and shows the progress.
func readTicks(ctx context.Context, e *env, folders *store.Folders, q store.Query, use func(t store.HostTick) error) error {
	p, n := newProgress(e, "ticks"), int64(0)
	for t, err := range folders.Ticks(q) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = use(t)
		}
		if err != nil {
			return err
		}
		n++
		p.report(n, 0)
	}
	p.end(n)
	for _, text := range folders.Notes() {
		e.note(text)
	}
	return nil
}

// heatDoc is the report of a heatmap for a terminal of a width.
func heatDoc(r *heat.Result, width int) report.Doc {
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
		return hundredths(float64(v))
	}
	return v
}

// heatFigure is a heatmap as a pictures.
func heatFigure(r *heat.Result) *pictures.Figure {
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
