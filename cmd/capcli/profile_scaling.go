package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/scaling"
)

// scalingOptions are the flags of profile scaling.
type scalingOptions struct {
	query  queryOptions
	ask    scaling.Request
	out    string
	output outputOptions
}

func newProfileScaling(e *env) *cobra.Command {
	var o scalingOptions
	cmd := &cobra.Command{
		Use:   "scaling DIR…",
		Short: "Say how much faster a job gets on more GPUs, by its recorded runs",
		Long: "scaling groups the runs of one work, which have the same tenant and command but for numbers and folders, and takes\n" +
			"what each reached: the tokens or samples a second that it told, or with --batch its steps. It fits nothing, and says\n" +
			"what does not compare. --out writes a table of rates for the shapes of a scenario and for plan width --measured.",
		Example: "  capcli profile scaling gpu-profile\n" +
			"  capcli profile scaling fleet --job 'pretrain.py' --out curve.csv\n" +
			"  capcli plan width --measured curve.csv --steps 15000000000 --price H100=2.20",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileScaling(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.ask.Job, "job", "", "runs of one work: those whose job ID or command has this `TEXT`, or matches it with *")
	f.StringVar(&o.ask.Batch, "batch", "", "compare by steps; of more GPUs the whole batch stays, or that of each GPU: `same`, per-gpu")
	f.StringVar(&o.out, "out", "", "write the curves as a table of rates: `CURVE.csv`, or - for stdout")
	complete(cmd, "batch", func() []string { return scaling.Batches })
	addFormFlags(cmd, &o.output)
	return cmd
}

func runProfileScaling(ctx context.Context, e *env, o *scalingOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if err := o.ask.Check(); err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	sum, err := summarise(ctx, e, args, q, in)
	if err != nil {
		return err
	}
	r, err := o.ask.Measure(sum, args)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeOutput(e, o.out, func(w io.Writer) error { return r.WriteCSV(w) }); err != nil {
			return err
		}
		e.note(fmt.Sprintf("wrote %s: %s", capcli.Plural(int64(len(r.Curves)), "curve"), o.out))
		if o.out == "-" {
			return nil
		}
	}
	return emit(e, o.output, scalingDoc(r))
}

// scalingRow is a point of a curve.
type scalingRow struct {
	*scaling.Curve
	scaling.Point
}

func scalingDoc(r *scaling.Result) report.Doc {
	var rows []scalingRow
	for i := range r.Curves {
		for _, p := range r.Curves[i].Points {
			rows = append(rows, scalingRow{&r.Curves[i], p})
		}
	}
	share := func(v capcli.Figure) any { return report.Percent(float64(v)) }
	points := report.Fill(report.Table{Name: "curves"}, rows, []report.Field[scalingRow]{
		{Name: "job_type", Head: "job", Align: report.Left, Cell: func(x scalingRow) any { return x.Name }},
		{Name: "gpu_model", Align: report.Left, Cell: func(x scalingRow) any { return x.Model }},
		{Name: "gpus", Head: "GPUs", Cell: func(x scalingRow) any { return x.GPUs }},
		{Name: "steps_per_s", Head: "a second", Cell: func(x scalingRow) any { return x.PerS }},
		{Name: "unit", Align: report.Left, Cell: func(x scalingRow) any { return x.Unit }},
		{Name: "low", Priority: 1, Cell: func(x scalingRow) any { return x.Low }},
		{Name: "high", Priority: 1, Cell: func(x scalingRow) any { return x.High }},
		{Name: "runs", Cell: func(x scalingRow) any { return x.Runs }},
		{Name: "speedup", Cell: func(x scalingRow) any { return x.Speedup }},
		{Name: "efficiency", Cell: func(x scalingRow) any { return share(x.Efficiency) }},
	})
	left := report.Fill(report.Table{Name: "left_out", Aside: true}, r.Left, []report.Field[scaling.LeftOut]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "why", Align: report.Left},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{points, left}}
}
