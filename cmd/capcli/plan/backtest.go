package plan

import (
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/trial"
)

// planBacktestOptions are the flags of capcli plan backtest.
type planBacktestOptions struct {
	output shell.OutputOptions
	curve  planCurveOptions // how the demand is read, and the market
	ask    trial.Request
}

func newPlanBacktest(e *shell.Env) *cobra.Command {
	var o planBacktestOptions
	cmd := &cobra.Command{
		Use:   "backtest DEMAND",
		Short: "Try decisions about commitments on the past, beside rules of thumb and hindsight",
		Long: "DEMAND is a demand curve or a job log, as for capcli plan curve. At earlier dates of it each rule decides from what was\n" +
			"known then what to commit to for each --term, and pays for the demand that came. Regret is the cost above hindsight.",
		Example: "  capcli plan backtest jobs.parquet --on-demand 3.90 --term 1mo=2.34\n" +
			"  capcli plan backtest series.csv --on-demand 3.67 --term 1mo=2.20 --rolled 1y --origins 24\n" +
			"  capcli plan backtest series.csv --on-demand 3.67,2026-06=2.06 --term 1y=2.31 --origins 2026-01-15,2026-03-15 -o json",
		Args: shell.WantArgs("DEMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.curve.demand = args[0]
			return runPlanBacktest(cmd.Context(), e, &o)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.ask.Origins, "origins", "6", "dates to decide on: their number `N`, spread evenly, or dates with commas")
	f.StringVar(&o.ask.Horizon, "horizon", "", "how much of a term counts: `TIME`, 1mo (default: all of it)")
	f.StringVar(&o.ask.Rolled, "rolled", "", "decide again at each expiry for `TIME`, 1y (default: once)")
	f.StringVar(&o.ask.Model, "model", trial.DefaultModel, "`NAME` of the model that decides (capcli forecast models)")
	f.IntVar(&o.ask.Paths, "paths", 200, "futures behind a decision: `N`")
	f.Uint64Var((*uint64)(&o.ask.Seed), "seed", 1, "random seed: a whole `NUMBER` from 0")
	f.BoolVar(&o.ask.Flat, "flat", false, "prices stay those of the date of decision")
	shell.ExplainedBy(cmd, "capcli plan curve", "series", "quantile", "what-if", "buy", "discount", "held", "by", "step", "on-demand", "term")
	return cmd
}

func runPlanBacktest(ctx context.Context, e *shell.Env, o *planBacktestOptions) error {
	of, err := o.curve.request(e)
	if err != nil {
		return err
	}
	o.ask.Market = of.Market
	question, err := o.ask.Parse()
	if err != nil {
		return err
	}
	source, err := o.curve.source("demand")
	if err != nil {
		return err
	}
	source.Whole = true
	d, err := source.Read(ctx, e.Sources())
	if err != nil {
		return err
	}
	r, err := question.Run(ctx, d)
	if err != nil {
		return err
	}
	return emitPart(e, o.output, tables.PastDoc(r), r.Partial)
}
