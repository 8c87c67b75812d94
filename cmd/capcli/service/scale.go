package service

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/service"
)

// serviceScaleOptions are the flags of capcli service scale.
type serviceScaleOptions struct {
	output shell.OutputOptions
	ask    service.ScaleRequest
	rows   string // file for the steps of the first run
	seed   uint64
}

func newServiceScale(e *shell.Env) *cobra.Command {
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
	shell.Complete(cmd, "scaler", func() []string { return shell.Entries(&scale.Catalog) })
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceScale(ctx context.Context, e *shell.Env, o *serviceScaleOptions, args []string) error {
	o.ask.Specs, o.ask.Seed = args, capcli.Seed(o.seed)
	o.ask.Model = func(name string, seasons []int) (scale.Forecaster, error) {
		return scenarios.NewForecaster(name, seasons, capcli.Seed(o.seed))
	}
	r, err := o.ask.Answer(ctx, e.Open)
	if err != nil {
		return err
	}
	if o.rows != "" {
		if err := writeScaleRows(e, o.rows, r.Rows); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.ServiceScaleDoc(r))
}

// writeScaleRows writes the steps of a run to path.
func writeScaleRows(e *shell.Env, path string, rows []scale.Row) error {
	out, err := e.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := scale.WriteRows(out, rows); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}
