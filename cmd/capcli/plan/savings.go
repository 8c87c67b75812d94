package plan

import (
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/savings"
)

// savingsOptions are the flags of capcli plan savings.
type savingsOptions struct {
	output shell.OutputOptions
	curve  planCurveOptions // how the use is read
	skus   []string
}

func newPlanSavings(e *shell.Env) *cobra.Command {
	var o savingsOptions
	cmd := &cobra.Command{
		Use:   "savings USE",
		Short: "Find the best savings plan, in dollars an hour, for several kinds of GPU",
		Long: "USE is a table (unique_id, ds, y) with the GPUs of each kind by the hour. A savings plan commits to dollars an hour,\n" +
			"used or lost each hour; it covers the kind with the highest discount first. Its best size is found exactly.",
		Example: "  capcli plan savings use.csv --sku h100=3.90:2.45 --sku a100=1.80:1.25",
		Args:    shell.WantArgs("USE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlanSavings(cmd.Context(), e, &o, args[0]) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringArrayVar(&o.skus, "sku", nil, "series and its prices per GPU-hour, `NAME=ON_DEMAND:PLAN` (may be repeated)")
	h := &o.curve.history
	f.StringVar((*string)(&h.Ask.Gaps), "gaps", "", "steps without a value: `WHAT`, error (default), zero, linear or previous")
	f.StringVar(&h.Ask.ID, "id-col", "", "`NAME` of the column that identifies the series (unique_id)")
	f.StringVar(&h.Ask.Time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&h.Ask.Value, "value-col", "", "`NAME` of the column of values (y)")
	bundle.Add(cmd, "read", "settings of the reader, `KEY=VALUE`,…: id=NAME, time=NAME, value=NAME of columns, gaps=zero", true,
		bundle.Key{"id", "id-col"}, bundle.Key{"time", "time-col"}, bundle.Key{"value", "value-col"}, bundle.Key{"gaps", "gaps"})
	return cmd
}

func runPlanSavings(ctx context.Context, e *shell.Env, o *savingsOptions, file string) error {
	question, err := (&savings.Request{SKUs: o.skus}).Parse()
	if err != nil {
		return err
	}
	hs, err := o.curve.history.ReadDemand(ctx, e, file)
	if err != nil {
		return err
	}
	return shell.Answer(e, o.output, tables.SavingsDoc)(question.Plan(hs))
}
