package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/trace"
)

func newTrace(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trace",
		Short:   "Look into a job log",
		Example: "  capcli trace describe jobs.parquet",
	}
	group(cmd)
	cmd.AddCommand(newDescribe(e))
	return cmd
}

// describeOptions are what the flags of trace describe say.
type describeOptions struct {
	trace  traceOptions
	output outputOptions
}

func newDescribe(e *env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Say what is in a job log: sizes, lengths, arrivals, tenants, demand",
		Long: "describe reads a job log in any format that import reads, and says how many jobs it holds, how\n" +
			"large and how long they are, when they come, whose they are, and how many GPUs they wanted and\n" +
			"held. FILE may be - for stdin.",
		Example: "  capcli trace describe jobs.parquet\n" +
			"  capcli trace describe cluster_log.csv -o json\n" +
			"  capcli trace describe jobs.parquet --table tenants -o csv --out tenants.csv",
		Args: wantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runDescribe(cmd.Context(), e, o, args[0]) },
	}
	addFormatFlag(cmd, &o.trace)
	addTraceFlags(cmd, &o.trace)
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runDescribe(ctx context.Context, e *env, o describeOptions, name string) error {
	opts, err := o.trace.options()
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
	zone := opts.TZ
	if zone == nil {
		zone = time.UTC
	}
	p := newProgress(e, "jobs")
	sum, err := trace.DescribeIn(checked(ctx, r.Jobs(), p), zone)
	p.end(sum.Jobs)
	if err != nil {
		return err
	}
	rep := r.Report()
	d := description{Schema: "capcli/trace_describe/v1", Input: in.Name, Read: newReading(rep), Summary: sum, remarks: rep.Remarks()}
	if err := emit(e, o.output, d.doc()); err != nil {
		return err
	}
	if d.Read.Partial {
		return &partialError{text: in.Name + " is cut short; this describes only what was there"}
	}
	return nil
}

// description is the JSON of trace describe.
type description struct {
	Schema string  `json:"schema"`
	Input  string  `json:"input"`
	Read   reading `json:"read"`
	trace.Summary
	remarks []string
}

// reading is what became of the rows of a job log, for JSON.
type reading struct {
	Format   string        `json:"format"`
	Rows     int64         `json:"rows"`
	Kept     int64         `json:"kept"`
	Folded   int64         `json:"folded"`
	Rejected int64         `json:"rejected"`
	Reasons  []trace.Count `json:"rejected_because"`
	Assumed  []trace.Count `json:"assumed"`
	Machine  *int64        `json:"machine_gpus"`
	Partial  bool          `json:"partial"`
	Notes    []string      `json:"notes"`
}

func newReading(r trace.Report) reading {
	return reading{
		Format: r.Format, Rows: r.Rows, Kept: r.Kept, Folded: r.Folded, Rejected: r.Rejected,
		Reasons: list(r.Reasons), Assumed: list(r.Assumed), Machine: known(int64(r.MachineGPUs)),
		Partial: r.Cut, Notes: list(r.Notes),
	}
}

// lead says the whole log in one sentence.
func (d *description) lead() string {
	jobs := d.Jobs - d.CPUOnlyJobs
	if jobs == 0 {
		return fmt.Sprintf("%s %s, none of which wants a GPU.", grouped(d.Jobs), plural(d.Jobs, "job"))
	}
	day := func(t capcli.Time) string { return t.Std().Format("2006-01-02") }
	text := fmt.Sprintf("%s GPU %s, submitted %s", grouped(jobs), plural(jobs, "job"), day(d.FirstSubmit))
	if day(d.FirstSubmit) != day(d.LastSubmit) {
		text += " to " + day(d.LastSubmit)
	}
	return text + fmt.Sprintf(", wanted %s GPU-hours: %s GPUs on average, %s in the busiest hour.",
		wholeHours(d.GPUHours), wholeHours(d.Demand.MeanGPUs), wholeHours(d.Demand.PeakGPUs))
}

// wholeHours gives a whole number, and under ten one place more.
func wholeHours(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return grouped(int64(v + 0.5))
}

// doc is the description as tables.
func (d *description) doc() report.Doc {
	return report.Doc{
		Lead: d.lead(), Notes: d.remarks, Data: d, Charts: d.arrivals(),
		Tables: []report.Table{
			d.figures(), d.sizes(), d.lengths(),
			shares("tenants", "tenant", d.Tenants),
			shares("partitions", "partition", d.Partitions),
			shares("gpu_models", "GPU model", d.GPUModels),
			shares("states", "state", d.States),
			d.hours(), d.weekdays(),
		},
	}
}
