package profile

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report/draw"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/heat"
	"capcli/profile/store"
)

// heatOptions are the flags of profile heat.
type heatOptions struct {
	query  queryOptions
	r      heat.Request
	price  string
	output shell.OutputOptions
}

func newProfileHeat(e *shell.Env) *cobra.Command {
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
	shell.AddOutputFlags(cmd, &o.output)
	shell.Complete(cmd, "by", func() []string { return shell.Entries(&heat.Bys) })
	shell.Complete(cmd, "measure", func() []string { return shell.Entries(&heat.Measures) })
	return cmd
}

func runProfileHeat(ctx context.Context, e *shell.Env, o *heatOptions, args []string) error {
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
	switch ending := strings.ToLower(filepath.Ext(o.output.Out)); {
	case o.output.Form == "" && ending == ".svg":
		return shell.WriteOutput(e, o.output.Out, func(w io.Writer) error { return draw.SVG(w, tables.HeatFigure(r), draw.Options{}) })
	case o.output.Form == "" && ending == ".png":
		return shell.WriteOutput(e, o.output.Out, func(w io.Writer) error { return draw.PNG(w, tables.HeatFigure(r), draw.Options{}) })
	}
	return shell.Emit(e, o.output, tables.HeatDoc(r, e.Width()))
}

// readTicks calls use with each tick of folders that q selects, and shows the progress.
func readTicks(ctx context.Context, e *shell.Env, folders *store.Folders, q store.Query, use func(t store.HostTick) error) error {
	p, n := shell.NewProgress(e, "ticks"), int64(0)
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
		p.Report(n, 0)
	}
	p.End(n)
	for _, text := range folders.Notes() {
		e.Note(text)
	}
	return nil
}
