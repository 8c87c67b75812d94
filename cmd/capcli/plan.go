package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// planOptions are the flags of the commands of capcli plan; each command uses some of them.
type planOptions struct {
	output  outputOptions
	curve   planCurveOptions
	mix     mixOptions
	shard   shardOptions
	futures futuresOptions
}

// newPlan adds no flags: choosePlan inserts the subcommand into the command line.
func newPlan(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO]",
		Short: "Recommend what to commit to, on which terms and when, with a proven bound",
		Long: "The input chooses the command: a SCENARIO or a --trace runs plan mix, which finds the best mix for the jobs under\n" +
			"limits; --futures alone runs plan futures, which plans for uncertain demand; --demand runs plan curve, which finds\n" +
			"the exact cheapest purchases for a demand curve. The flags are those of that command (capcli plan mix --help).",
		Example: "  capcli plan plan.yaml --trace jobs.parquet --max wait_p95=30m --max cost=1.7M --min availability=0.95\n" +
			"  capcli plan --demand series.csv --on-demand 1 --term 12mo=0.61 --term 36mo=0.42\n" +
			"  capcli plan --futures futures.parquet --on-demand 3.90 --term 12mo=2.20 --risk cvar95",
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		ValidArgsFunction: completeScenarios,
	}
	cmd.AddCommand(newPlanMix(e), newPlanCurve(e), newPlanBacktest(e), newPlanSavings(e), newPlanJoint(e), newPlanFutures(e), newPlanReview(e), newPlanSpot(e), newPlanService(e), newPlanWidth(e), newPlanMerge(e))
	return cmd
}

// choosePlan inserts the subcommand into a command line of capcli plan that names none. In a
// completion request the first and last word stay in place.
func choosePlan(e *env, root *cobra.Command, args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		last := len(args) - 1
		if last < 2 || !strings.HasPrefix(args[last], "-") && !strings.HasPrefix(args[last-1], "-") {
			return args
		}
		return slices.Concat(args[:1], choosePlan(e, root, args[1:last]), args[last:])
	}
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "plan" || slices.Contains(rest, "--help") || slices.Contains(rest, "-h") {
		return args
	}
	// The flags of all three commands are needed to tell values from arguments.
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	for _, c := range []*cobra.Command{newPlanMix(e), newPlanCurve(e), newPlanFutures(e)} {
		flags.AddFlagSet(c.Flags())
	}
	flags.AddFlagSet(root.PersistentFlags())
	flags.Usage = func() {}
	_ = flags.Parse(rest) // the chosen command reports the error
	given := func(names ...string) bool { return slices.ContainsFunc(names, flags.Changed) }
	if at := flags.Arg(0); slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == at }) {
		i := slices.Index(rest, at)
		return slices.Concat([]string{"plan", at}, rest[:i], rest[i+1:])
	}
	name := "mix"
	switch ahead := given("futures", "demand-error"); {
	case ahead && flags.NArg() == 0 && !given("trace"):
		name = "futures"
	case ahead:
	case given("demand", "on-demand"), given("term") && !given("trace") && flags.NArg() == 0:
		name = "curve"
	}
	return append([]string{"plan", name}, rest...)
}
