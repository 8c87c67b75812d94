package plan

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// planOptions are the flags of the commands of capcli plan; each command uses some of them.
type planOptions struct {
	output  shell.OutputOptions
	curve   planCurveOptions
	mix     mixOptions
	shard   shardOptions
	futures futuresOptions
}

// newPlan adds no flags: choosePlan inserts the subcommand into the command line.
func newPlan(e *shell.Env) *cobra.Command {
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
		ValidArgsFunction: shell.CompleteScenarios,
	}
	cmd.AddCommand(newPlanMix(e), newPlanCurve(e), newPlanBacktest(e), newPlanSavings(e), newPlanJoint(e), newPlanFutures(e), newPlanReview(e), newPlanSpot(e), newPlanService(e), newPlanWidth(e), newPlanMerge(e))
	return cmd
}

// ChoosePlan inserts the subcommand into a command line of capcli plan that names none: plan mix for a
// scenario, which stands first or ends in .yaml, or for a --trace; else plan futures for futures, plan
// curve for a demand or a price, and plan mix without any. In a completion request the first and last
// word stay in place.
func ChoosePlan(root *cobra.Command, args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		last := len(args) - 1
		if last < 2 || !strings.HasPrefix(args[last], "-") && !strings.HasPrefix(args[last-1], "-") {
			return args
		}
		return slices.Concat(args[:1], ChoosePlan(root, args[1:last]), args[last:])
	}
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "plan" {
		return args
	}
	given := func(flags ...string) bool {
		return slices.ContainsFunc(rest, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return slices.Contains(flags, name)
		})
	}
	scenario := len(rest) > 0 && !strings.HasPrefix(rest[0], "-") || slices.ContainsFunc(rest, func(word string) bool {
		return strings.HasSuffix(word, ".yaml") || strings.HasSuffix(word, ".yml")
	})
	name := "mix"
	switch {
	case given("--help", "-h"):
		return args
	case scenario, given("--trace"):
	case given("--futures", "--demand-error"):
		name = "futures"
	case given("--demand", "--on-demand", "--term"):
		name = "curve"
	}
	return append([]string{"plan", name}, rest...)
}
