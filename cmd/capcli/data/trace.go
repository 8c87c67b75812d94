package data

import (
	"context"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/trace"
)

func newTrace(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trace",
		Short:   "Inspect a job log",
		Example: "  capcli trace describe jobs.parquet",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(newDescribe(e))
	return cmd
}

// describeOptions are the flags of capcli trace describe.
type describeOptions struct {
	trace  trace.Request
	by     []string
	output shell.OutputOptions
}

func newDescribe(e *shell.Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Describe a job log: sizes, lengths, arrivals, tenants, demand",
		Long: "describe reads a job log in any format that import reads, and says how many jobs it holds, how\n" +
			"large and how long they are, when they arrive, whose they are, and how many GPUs they asked for and\n" +
			"held. FILE may be - for stdin.",
		Example: "  capcli trace describe jobs.parquet\n" +
			"  capcli trace describe cluster_log.csv -o json\n" +
			"  capcli trace describe sacct.psv --read tz=UTC,tag=project:WCKey --by project\n" +
			"  capcli trace describe jobs.parquet --table tenants -o csv --out tenants.csv",
		Args: shell.WantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runDescribe(cmd.Context(), e, o, args[0]) },
	}
	shell.AddFormatFlag(cmd, &o.trace)
	shell.AddReadFlag(cmd, &o.trace)
	cmd.Flags().StringSliceVar(&o.by, "by", nil, "first show the jobs by the values of these tags: `TAG`,…")
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runDescribe(ctx context.Context, e *shell.Env, o describeOptions, name string) error {
	opts, err := o.trace.Parse()
	if err != nil {
		return err
	}
	in, closer, err := shell.OpenInput(e, name)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	r, err := trace.Open(in, opts)
	if err != nil {
		return err
	}
	p := shell.NewProgress(e, "jobs")
	sum, err := trace.Describe(shell.Checked(ctx, r.Jobs(), p), opts.TZ)
	p.End(sum.Jobs)
	if err != nil {
		return err
	}
	if len(o.by) > 0 {
		if err := sum.KeepTags(o.by); err != nil {
			return err
		}
	}
	rep := r.Report()
	d := tables.Description{ByTag: o.by != nil, Description: &trace.Description{Schema: "capcli/trace_describe/v1", Input: in.Name, Read: rep, Summary: sum}}
	if err := shell.Emit(e, o.output, d.Doc()); err != nil {
		return err
	}
	if d.Read.Cut {
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: in.Name + " is truncated; this describes only what could be read"}
	}
	return nil
}
