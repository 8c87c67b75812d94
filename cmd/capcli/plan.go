package main

import (
	"context"

	"github.com/spf13/cobra"
)

// planOptions are the flags of capcli plan. What is planned decides which of
// them count: a demand curve (--demand) has an exact optimum; a scenario is
// searched.
type planOptions struct {
	output  outputOptions
	curve   planCurveOptions
	shard   shardOptions
	futures futuresOptions
}

func newPlan(e *env) *cobra.Command {
	cmd := newPlanOf(e, &planOptions{})
	cmd.AddCommand(newPlanCurve(e), newPlanFutures(e), newPlanMerge(e))
	return cmd
}

// newPlanOf is the command by itself, whose flags go to o.
func newPlanOf(e *env, o *planOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what to commit to, on which terms and when, and prove how good that is",
		Long: "With --demand, the cheapest purchases for a demand curve, exactly: any number of terms, bought at the start of\n" +
			"each month, and on-demand for the rest. A curve is a table (ds, y), one value a line, JSON, a forecast or a job log.",
		Example: "  capcli plan --demand series.csv --on-demand 1 --term 12mo=0.61 --term 36mo=0.42\n" +
			"  capcli plan --demand jobs.parquet --on-demand 3.9 --term 1y=2.45 --term all=1y@2.2,upfront=all --discount 10%\n" +
			"  capcli forecast jobs.parquet --horizon 8760 -o json | capcli plan --demand - --on-demand 2 --term 1y=1.2",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.shard.begin(e, cmd, args)
			o.futures.shared(cmd)
			return runPlan(cmd.Context(), e, o, args)
		},
	}
	addOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	explainedBy(cmd, "capcli plan curve", curveFlags...)
	addShardFlags(cmd, &o.shard)
	o.futures.addFlags(cmd)
	return cmd
}

func runPlan(ctx context.Context, e *env, o *planOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		return noArgs(newPlan(e), args)
	case o.futures.wanted():
		if err := o.shard.none("futures are planned at once"); err != nil {
			return err
		}
		return planFutures(ctx, e, o)
	case o.curve.demand == "":
		return &usageError{text: "plan wants a demand curve: --demand is missing", hint: "capcli plan --demand series.csv --on-demand 1 --term 12mo=0.61"}
	}
	if err := o.shard.none("a demand curve is planned at once"); err != nil {
		return err
	}
	return planCurve(ctx, e, o)
}
