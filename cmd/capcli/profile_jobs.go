package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/jobfile"
)

// profileJobsOptions are the flags of profile jobs.
type profileJobsOptions struct {
	query queryOptions
	out   string
	share bool
}

func newProfileJobs(e *env) *cobra.Command {
	var o profileJobsOptions
	cmd := &cobra.Command{
		Use:   "jobs DIR… --out JOBS",
		Short: "Write the jobs that were seen as a jobs file, for simulate and forecast",
		Long: "jobs writes one row for each job that held a GPU: when it was seen, on how many GPUs, whose it was, and as its class\n" +
			"what it did (the verdict). The ending of JOBS says as what:\n" + jobfile.Endings + ".\n" +
			"Times are those between its first and last sample; when it was submitted, a profile cannot know.\n" +
			"With --share a job of one GPU that used half of it or less wants that part alone: the most of its memory in use and\n" +
			"a tenth more, and of SM and DRAM activity at p95, up to the next 5%. Memory is what its allocator held: as much as\n" +
			"it needed, or more. What is shared is not kept apart: see what it does to the others before you do it.",
		Example: "  capcli profile jobs gpu-profile --out jobs.parquet\n" +
			"  capcli profile jobs gpu-profile --share --out shared.parquet\n" +
			"  capcli simulate reserve.yaml --trace jobs.parquet",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileJobs(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "the jobs file to write, or - for CSV on stdout: `JOBS` (required)")
	cmd.Flags().BoolVar(&o.share, "share", false, "jobs that need half of a GPU or less want that part alone")
	return cmd
}

func runProfileJobs(ctx context.Context, e *env, o *profileJobsOptions, args []string) error {
	if o.out == "" {
		return &usageError{text: "profile jobs wants --out JOBS", hint: "--out jobs.parquet"}
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
		return &capcli.InputError{File: args[0], Text: "expected jobs that held a GPU, found none", Hint: "processes are told to who may see them: run profile as root, with --processes 5s"}
	}
	stream := func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
	err = writeOutput(e, o.out, func(w io.Writer) error { return file.Write(w, stream, map[string]string{"source": "capcli profile"}) })
	if err != nil {
		return err
	}
	if o.share {
		e.note(fmt.Sprintf("%s of them could share a GPU: they want %.1f GPUs together where they held %s", capcli.Grouped(parts.Jobs), float64(parts.Milli)/1000, capcli.Grouped(parts.Jobs)))
	}
	e.note(fmt.Sprintf("wrote %s %s: %s", capcli.Grouped(int64(len(jobs))), capcli.Plural(int64(len(jobs)), "job"), o.out))
	return nil
}
