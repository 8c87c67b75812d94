package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

func newWhatIf(e *env) *cobra.Command {
	var o simulateOptions
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
	addOutputFlags(cmd, &o.output)
	o.addCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of the scenario's",
		"scheduling `POLICY`, in place of the scenario's", "`PLACEMENT`, in place of the scenario's")
	addFormatFlag(cmd, &o.ask.Read)
	addReadFlag(cmd, &o.ask.Read)
	addPricesFlag(cmd, &o.prices)
	cmd.Flags().IntVar(&o.runs, "runs", 1, "replications, `N`; differences then have the range of 90% of them")
	completeList(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	completeList(cmd, "placement", func() []string { return entries(&placement.Catalog) })
	cmd.ValidArgsFunction = completeScenarios
	return cmd
}

func runWhatIf(ctx context.Context, e *env, o *simulateOptions, args []string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return &usageError{text: "whatif needs SCENARIO: SCENARIO is missing", hint: "capcli whatif plan.yaml capacity[0].gpus=72"}
	case len(o.policies) > 1 || len(o.placements) > 1:
		return &usageError{text: "whatif takes one --policy and one --placement", hint: "capcli whatif plan.yaml policy=fifo policy=sjf tries others"}
	}
	o.ask.Scenario, o.ask.Policy, o.ask.Place = args[0], orOne(o.policies)[0], orOne(o.placements)[0]
	if o.ask.Prices, err = ownPrices(e, o.prices); err != nil {
		return err
	}
	p := newProgress(e, "runs")
	worth, runs, err := whatif.Worth(ctx, newMaker(e), o.ask, args[1:], play.Request{Runs: o.runs, Note: e.note, Progress: p.report})
	if err != nil {
		return err
	}
	p.end(int64(len(runs) * o.runs))
	doc := compareDoc(worth)
	doc.Lead = whatif.WorthLead(worth)
	for _, r := range runs {
		doc.Notes = append(doc.Notes, play.Notes(r)...)
	}
	slices.Sort(doc.Notes)
	doc.Notes = slices.Compact(doc.Notes)
	return emit(e, o.output, doc)
}
