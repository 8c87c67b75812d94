package plan

import (
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/play"
)

// jointOptions are the flags of capcli plan joint.
type jointOptions struct {
	output shell.OutputOptions
	curve  planCurveOptions // how the demand is read
	market string
	moves  []string
}

func newPlanJoint(e *shell.Env) *cobra.Command {
	var o jointOptions
	cmd := &cobra.Command{
		Use:   "joint DEMAND",
		Short: "Plan several GPU models and products together: reservations, blocks, machines, savings plans",
		Long: "DEMAND is a table (unique_id, ds, y) with the GPUs of each model. The market says what each model costs on demand\n" +
			"and what can be bought: reservations, capacity blocks with dates, machines, and plans that commit to money and that\n" +
			"all models share. The plan is the cheapest found, with a lower bound on the cost of any plan.",
		Example: "  capcli plan joint demand.csv --market market.yaml\n" +
			"  capcli plan joint jobs.parquet --by gpu_model --step 1h --market market.yaml -o json",
		Args: shell.WantArgs("DEMAND"),
		RunE: func(cmd *cobra.Command, args []string) error { return runPlanJoint(cmd.Context(), e, &o, args[0]) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.market, "market", "", "what can be bought: YAML `FILE`; see docs/plan.md")
	f.StringArrayVar(&o.moves, "move", nil, "work that may move: up to 30% of A100's on H100, 2 hours in 1, is `A100:H100=2.0@30%`")
	h := &o.curve.history
	f.StringSliceVar(&h.Ask.By, "by", nil, "one series of a job log per `KEY`: gpu_model")
	f.StringVar(&h.Step, "step", "", "`STEP` between values: 15m, 1h, 1d (default: as in a table; else 1h)")
	addDemandFlags(cmd, h)
	return cmd
}

func runPlanJoint(ctx context.Context, e *shell.Env, o *jointOptions, file string) error {
	if o.market == "" {
		return &shell.UsageError{Text: "plan joint needs a market: --market is missing", Hint: "--market market.yaml; see docs/plan.md"}
	}
	text, err := shell.ReadFile(e, o.market, play.ScenarioMax)
	if err != nil {
		return err
	}
	market, err := scenarios.ParseMarket(o.market, text)
	if err == nil {
		err = market.AddMoves(o.moves)
	}
	if err != nil {
		return err
	}
	hs, err := o.curve.history.ReadDemand(ctx, e, file)
	if err != nil {
		return err
	}
	r, err := joint.Plan(ctx, market, hs)
	if err != nil {
		return err
	}
	return emitPart(e, o.output, tables.JointDoc(r), r.Partial)
}
