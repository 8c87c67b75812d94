package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/service"
	"capcli/simulate/scale"
)

// serviceScaleOptions are the flags of capcli service scale.
type serviceScaleOptions struct {
	output outputOptions
	ask    service.ScaleRequest
	rows   string // file for the steps of the first run
	seed   uint64
}

func newServiceScale(e *env) *cobra.Command {
	var o serviceScaleOptions
	cmd := &cobra.Command{
		Use:   "scale SERVICE…",
		Short: "Play a scaler against a load, beside the least that any scaler could take",
		Long: "scale plays the load of a file through a service in steps: replicas that are ready serve, the scaler decides, and\n" +
			"new replicas take their cold start. It says how many requests were late and what the replicas cost, beside the\n" +
			"bound: the least replica-hours of a plan that knows the future. Several services, or --scaler, are compared.",
		Example: "  capcli service scale service.yaml --load load.csv\n" +
			"  capcli service scale service.yaml --load load.csv --scaler hpa,kpa,util\n" +
			"  capcli service scale service.yaml --load load.csv --replicas-out steps.csv -o json",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runServiceScale(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ask.Load, "load", "", "requests of each step, the column load of a CSV `FILE` (default: load or requests of the service)")
	f.StringVar(&o.ask.For, "for", "", "play requests that have no end for this `TIME` (default: 7d)")
	f.StringSliceVar(&o.ask.Scalers, "scaler", nil, "play these scalers, with the settings of the service's own: `NAME,…`: "+strings.Join(scale.Catalog.Names(), ", "))
	f.StringVar(&o.rows, "replicas-out", "", "write the steps of the first run, as CSV: `FILE`")
	f.Uint64Var(&o.seed, "seed", 1, "random seed of requests and models: `N`")
	complete(cmd, "scaler", func() []string { return entries(&scale.Catalog) })
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceScale(ctx context.Context, e *env, o *serviceScaleOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	o.ask.Specs, o.ask.Seed = args, capcli.Seed(o.seed)
	o.ask.Model = func(name string, seasons []int) (scale.Forecaster, error) {
		return scenarios.NewForecaster(name, seasons, capcli.Seed(o.seed))
	}
	r, err := o.ask.Answer(ctx, e.open)
	if err != nil {
		return err
	}
	if o.rows != "" {
		if err := writeScaleRows(e, o.rows, r.Rows); err != nil {
			return err
		}
	}
	return emit(e, o.output, serviceScaleDoc(r))
}

// writeScaleRows writes the steps of a run to path.
func writeScaleRows(e *env, path string, rows []scale.Row) error {
	out, err := e.create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := scale.WriteRows(out, rows); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// serviceScaleDoc is the report of the runs.
func serviceScaleDoc(r *service.ScaleResult) report.Doc {
	fields := []report.Field[service.ScaleRun]{
		{Name: "file", Align: report.Left, Priority: 4},
		{Name: "scaler", Align: report.Left},
		{Name: "late_share", Head: "late", As: report.AsPercent},
		{Name: "replica_hours", Head: "replica-hours", As: report.AsRatio},
		{Name: "bound_replica_hours", Head: "bound", As: report.AsRatio},
		{Name: "over_bound", Head: "over", As: report.AsPercent},
		{Name: "max_desired", Head: "most", Priority: 1},
		{Name: "max_backlog", Head: "most waiting", Priority: 2},
		{Name: "backlog_end", Head: "unserved", Priority: 3},
		{Name: "changes", Priority: 3},
	}
	if r.Runs[0].Cost != nil {
		fields = slices.Insert(fields, 6, report.Field[service.ScaleRun]{Name: "cost_usd", Head: "cost"})
	}
	t := report.Fill(report.Table{Name: "runs", Title: "By scaler, beside the bound of a plan that knows the future"}, r.Runs, fields)
	return report.Doc{Lead: r.Answer, Notes: r.Notes, Data: r, Tables: []report.Table{t}}
}
