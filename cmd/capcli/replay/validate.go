package replay

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/trace"
	"capcli/scenarios/validate"
	"capcli/simulate/policy"
)

// validateOptions are the flags of capcli validate.
type validateOptions struct {
	ask      validate.Request
	read     trace.Request
	output   shell.OutputOptions
	capacity string
	warmUp   string
	jobsOut  string
}

func newValidate(e *shell.Env) *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use:   "validate LOG",
		Short: "Validate the simulation: replay a log that records starts, and compare the waits",
		Long: "Replays the past with the capacity that was there, and compares the waits with those that the log\n" +
			"records: their quantiles, job by job, and against the floor that 30 s of jitter in the run times\n" +
			"alone would cause. Apart from that it says what of the waiting was no lack of GPUs: jobs that would\n" +
			"have fitted, jobs that were overtaken, times without starts. LOG needs submit, start and end of each\n" +
			"job; with a column eligible, waits count from then. Jobs of SWF logs hold processors, and a log\n" +
			"without GPUs counts CPUs.",
		Example: "  capcli validate sacct.psv.gz --capacity 512\n" +
			"  capcli validate KTH-SP2.swf.gz --capacity 100 --policy fifo -o json\n" +
			"  capcli validate log.csv --read gpus=nodes,limit_s=limit --capacity capacity.csv --fit",
		Args: shell.WantArgs("LOG"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ask.Log = args[0]
			return runValidate(cmd.Context(), e, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.capacity, "capacity", "", "GPUs (processors, CPUs) that there were: `N`, or a CSV FILE with time,capacity or a list of nodes with gpus; else the log's highest use")
	f.StringVar(&o.ask.Policy, "policy", "easy", "`NAME` of the policy of the replay")
	f.BoolVar(&o.ask.Perfect, "perfect-estimates", false, "the policy knows true run times, not only the limits that users asked for")
	f.BoolVar(&o.ask.Fit, "fit", false, "also choose policy and settings on the earlier half, and judge them on the later")
	f.StringVar(&o.ask.Partition, "partition", "", "only jobs of the partition `NAME`")
	f.StringVar(&o.ask.GPUModel, "gpu-model", "", "only jobs that want the GPU model `NAME`")
	f.StringVar(&o.ask.From, "from", "", "replay from this `TIME` on (2026-03-01, or 14d after the first submission), with what ran and waited then")
	f.StringVar(&o.warmUp, "warm-up", "auto", "leave out jobs queued in the first `TIME`: 7d; auto is a week of a log of four weeks or more in which jobs wait")
	f.StringVar(&o.jobsOut, "jobs-out", "", "write recorded and simulated start of each job to this `FILE` (csv)")
	shell.AddFormatFlag(cmd, &o.read)
	shell.AddReadFlag(cmd, &o.read)
	shell.AddOutputFlags(cmd, &o.output)
	shell.Complete(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.Complete(cmd, "warm-up", func() []string { return []string{"auto", "0", "7d", "14d"} })
	return cmd
}

func (o *validateOptions) request() (err error) {
	if o.ask.Read, err = o.read.Parse(); err != nil {
		return err
	}
	o.ask.WarmUp = validate.AutoWarmUp
	if o.warmUp != "auto" {
		if o.ask.WarmUp, err = capcli.ParseSeconds(o.warmUp); err != nil {
			return &capcli.RequestError{Field: "warm-up", Text: err.Error(), Hint: "for example --warm-up 7d"}
		}
	}
	if n, err := strconv.ParseInt(o.capacity, 10, 64); err == nil {
		o.ask.Capacity = n
		if n < 1 {
			return &capcli.RequestError{Field: "capacity", Text: "wants 1 or more, or a file, found " + o.capacity}
		}
	} else {
		o.ask.CapacityFile = o.capacity
	}
	return o.ask.Check()
}

func runValidate(ctx context.Context, e *shell.Env, o *validateOptions) error {
	if err := o.request(); err != nil {
		return err
	}
	p := shell.NewProgress(e, "jobs")
	r, err := validate.Validate(ctx, o.ask, e.Open, e.Note, func(n int64) { p.Report(n, 0) })
	if err != nil {
		return err
	}
	p.End(int64(r.Jobs))
	if o.jobsOut != "" {
		if err := shell.WriteOutput(e, o.jobsOut, func(w io.Writer) error { return validate.WriteJobs(w, r.Rows(), report.Guard) }); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.ValidateDoc(r, o.output.Shape(e)))
}
