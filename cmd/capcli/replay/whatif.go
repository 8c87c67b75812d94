package replay

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

func newWhatIf(e *shell.Env) *cobra.Command {
	var o SimulateOptions
	cmd := &cobra.Command{
		Use:   "whatif SCENARIO [CHANGE…]",
		Short: "What changes are worth: cost, GPU-hours and waits with and without",
		Long: "Plays a scenario as it is, with each change alone, and with all together, under the same seeds. A change is\n" +
			"path=value, as --set takes it. Without any, or with speed, the changes are the entries of the scenario's speed block:\n" +
			"input that keeps up, quantised or compiled models, a better batch.",
		Example: "  capcli whatif input-kept-up\n" +
			"  capcli whatif plan.yaml capacity[0].gpus=72 overflow.patience=1h --trace jobs.parquet --runs 5\n" +
			"  capcli whatif default 'speed=[{classes: [training], busy: 60% -> 90%}]'",
		RunE: func(cmd *cobra.Command, args []string) error { return runWhatIf(cmd.Context(), e, &o, args) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.AddCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of the scenario's",
		"scheduling `POLICY`, in place of the scenario's", "`PLACEMENT`, in place of the scenario's")
	shell.AddFormatFlag(cmd, &o.Ask.Read)
	shell.AddReadFlag(cmd, &o.Ask.Read)
	shell.AddPricesFlag(cmd, &o.Prices)
	cmd.Flags().IntVar(&o.Runs, "runs", 1, "replications, `N`; differences then have the range of 90% of them")
	shell.CompleteList(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.CompleteList(cmd, "placement", func() []string { return shell.Entries(&placement.Catalog) })
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func runWhatIf(ctx context.Context, e *shell.Env, o *SimulateOptions, args []string) (err error) {
	if err := o.Check(); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return &shell.UsageError{Text: "whatif needs SCENARIO: SCENARIO is missing", Hint: "capcli whatif plan.yaml capacity[0].gpus=72"}
	case len(o.Policies) > 1 || len(o.Placements) > 1:
		return &shell.UsageError{Text: "whatif takes one --policy and one --placement", Hint: "capcli whatif plan.yaml policy=fifo policy=sjf tries others"}
	}
	o.Ask.Scenario, o.Ask.Policy, o.Ask.Place = args[0], shell.OrOne(o.Policies)[0], shell.OrOne(o.Placements)[0]
	if o.Ask.Prices, err = shell.OwnPrices(e, o.Prices); err != nil {
		return err
	}
	p := shell.NewProgress(e, "runs")
	worth, runs, err := whatif.Worth(ctx, shell.NewMaker(e), o.Ask, args[1:], play.Request{Runs: o.Runs, Note: e.Note, Progress: p.Report})
	if err != nil {
		return err
	}
	p.End(int64(len(runs) * o.Runs))
	doc := tables.CompareDoc(worth)
	doc.Lead = whatif.WorthLead(worth)
	for _, r := range runs {
		doc.Notes = append(doc.Notes, play.Notes(r)...)
	}
	slices.Sort(doc.Notes)
	doc.Notes = slices.Compact(doc.Notes)
	return shell.Emit(e, o.output, doc)
}
