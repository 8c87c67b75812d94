package profile

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
	"capcli/profile/anomaly"
	"capcli/profile/store"
)

// checkOptions are the flags of profile check.
type checkOptions struct {
	query  queryOptions
	failIf []string
	price  string
	output shell.OutputOptions
}

func newProfileCheck(e *shell.Env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check DIR…",
		Short: "Find what went wrong with recorded GPUs, and since when",
		Long: "check finds levels that shift, memory that creeps, errors that rise, GPUs slower than their peers, clocks held back,\n" +
			"periods that are lost and gaps in the recording, each with its date, evidence, confidence and what to do.",
		Example: "  capcli profile check fleet\n" +
			"  capcli profile check gpu-07 --from 2026-11-16 --fail-if 'critical>0' --fail-if 'memory_creep>0'\n" +
			"  capcli profile check fleet --price 2.20 --fail-if 'idle_cost_usd>500' -o json",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileCheck(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit 5 if this is true: `'memory_creep>0'` (may be repeated); a kind of anomaly, or "+strings.Join(otherFigures(), ", "))
	f.StringVar(&o.price, "price", "", "price of a GPU-hour, `USD`, for idle_cost_usd")
	shell.AddOutputFlags(cmd, &o.output)
	shell.Complete(cmd, "fail-if", func() []string { return shell.Entries(&anomaly.Figures) })
	return cmd
}

// otherFigures are the figures of conditions that are no kinds of anomalies.
func otherFigures() (out []string) {
	for _, name := range anomaly.Figures.Names() {
		if _, err := anomaly.Kinds.Get(name); err != nil {
			out = append(out, name)
		}
	}
	return out
}

func runProfileCheck(ctx context.Context, e *shell.Env, o *checkOptions, args []string) error {
	checks, err := anomaly.ParseChecks(o.failIf)
	if err != nil {
		return err
	}
	price, err := priceOf(o.price)
	if err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	folders, err := openFolders(e, args)
	if err != nil {
		return err
	}
	var f anomaly.Finder
	z := profile.NewSummarizer(in)
	err = readTicks(ctx, e, folders, q, func(t store.HostTick) error {
		f.Add(t.Host, t.Tick)
		z.Add(t.Host, t.Tick)
		return nil
	})
	if err != nil {
		return err
	}
	r, err := f.Result(args)
	if err != nil {
		return err
	}
	verdict := r.Judge(checks, &z.Summary().Result(args, price, in).Total)
	if err := shell.Emit(e, o.output, tables.AnomalyDoc(r)); err != nil {
		return err
	}
	return verdict
}
