package main

import (
	"context"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/inference"
	"capcli/profile/requests"

	"capcli/cmd/bundle"
)

// serviceDescribeOptions are the flags of capcli service describe.
type serviceDescribeOptions struct {
	output          outputOptions
	read            requests.Request
	ask             inference.Request
	step            string
	curve, requests string // files to write
}

func newServiceDescribe(e *env) *cobra.Command {
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
	complete(cmd, "metrics", func() []string { return entries(&inference.Servers) })
	addOutputFlags(cmd, &o.output)
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
	complete(cmd, "format", func() []string { return entries(&requests.Formats) })
}

func runServiceDescribe(ctx context.Context, e *env, o *serviceDescribeOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	var err error
	if o.step != "" {
		if o.ask.Step, err = capcli.ParseSeconds(o.step); err != nil {
			return &usageError{text: "--step: " + err.Error()}
		}
	}
	if o.ask.Server != "" || o.ask.Address != "" {
		return describeUsage(ctx, e, o, args)
	}
	if len(args) != 1 {
		return &usageError{text: "service describe needs one FILE, or --metrics", hint: "capcli service describe requests.csv"}
	}
	opts, err := o.read.Parse()
	if err != nil {
		return err
	}
	p := newProgress(e, "requests")
	opts.Progress = func(n int64) { p.report(n, 0) }
	d, err := requests.DescribeFile(ctx, e.open, args[0], opts)
	if err != nil {
		return err
	}
	p.end(d.Requests)
	if o.requests != "" {
		t, err := requests.ReadFile(ctx, e.open, args[0], opts)
		if err != nil {
			return err
		}
		if err := writeOutput(e, o.requests, t.WriteCSV); err != nil {
			return err
		}
	}
	if o.curve != "" {
		rates, err := requests.ReadRatesFile(ctx, e.open, args[0], opts, o.ask.Step)
		if err != nil {
			return err
		}
		if err := writeOutput(e, o.curve, rates.WriteCSV); err != nil {
			return err
		}
	}
	return emit(e, o.output, requestsDoc(d))
}

func describeUsage(ctx context.Context, e *env, o *serviceDescribeOptions, args []string) error {
	o.ask.Files = args
	u, err := inference.Read(ctx, o.ask, inference.Sources{Open: e.open, Web: e.web, Now: capcli.TimeOf(e.now())})
	if err != nil {
		return err
	}
	if o.curve != "" {
		if err := writeOutput(e, o.curve, u.WriteCurve); err != nil {
			return err
		}
	}
	return emit(e, o.output, usageDoc(u))
}

// requestsDoc is the report of a trace.
func requestsDoc(d *requests.Description) report.Doc {
	models := report.Table{Name: "models", Most: shownShares, Aside: len(d.Models) == 0}
	return report.Doc{Lead: d.Answer, Notes: d.Read.Remarks(), Data: d, Tables: []report.Table{
		report.Figures("figures", d, []report.Field[*requests.Description]{
			{Name: "requests", Head: "requests"},
			{Name: "first", Head: "first arrival"},
			{Name: "last", Head: "last arrival"},
			{Name: "span_s", Head: "time", As: report.AsSeconds},
			{Name: "requests_per_s", Head: "requests a second", As: report.AsRatio},
			{Name: "gap_cv", Head: "variation of gaps (1 is Poisson)", As: report.AsRatio},
			{Name: "gap_cv_within_minutes", Head: "variation of gaps in a minute", As: report.AsRatio},
			{Name: "tokens_in_total", Head: "tokens in"},
			{Name: "tokens_out_total", Head: "tokens out"},
			{Name: "cached_share", Head: "cached of tokens in", As: report.AsPercent},
			{Name: "users", Head: "users"},
			{Name: "top_user_share", Head: "share of the busiest users", As: report.AsPercent},
		}),
		report.Fill(report.Table{Name: "busiest"}, d.Busiest, []report.Field[requests.Busiest]{
			{Name: "window", Head: "busiest"}, {Name: "requests_per_s", Head: "requests a second", As: report.AsRatio}, {Name: "over_mean", Head: "times the mean", As: report.AsRatio}, {Name: "at", Head: "from"},
		}),
		report.Fill(report.Table{Name: "lengths"}, d.Lengths(), []report.Field[requests.NamedQuantiles]{
			{Name: "what", Head: "tokens"}, {Name: "mean", As: report.AsRatio}, {Name: "p50"}, {Name: "p90"}, {Name: "p95"}, {Name: "p99"}, {Name: "max"},
		}),
		report.Fill(models, d.Models, []report.Field[requests.ModelShare]{
			{Name: "model", Align: report.Left}, {Name: "requests"}, {Name: "share", As: report.AsPercent}, {Name: "tokens_in", Head: "tokens in"}, {Name: "tokens_out", Head: "tokens out"},
		}),
		report.Fill(report.Table{Name: "hours", Aside: true}, d.Hours, []report.Field[requests.HourShare]{{Name: "hour"}, {Name: "requests"}, {Name: "share", As: report.AsPercent}}),
	}}
}
