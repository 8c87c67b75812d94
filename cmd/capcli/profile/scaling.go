package profile

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/scaling"
)

// scalingOptions are the flags of profile scaling.
type scalingOptions struct {
	query  queryOptions
	ask    scaling.Request
	out    string
	output shell.OutputOptions
}

func newProfileScaling(e *shell.Env) *cobra.Command {
	var o scalingOptions
	cmd := &cobra.Command{
		Use:   "scaling DIR…",
		Short: "Say how much faster a job gets on more GPUs, by its recorded runs",
		Long: "scaling groups the runs of one work, which have the same tenant and command but for numbers and folders, and takes\n" +
			"what each reached: the tokens or samples a second that it told, or with --batch its steps. It fits nothing, and says\n" +
			"what does not compare. --out writes a table of rates for the shapes of a scenario and for plan width --measured.",
		Example: "  capcli profile scaling gpu-profile\n" +
			"  capcli profile scaling fleet --job 'pretrain.py' --out curve.csv\n" +
			"  capcli plan width --measured curve.csv --steps 15000000000 --price H100=2.20",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileScaling(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.ask.Job, "job", "", "runs of one work: those whose job ID or command has this `TEXT`, or matches it with *")
	f.StringVar(&o.ask.Batch, "batch", "", "compare by steps; of more GPUs the whole batch stays, or that of each GPU: `same`, per-gpu")
	f.StringVar(&o.out, "out", "", "write the curves as a table of rates: `CURVE.csv`, or - for stdout")
	shell.Complete(cmd, "batch", func() []string { return scaling.Batches })
	shell.AddFormFlags(cmd, &o.output)
	return cmd
}

func runProfileScaling(ctx context.Context, e *shell.Env, o *scalingOptions, args []string) error {
	if err := o.ask.Check(); err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	sum, err := summarise(ctx, e, args, q, in)
	if err != nil {
		return err
	}
	r, err := o.ask.Measure(sum, args)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := shell.WriteOutput(e, o.out, func(w io.Writer) error { return r.WriteCSV(w) }); err != nil {
			return err
		}
		e.Note(fmt.Sprintf("wrote %s: %s", capcli.Plural(int64(len(r.Curves)), "curve"), o.out))
		if o.out == "-" {
			return nil
		}
	}
	return shell.Emit(e, o.output, tables.ScalingDoc(r))
}
