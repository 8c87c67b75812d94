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
	mix     mixOptions
	shard   shardOptions
	futures futuresOptions
}

func newPlan(e *env) *cobra.Command {
	cmd := newPlanOf(e, &planOptions{})
	cmd.AddCommand(newPlanMix(e), newPlanCurve(e), newPlanSavings(e), newPlanJoint(e), newPlanFutures(e), newPlanReview(e), newPlanMerge(e))
	return cmd
}

// newPlanOf is the command by itself, whose flags go to o.
func newPlanOf(e *env, o *planOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO]",
		Short: "Say what to commit to, on which terms and when, and prove how good that is",
		Long: "Of a scenario, the mix that is best for its jobs under limits: sizes, patience, policy (plan mix --help). With\n" +
			"--demand, the cheapest purchases for a demand curve, exactly, at the start of each month (plan curve --help).",
		Example: "  capcli plan plan.yaml --trace jobs.parquet --max wait_p95=30m --max cost=1.7M --min availability=0.95\n" +
			"  capcli plan --demand series.csv --on-demand 1 --term 12mo=0.61 --term 36mo=0.42",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(e, cmd, args) },
	}
	addOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	explainedBy(cmd, "capcli plan curve", curveFlags...)
	o.mix.addFlags(cmd)
	addShardFlags(cmd, &o.shard)
	explainedBy(cmd, "capcli plan mix", mixFlags...)
	o.futures.addFlags(cmd)
	explainedBy(cmd, "capcli simulate", "seed")
	explainedBy(cmd, "capcli plan", "max", "min") // of every plan
	cmd.ValidArgsFunction = completeScenarios
	return cmd
}

// run does what the command line asks for.
func (o *planOptions) run(e *env, cmd *cobra.Command, args []string) error {
	o.mix.sim.seeded = cmd.Flags().Changed("seed")
	o.shard.begin(e, cmd, args)
	o.futures.shared(cmd)
	return runPlan(cmd.Context(), e, o, args)
}

func runPlan(ctx context.Context, e *env, o *planOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	switch {
	case o.futures.wanted() && (len(args) > 0 || o.mix.sim.trace != ""):
		return planMix(ctx, e, o, args)
	case o.futures.wanted():
		if err := o.shard.none("futures are planned at once"); err != nil {
			return err
		}
		return planFutures(ctx, e, o)
	case o.curve.demand == "" && (o.curve.onDemand != "" || len(o.curve.terms) > 0):
		return &usageError{text: "plan wants a demand curve with --on-demand and --term: --demand is missing", hint: "capcli plan --demand series.csv --on-demand 1 --term 12mo=0.61"}
	case o.curve.demand == "":
		return planMix(ctx, e, o, args)
	case len(args) > 0:
		return noArgs(newPlan(e), args)
	}
	if err := o.shard.none("a demand curve is planned at once"); err != nil {
		return err
	}
	return planCurve(ctx, e, o)
}
