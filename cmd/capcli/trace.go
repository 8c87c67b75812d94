package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/trace"
)

func newTrace(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trace",
		Short:   "Inspect a job log",
		Example: "  capcli trace describe jobs.parquet",
	}
	group(cmd)
	cmd.AddCommand(newDescribe(e))
	return cmd
}

// describeOptions are the flags of capcli trace describe.
type describeOptions struct {
	trace  trace.Request
	by     []string
	output outputOptions
}

func newDescribe(e *env) *cobra.Command {
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
		Args: wantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runDescribe(cmd.Context(), e, o, args[0]) },
	}
	addFormatFlag(cmd, &o.trace)
	addReadFlag(cmd, &o.trace)
	cmd.Flags().StringSliceVar(&o.by, "by", nil, "first show the jobs by the values of these tags: `TAG`,…")
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runDescribe(ctx context.Context, e *env, o describeOptions, name string) error {
	opts, err := o.trace.Parse()
	if err != nil {
		return err
	}
	if err := o.output.check(); err != nil {
		return err
	}
	in, closer, err := openInput(e, name)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	r, err := trace.Open(in, opts)
	if err != nil {
		return err
	}
	p := newProgress(e, "jobs")
	sum, err := trace.Describe(checked(ctx, r.Jobs(), p), opts.TZ)
	p.end(sum.Jobs)
	if err != nil {
		return err
	}
	if len(o.by) > 0 {
		if err := sum.KeepTags(o.by); err != nil {
			return err
		}
	}
	rep := r.Report()
	d := description{o.by != nil, &trace.Description{Schema: "capcli/trace_describe/v1", Input: in.Name, Read: rep, Summary: sum}}
	if err := emit(e, o.output, d.doc()); err != nil {
		return err
	}
	if d.Read.Cut {
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: in.Name + " is truncated; this describes only what could be read"}
	}
	return nil
}

// description presents the description of a job log.
type description struct {
	byTag bool // the tags come first
	*trace.Description
}

// lead describes the whole log in one sentence.
func (d *description) lead() string {
	jobs := d.Jobs - d.CPUOnlyJobs
	if jobs == 0 {
		return fmt.Sprintf("%s %s, none of which asks for a GPU.", capcli.Grouped(d.Jobs), capcli.Plural(d.Jobs, "job"))
	}
	text := fmt.Sprintf("%s GPU %s, submitted %s", capcli.Grouped(jobs), capcli.Plural(jobs, "job"), d.FirstSubmit.Date())
	if d.FirstSubmit.Date() != d.LastSubmit.Date() {
		text += " to " + d.LastSubmit.Date()
	}
	return text + fmt.Sprintf(", demand of %s GPU-hours: %s GPUs on average, %s in the busiest hour.",
		amountText(d.GPUHours), amountText(d.Demand.MeanGPUs), amountText(d.Demand.PeakGPUs))
}

// amountText formats an amount as a whole number, or with one decimal below ten.
func amountText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

// doc is the report of the description.
func (d *description) doc() report.Doc {
	doc := report.Doc{
		Lead: d.lead(), Notes: d.Read.Remarks(), Data: d.Description, Charts: d.arrivals(),
		Tables: []report.Table{
			d.figures(), gpuSizeTable(d.Sizes), lengthTable(d.RunClasses),
			shareTable("tenants", "tenant", d.Tenants),
			shareTable("partitions", "partition", d.Partitions),
			shareTable("gpu_models", "GPU model", d.GPUModels),
			shareTable("states", "state", d.States),
			d.hours(), d.weekdays(),
		},
	}
	at := len(doc.Tables)
	if d.byTag {
		at = 0
	}
	for _, t := range d.Tags {
		doc.Tables = slices.Insert(doc.Tables, at, shareTable("tag_"+t.Tag, t.Tag, t.Labelled()))
		at++
	}
	return doc
}
