package main

import (
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate/plan/joint"
)

// jointOptions are the flags of capcli plan joint.
type jointOptions struct {
	output outputOptions
	curve  planCurveOptions // how the demand is read
	market string
	moves  []string
}

func newPlanJoint(e *env) *cobra.Command {
	var o jointOptions
	cmd := &cobra.Command{
		Use:   "joint DEMAND",
		Short: "Plan several GPU models and products together: reservations, blocks, machines, savings plans",
		Long: "DEMAND is a table (unique_id, ds, y) with the GPUs of each model. The market says what each model costs on demand\n" +
			"and what can be bought: reservations, capacity blocks with dates, machines, and plans that commit to money and that\n" +
			"all models share. The plan is the cheapest found, with a lower bound on the cost of any plan.",
		Example: "  capcli plan joint demand.csv --market market.yaml\n" +
			"  capcli plan joint jobs.parquet --by gpu_model --step 1h --market market.yaml -o json",
		Args: wantArgs("DEMAND"),
		RunE: func(cmd *cobra.Command, args []string) error { return runPlanJoint(cmd.Context(), e, &o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.market, "market", "", "what can be bought: YAML `FILE`; see docs/plan.md")
	f.StringArrayVar(&o.moves, "move", nil, "work that may move: up to 30% of A100's on H100, 2 hours in 1, is `A100:H100=2.0@30%`")
	h := &o.curve.history
	f.StringSliceVar(&h.ask.By, "by", nil, "one series of a job log per `KEY`: gpu_model")
	f.StringVar(&h.step, "step", "", "`STEP` between values: 15m, 1h, 1d (default: as in a table; else 1h)")
	addDemandFlags(cmd, h)
	return cmd
}

func runPlanJoint(ctx context.Context, e *env, o *jointOptions, file string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.market == "" {
		return &usageError{text: "plan joint needs a market: --market is missing", hint: "--market market.yaml; see docs/plan.md"}
	}
	text, err := readFile(e, o.market, play.ScenarioMax)
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
	hs, err := o.curve.history.readDemand(ctx, e, file)
	if err != nil {
		return err
	}
	r, err := joint.Plan(ctx, market, hs)
	if err != nil {
		return err
	}
	return emitPart(e, o.output, jointDoc(r), r.Partial)
}

// jointDoc is the report of a joint plan.
func jointDoc(r *joint.Result) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Notes: r.Notes, Tables: append(jointUse(r),
		report.Figures("totals", r, []report.Field[*joint.Result]{
			{Name: "cost_usd", Head: "cost"},
			{Name: "cost_usd_per_year", Head: "a year"},
			{Name: "commitments_usd", Head: "commitments"},
			{Name: "on_demand_usd", Head: "on demand"},
			{Name: "all_on_demand_cost_usd", Head: "all on demand"},
			{Name: "bound_usd", Head: "lower bound"},
			{Name: "gap", Head: "optimality gap, at most", As: report.AsPercent},
		}),
	)}
}

func jointPurchases(list []joint.Purchase) report.Table {
	return report.Fill(report.Table{Name: "purchases", Title: "What to buy"}, list, []report.Field[joint.Purchase]{
		{Name: "start"},
		{Name: "end"},
		{Name: "offer"},
		{Name: "product", Priority: 2},
		{Name: "gpu_model", Head: "model"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "commitment_usd_per_hour", Head: "$/hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "ended_early", Head: "ended early", Priority: 3},
		{Name: "extended", Priority: 3},
	})
}

// jointUse returns the tables of what is bought, what moves, and what serves each model.
func jointUse(r *joint.Result) []report.Table {
	fields, tables := []report.Field[joint.Model]{
		{Name: "gpu_model", Head: "model"},
		{Name: "wanted_gpu_hours", Head: "demand"},
		{Name: "reserved_gpu_hours", Head: "reservations"},
		{Name: "plan_gpu_hours", Head: "savings plans"},
		{Name: "on_demand_gpu_hours", Head: "on demand"},
	}, []report.Table{jointPurchases(r.Purchases)}
	if len(r.Moves) > 0 {
		fields = append(fields, []report.Field[joint.Model]{{Name: "moved_out_gpu_hours", Head: "moved out"}, {Name: "moved_in_gpu_hours", Head: "moved in"}}...)
		tables = append(tables, report.Fill(report.Table{Name: "moves", Title: "GPU-hours that move, between changes of what is bought"}, r.Moves, []report.Field[joint.Moved]{
			{Name: "start"},
			{Name: "end"},
			{Name: "from_gpu_model", Head: "from"},
			{Name: "to_gpu_model", Head: "to"},
			{Name: "may_move_gpu_hours", Head: "may move"},
			{Name: "moved_gpu_hours", Head: "moved"},
			{Name: "arrived_gpu_hours", Head: "as hours of to"},
			{Name: "moving_hours", Head: "in hours"},
		}))
	}
	return append(tables, report.Fill(report.Table{Name: "gpu_models", Title: "GPU-hours of each model, by what serves them"}, r.Models, fields))
}
