package main

import "github.com/spf13/cobra"

// mixFlags are those that the help of capcli plan only names where it is long.
var mixFlags = []string{"all", "confidence", "exhaustive", "from", "goal", "hold", "price-unserved", "runs", "save", "within", "shards", "shard", "force"}

// newPlanMix is plan with the flags of a scenario alone, and their help.
func newPlanMix(e *env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "mix [SCENARIO]",
		Short: "The best mix for a scenario: capcli plan SCENARIO with its own help",
		Long: "Tries mixes of a scenario on its jobs: the sizes of its committed pools and the patience, or what --vary says. A mix\n" +
			"is dropped once it is proven, or with --confidence shown, that another costs less and waits no longer.",
		Example: "  capcli plan mix plan.yaml --trace jobs.parquet --max wait_p95=30m --hold 95%\n" +
			"  capcli plan mix plan.yaml --vary capacity.base.gpus=0..128:8 --vary overflow.patience=0,15m,1h --policy easy,sjf",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.mix.sim.seeded = cmd.Flags().Changed("seed")
			o.shard.begin(e, cmd, args)
			if err := o.output.check(); err != nil {
				return err
			}
			return planMix(cmd.Context(), e, &o, args)
		},
	}
	addOutputFlags(cmd, &o.output)
	addFormatFlag(cmd, &o.curve.history.read)
	addTraceFlags(cmd, &o.curve.history.read)
	explainedBy(cmd, "capcli trace describe", "format")
	o.mix.addFlags(cmd)
	addShardFlags(cmd, &o.shard)
	cmd.ValidArgsFunction = completeScenarios
	return cmd
}
