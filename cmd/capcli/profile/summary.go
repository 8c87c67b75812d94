package profile

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
)

// queryOptions are the flags that choose which part of recorded profiles is read.
type queryOptions struct {
	from, to string
	hosts    []string
	gpus     []string
	tz       string
}

func (o *queryOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "only samples from this `TIME` on")
	f.StringVar(&o.to, "to", "", "only samples before this `TIME`; a date stands for its end")
	f.StringSliceVar(&o.hosts, "host", nil, "only these boxes: `a,b`")
	f.StringSliceVar(&o.gpus, "gpu", nil, "only GPUs with these UUIDs: `a,b`")
	f.StringVar(&o.tz, "tz", "", "time `ZONE` of the times given, and of the hours shown (default: UTC)")
}

func (o *queryOptions) query() (store.Query, *time.Location, error) {
	q := store.Query{Hosts: o.hosts, Devices: o.gpus}
	in, err := trace.ParseZone(o.tz)
	if err != nil {
		return q, nil, err
	}
	if q.From, q.To, err = profile.ParseSpan(o.from, o.to, in); err != nil {
		return q, nil, err
	}
	return q, utcOr(in), nil
}

// summaryOptions are the flags of profile summary.
type summaryOptions struct {
	query  queryOptions
	price  string
	output shell.OutputOptions
}

func newProfileSummary(e *shell.Env) *cobra.Command {
	var o summaryOptions
	cmd := &cobra.Command{
		Use:   "summary DIR…",
		Short: "Summarise what recorded GPUs, jobs and tenants did, and what idle GPUs cost",
		Long: "summary reads folders that capcli profile wrote, also while it writes, and says for each GPU, job and tenant how\n" +
			"busy it was, what memory it needed, and a verdict: working, bound by memory, short of input, never busy, free.",
		Example: "  capcli profile summary gpu-profile\n" +
			"  capcli profile summary gpu-07 gpu-08 --price 2.20 --from 2026-11-01 --to 2026-11-07\n" +
			"  capcli profile summary fleet --table jobs -o csv",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runProfileSummary(cmd.Context(), e, &o, args) },
	}
	o.query.addFlags(cmd)
	cmd.Flags().StringVar(&o.price, "price", "", "price of a GPU-hour, `USD`: adds the cost of held and idle GPUs")
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runProfileSummary(ctx context.Context, e *shell.Env, o *summaryOptions, args []string) error {
	price, err := priceOf(o.price)
	if err != nil {
		return err
	}
	q, in, err := o.query.query()
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(summaryGC)) // for the result, too
	sum, err := summariseEach(ctx, e, args, store.SummaryRequest{Query: q, Zone: in, ListedJobs: true})
	if err != nil {
		return err
	}
	return shell.Emit(e, o.output, tables.ProfileDoc(sum.Result(args, price, in)))
}

// summaryGC is the GOGC of a summary, in percent: of a fleet it holds hundreds of thousands of jobs.
const summaryGC = 50

// summarise reads the folders dirs and sums up the samples that q selects. It fails if there are
// none.
func summarise(ctx context.Context, e *shell.Env, dirs []string, q store.Query, in *time.Location) (*profile.Summary, error) {
	return summariseEach(ctx, e, dirs, store.SummaryRequest{Query: q, Zone: in})
}

// summariseEach is summarise with all that a request may say.
func summariseEach(ctx context.Context, e *shell.Env, dirs []string, r store.SummaryRequest) (*profile.Summary, error) {
	folders, err := openFolders(e, dirs)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(summaryGC))
	p := shell.NewProgress(e, "hosts")
	hosts := int64(0)
	sum, err := folders.Summarise(ctx, r, func(done, total int64) {
		hosts = done
		p.Report(done, total)
	})
	if err != nil {
		return nil, err
	}
	p.End(hosts)
	if len(sum.Devices) == 0 {
		return nil, &capcli.InputError{File: dirs[0], Text: "expected samples of GPUs, found none", Hint: "is it a folder that capcli profile wrote, and do --from, --to, --host and --gpu leave any?"}
	}
	return sum, nil
}
