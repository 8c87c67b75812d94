package service

import (
	"context"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/inference"
	"capcli/profile/logs/requests"
)

// serviceDescribeOptions are the flags of capcli service describe.
type serviceDescribeOptions struct {
	output          shell.OutputOptions
	read            requests.Request
	ask             inference.Request
	step            string
	curve, requests string // files to write
}

func newServiceDescribe(e *shell.Env) *cobra.Command {
	var o serviceDescribeOptions
	cmd := &cobra.Command{
		Use:   "describe [FILE…]",
		Short: "Describe the requests of a trace, or what servers tell Prometheus of their traffic",
		Long: "describe says how many requests come and how unevenly, how long they are, and what a cache supplies: of a trace\n" +
			"of requests, or of servers. With --metrics it reads the metrics of servers from --prom, or from saved answers\n" +
			"of query_range. --curve-out writes the rates, which requests: {curve: FILE} of a service and forecast read.",
		Example: "  capcli service describe azure.csv.gz\n" +
			"  capcli service describe burst.csv --requests-out requests.csv --curve-out hours.csv --step 1h\n" +
			"  capcli service describe --prom http://localhost:9090 --prom from=2027-01-01 --metrics vllm --curve-out curve.csv",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runServiceDescribe(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ask.Address, "prom", "", "the Prometheus server at this `URL`")
	f.StringVar(&o.ask.Server, "metrics", "", "metrics of this kind of server: `NAME`")
	f.StringVar(&o.ask.Match, "match", "", "only series with these labels: `LABELS`")
	f.StringVar(&o.ask.From, "from", "", "start of the traffic: `WHEN`")
	f.StringVar(&o.ask.To, "to", "", "end of the traffic: `WHEN`")
	f.StringVar(&o.ask.Token, "prom-token-file", "", "`FILE` with the bearer token for the server")
	bundle.Add(cmd, "prom", "the Prometheus server at this `URL`; then from=, to=, match=LABELS, token=FILE, each a --prom", false,
		bundle.Key{"from", "from"}, bundle.Key{"to", "to"}, bundle.Key{"match", "match"}, bundle.Key{"token", "prom-token-file"})
	f.StringVar(&o.step, "step", "", "`STEP` of rates (default: 1m of a trace, 5m of a server)")
	f.StringVar(&o.curve, "curve-out", "", "write the rates by step, as CSV: `FILE`")
	f.StringVar(&o.requests, "requests-out", "", "write the trace with our own columns, as CSV: `FILE`")
	addRequestFlags(cmd, &o.read)
	shell.Complete(cmd, "metrics", func() []string { return shell.Entries(&inference.Servers) })
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

// addRequestFlags adds the flags that say how to read a trace of requests.
func addRequestFlags(cmd *cobra.Command, r *requests.Request) {
	f := cmd.Flags()
	f.StringVar(&r.Format, "format", "", "format of the trace, `NAME` (default: detected)")
	f.StringVar(&r.TZ, "tz", "", "`ZONE` of times that have none (default: UTC)")
	f.StringVar(&r.Times, "times", "", "`UNIT` of times that are numbers: s, ms, us, ns")
	f.StringArrayVar(&r.Map, "map", nil, "column names of the file: `tokens_in=prompt`")
	f.BoolVar(&r.SkipBad, "skip-bad", false, "leave out rows that are not valid, and count them")
	keys := []bundle.Key{{"format", "format"}, {"tz", "tz"}, {"times", "times"}, {"skip-bad", "skip-bad"}}
	for _, c := range requests.Columns {
		keys = append(keys, bundle.Key{c, "map"})
	}
	bundle.Add(cmd, "read", "settings of the reader, `KEY=VALUE`,…: format, tz, times, skip-bad; tokens_in=prompt (our column=theirs)", true, keys...)
	bundle.Rename(cmd, "map", "--read OURS=THEIRS")
	shell.Complete(cmd, "format", func() []string { return shell.Entries(&requests.Formats) })
}

func runServiceDescribe(ctx context.Context, e *shell.Env, o *serviceDescribeOptions, args []string) error {
	var err error
	if o.step != "" {
		if o.ask.Step, err = capcli.ParseSeconds(o.step); err != nil {
			return &shell.UsageError{Text: "--step: " + err.Error()}
		}
	}
	if o.ask.Server != "" || o.ask.Address != "" {
		return describeUsage(ctx, e, o, args)
	}
	if len(args) != 1 {
		return &shell.UsageError{Text: "service describe needs one FILE, or --metrics", Hint: "capcli service describe requests.csv"}
	}
	opts, err := o.read.Parse()
	if err != nil {
		return err
	}
	p := shell.NewProgress(e, "requests")
	opts.Progress = func(n int64) { p.Report(n, 0) }
	d, err := requests.DescribeFile(ctx, e.Open, args[0], opts)
	if err != nil {
		return err
	}
	p.End(d.Requests)
	if o.requests != "" {
		t, err := requests.ReadFile(ctx, e.Open, args[0], opts)
		if err != nil {
			return err
		}
		if err := shell.WriteOutput(e, o.requests, t.WriteCSV); err != nil {
			return err
		}
	}
	if o.curve != "" {
		rates, err := requests.ReadRatesFile(ctx, e.Open, args[0], opts, o.ask.Step)
		if err != nil {
			return err
		}
		if err := shell.WriteOutput(e, o.curve, rates.WriteCSV); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.RequestsDoc(d))
}

func describeUsage(ctx context.Context, e *shell.Env, o *serviceDescribeOptions, args []string) error {
	o.ask.Files = args
	u, err := inference.Read(ctx, o.ask, inference.Sources{Open: e.Open, Web: e.Web, Now: capcli.TimeOf(e.Now())})
	if err != nil {
		return err
	}
	if o.curve != "" {
		if err := shell.WriteOutput(e, o.curve, u.WriteCurve); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.UsageDoc(u))
}
