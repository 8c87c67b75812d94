package replay

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/eta"
	"capcli/simulate/policy"
)

// etaOptions are the flags of capcli eta.
type etaOptions struct {
	output    shell.OutputOptions
	trace     trace.Request
	ask       eta.Request
	at, limit string
	seed      uint64
	kueue     shell.KueueOptions
	queue     string
}

func newETA(e *shell.Env) *cobra.Command {
	var o etaOptions
	cmd := &cobra.Command{
		Use:   "eta LOG",
		Short: "Estimate when a job would start, learnt from a job log",
		Long: "eta reads a job log with recorded starts and says when a job would start that is submitted at --at: its place in\n" +
			"the queue, the estimated start with a range that holds it with 80%, the chance of over an hour, what must end\n" +
			"first, and the size that would start at once. It uses only what was known at that time.\n" +
			"--score does this for every job of the log and says how good the estimates were, beside simpler methods.",
		Example: "  capcli eta log.swf.gz --gpus 8 --limit 4h\n" +
			"  capcli eta sacct.txt --now squeue.txt,sinfo.txt --gpus 8 --limit 4h\n" +
			"  capcli eta jobs.parquet --at 2026-03-01T12:00 --gpus 8 --limit 4h --partition a100 --tenant lab\n" +
			"  capcli eta jobs.parquet --score -o csv --out estimates.csv\n" +
			"  capcli eta --kueue objects.json --queue team-a/main --gpus 8 --limit 4h",
		Args: shell.WantArgs("LOG"),
		RunE: func(cmd *cobra.Command, args []string) error { return runETA(cmd.Context(), e, &o, args[0]) },
	}
	f, q := cmd.Flags(), &o.ask
	f.BoolVar(&q.Every, "score", false, "estimate every job of the log at its submission, and score the estimates")
	f.StringVar(&o.at, "at", "", "when the job is submitted, a date or a `TIME` (default: the log's last submission)")
	f.StringSliceVar(&q.Now, "now", nil, "the queue of this moment, beside the log: `FILE` of squeue, and of sinfo for the capacity")
	f.IntVar(&q.GPUs, "gpus", 0, "GPUs of the job: `N`")
	f.StringVar(&o.limit, "limit", "", "its time limit: `TIME`, 4h (default: unknown)")
	f.StringVar(&q.Partition, "partition", "", "use only the jobs of this partition, as a pool of its own: `NAME`")
	f.StringVar(&q.Tenant, "tenant", "", "tenant of the job: `NAME`")
	f.IntVar(&q.Capacity, "capacity", 0, "capacity in GPUs, `N` (default: the highest use so far, a lower bound)")
	f.StringVar(&q.Policy, "policy", "", "also say when this policy would start it, and which jobs it would preempt: `NAME`, one of "+strings.Join(policy.Catalog.Names(), ", "))
	shell.Complete(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	f.IntVar(&q.Priority, "priority", 0, "priority of the job, for the policy or Kueue: `N`")
	f.Uint64Var(&o.seed, "seed", 1, "random seed: `N`")
	shell.AddFormatFlag(cmd, &o.trace)
	shell.AddReadFlag(cmd, &o.trace)
	shell.AddOutputFlags(cmd, &o.output)
	o.addKueue(e, cmd)
	return cmd
}

// request completes the request and refuses wrong flags before the log is read.
func (o *etaOptions) request(input string) (trace.Options, error) {
	opts, err := o.trace.Parse()
	if err != nil {
		return opts, err
	}
	o.ask.Input, o.ask.Seed = input, capcli.Seed(o.seed)
	if err := o.ask.SetTimes(o.at, o.limit, opts.TZ); err != nil {
		return opts, err
	}
	return opts, o.ask.Check()
}

func runETA(ctx context.Context, e *shell.Env, o *etaOptions, name string) error {
	opts, err := o.request(name)
	if err != nil {
		return err
	}
	doc, err := o.answer(ctx, e, name, opts)
	if err != nil {
		return err
	}
	return shell.Emit(e, o.output, doc)
}

func (o *etaOptions) answer(ctx context.Context, e *shell.Env, name string, opts trace.Options) (report.Doc, error) {
	p := shell.NewProgress(e, "jobs")
	h, err := o.ask.Read(ctx, e.Open, name, opts, p.Report)
	if err != nil {
		return report.Doc{}, err
	}
	defer p.End(int64(len(h.Jobs)))
	if o.ask.Every {
		scored, err := h.Score(ctx, o.ask, p.Report)
		if err != nil {
			return report.Doc{}, err
		}
		return tables.ScoredDoc(scored), nil
	}
	a, err := h.Answer(ctx, o.ask, p.Report)
	if err != nil {
		return report.Doc{}, err
	}
	return tables.AnswerDoc(a), nil
}
