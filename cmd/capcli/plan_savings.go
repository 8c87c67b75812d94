package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/plan/savings"

	"capcli/cmd/bundle"
)

// savingsOptions are the flags of capcli plan savings.
type savingsOptions struct {
	output outputOptions
	curve  planCurveOptions // how the use is read
	skus   []string
}

func newPlanSavings(e *env) *cobra.Command {
	var o savingsOptions
	cmd := &cobra.Command{
		Use:   "savings USE",
		Short: "Find the best savings plan, in dollars an hour, for several kinds of GPU",
		Long: "USE is a table (unique_id, ds, y) with the GPUs of each kind by the hour. A savings plan commits to dollars an hour,\n" +
			"used or lost each hour; it covers the kind with the highest discount first. Its best size is found exactly.",
		Example: "  capcli plan savings use.csv --sku h100=3.90:2.45 --sku a100=1.80:1.25",
		Args:    wantArgs("USE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlanSavings(cmd.Context(), e, &o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringArrayVar(&o.skus, "sku", nil, "series and its prices per GPU-hour, `NAME=ON_DEMAND:PLAN` (may be repeated)")
	h := &o.curve.history
	f.StringVar((*string)(&h.ask.Gaps), "gaps", "", "steps without a value: `WHAT`, error (default), zero, linear or previous")
	f.StringVar(&h.ask.ID, "id-col", "", "`NAME` of the column that identifies the series (unique_id)")
	f.StringVar(&h.ask.Time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&h.ask.Value, "value-col", "", "`NAME` of the column of values (y)")
	bundle.Add(cmd, "read", "settings of the reader, `KEY=VALUE`,…: id=NAME, time=NAME, value=NAME of columns, gaps=zero", true,
		bundle.Key{"id", "id-col"}, bundle.Key{"time", "time-col"}, bundle.Key{"value", "value-col"}, bundle.Key{"gaps", "gaps"})
	return cmd
}

func runPlanSavings(ctx context.Context, e *env, o *savingsOptions, file string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	question, err := (&savings.Request{SKUs: o.skus}).Parse()
	if err != nil {
		return err
	}
	hs, err := o.curve.history.readDemand(ctx, e, file)
	if err != nil {
		return err
	}
	r, err := question.Plan(hs)
	if err != nil {
		return err
	}
	return emit(e, o.output, savingsDoc(r))
}

func savingsDoc(r *savings.Result) report.Doc {
	figures := []report.Field[*savings.Result]{
		{Name: "commitment_usd_per_hour", Head: "commit, an hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "all_on_demand_cost_usd", Head: "all on demand"},
		{Name: "unused_usd", Head: "of the commitment unused"},
	}
	if r.Utilisation != nil {
		figures = append(figures, report.Field[*savings.Result]{Name: "utilisation", Head: "utilisation", As: report.AsPercent})
	}
	return report.Doc{
		Lead:   fmt.Sprintf("Commit %s an hour: %s over %s hours, %s all on demand; no other commitment costs less.", r.Commit, r.Cost, capcli.Grouped(int64(r.Hours)), r.AllOnDemand),
		Tables: []report.Table{report.Figures("savings", r, figures)}, Data: r, Notes: r.Notes,
	}
}
