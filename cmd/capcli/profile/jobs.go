package profile

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/logs/jobfile"
)

// profileJobsOptions are the flags of profile jobs.
type profileJobsOptions struct {
	query queryOptions
	out   string
	speed string
	share bool
}

func newProfileJobs(e *shell.Env) *cobra.Command {
	var o profileJobsOptions
	cmd := &cobra.Command{
		Use:   "jobs DIR… --out JOBS",
		Short: "Write the jobs that were seen as a jobs file, for simulate and forecast",
		Long: "jobs writes one row for each job that held a GPU: its times, its GPUs, its tenant, and as its class\n" +
			"the verdict on it, with tags for its kind of work and its wait for input. The ending of JOBS chooses the form:\n" + jobfile.Endings + ".\n" +
			"Times run from its first to its last sample; a profile does not know when it was submitted.\n" +
			"With --share, a job of one GPU that used half of it or less asks for that part: the most of its memory in use and\n" +
			"a tenth more, and its SM and DRAM activity at p95, rounded up to 5%. Memory is what its allocator held: as much as\n" +
			"it needed, or more. Sharing isolates nothing: test the effect on the other jobs first.\n" +
			"With --speed-out, what jobs gain if they never wait for input is written as the speed block of a scenario.",
		Example: "  capcli profile jobs gpu-profile --out jobs.parquet\n" +
			"  capcli profile jobs gpu-profile --share --out shared.parquet\n" +
			"  capcli simulate reserve.yaml --trace jobs.parquet",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileJobs(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "jobs file to write, or - for CSV on stdout: `JOBS` (required)")
	cmd.Flags().BoolVar(&o.share, "share", false, "jobs that need half of a GPU or less ask for that part alone")
	cmd.Flags().StringVar(&o.speed, "speed-out", "", "also write the speed of jobs whose input keeps up, as a block of a scenario: `SPEED.yaml`")
	return cmd
}

func runProfileJobs(ctx context.Context, e *shell.Env, o *profileJobsOptions, args []string) error {
	if o.out == "" {
		return &shell.UsageError{Text: "profile jobs wants --out JOBS", Hint: "--out jobs.parquet"}
	}
	file, err := jobfile.FileOf(o.out)
	if err != nil {
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
	jobs, parts := sum.Record(o.share)
	if len(jobs) == 0 {
		return &capcli.InputError{File: args[0], Text: "expected jobs that held a GPU, found none", Hint: "only some users may see processes: run profile as root, with --processes 5s"}
	}
	file.Extra.Tags = []string{profile.InputWaitTag, profile.WorkTag}
	err = shell.WriteOutput(e, o.out, func(w io.Writer) error {
		return file.Write(w, capcli.StreamJobs(jobs), map[string]string{"source": "capcli profile"})
	})
	if err != nil {
		return err
	}
	if o.speed != "" {
		err := shell.WriteOutput(e, o.speed, func(w io.Writer) error {
			n, left, err := sum.WriteSpeed(w)
			e.Note(fmt.Sprintf("%d %s would gain 5%% or more if input kept up, %d more left out: %s", n, capcli.Plural(int64(n), "job"), left, o.speed))
			return err
		})
		if err != nil {
			return err
		}
	}
	if o.share {
		e.Note(fmt.Sprintf("%s of them could share a GPU: they need %.1f GPUs together and held %s", capcli.Grouped(parts.Jobs), float64(parts.Milli)/1000, capcli.Grouped(parts.Jobs)))
	}
	e.Note(fmt.Sprintf("wrote %s %s: %s", capcli.Grouped(int64(len(jobs))), capcli.Plural(int64(len(jobs)), "job"), o.out))
	return nil
}
