package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/profile/requests"
	"capcli/scenarios/service"
)

// serviceReplayOptions are the flags of capcli service replay.
type serviceReplayOptions struct {
	ask         service.ReplayRequest
	read        requests.Request
	output      outputOptions
	requestsOut string
}

func newServiceReplay(e *env) *cobra.Command {
	var o serviceReplayOptions
	cmd := &cobra.Command{
		Use:   "replay SPEC...",
		Short: "Play requests on the replicas of a service, one by one, and judge its promise",
		Long: "replay plays each request of a trace on the replicas of a service: batches, KV cache, routing, loss of\n" +
			"replicas. It says whether the promise is kept, the times to the first token (TTFT), between tokens (TPOT)\n" +
			"and to the end (E2E), and the cost a million tokens. SPEC is a service block (capcli service init). Several\n" +
			"are played on the same requests, side by side.",
		Example: "  capcli service replay chat.yaml --requests requests.csv\n" +
			"  capcli service replay chat.yaml --requests azure.csv.gz --requests-out served.csv -o json\n" +
			"  capcli service replay bf16.yaml fp8.yaml --requests requests.csv --replicas 4",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ask.Specs = args
			return runServiceReplay(cmd.Context(), e, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.ask.Requests, "requests", "", "`FILE` of requests: arrival_us, tokens_in, tokens_out, and cached where known; also .gz")
	addRequestFlags(cmd, &o.read)
	f.StringVar(&o.ask.For, "for", "", "without --requests: play what the requests: of SPEC describe for this `TIME`, 2h (default: an hour, or their own length)")
	f.Uint64Var((*uint64)(&o.ask.Seed), "seed", 1, "random seed of such requests: a whole `NUMBER` from 0")
	f.BoolVar(&o.ask.ByModel, "by-model", false, "several models on one fleet: each SPEC gets the requests to the model of its name")
	f.IntVar(&o.ask.Replicas, "replicas", 0, "replicas, all ready from the start on, in place of those of SPEC: `N`")
	f.StringVar(&o.requestsOut, "requests-out", "", "write what each request saw of the first SPEC to this `FILE` (csv)")
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceReplay(ctx context.Context, e *env, o *serviceReplayOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	var err error
	if o.ask.Read, err = o.read.Parse(); err != nil {
		return err
	}
	p := newProgress(e, "requests")
	o.ask.Read.Progress = func(n int64) { p.report(n, 0) }
	r, err := service.Replay(ctx, &o.ask, e.open, e.note)
	if err != nil {
		return err
	}
	p.end(r.Summary.Requests)
	if o.requestsOut != "" {
		if err := writeOutput(e, o.requestsOut, func(w io.Writer) error { return service.WriteServed(w, r.Served) }); err != nil {
			return err
		}
	}
	return emit(e, o.output, serviceReplayDoc(r))
}

// serviceReplayDoc is the report of requests that were played: a column for each service.
func serviceReplayDoc(r *service.Replayed) report.Doc {
	t := report.Table{Name: "summary", Columns: []report.Column{{Name: "figure"}}}
	all := r.Variants()
	for _, v := range all {
		t.Columns = append(t.Columns, report.Column{Name: v.Service, Align: report.Right})
	}
	for _, f := range service.FiguresOf(all) {
		row := []any{report.Label{Name: f.Name, Head: f.Head}}
		for _, v := range all {
			row = append(row, figureCell(f, v))
		}
		t.Rows = append(t.Rows, row)
	}
	replicas := report.Fill(report.Table{Name: "replicas", Title: "By replica", Most: 10, Aside: len(r.Replicas) < 2}, r.ReplicaRows(), []report.Field[service.ReplicaRow]{
		{Name: "replica"},
		{Name: "requests"},
		{Name: "iterations", Priority: 2},
		{Name: "busy_share", Head: "busy", As: report.AsPercent},
		{Name: "peak_blocks", Head: "peak blocks", Priority: 1},
		{Name: "preemptions"},
		{Name: "paid_us", Head: "paid", Cell: func(x service.ReplicaRow) any { return report.Micros(x.Paid) }},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{t, replicas}}
}

// figureCell returns the cell of a figure in its unit; nil where it is unknown.
func figureCell(f service.Figure, v *service.Variant) any {
	x, ok := f.Value(v)
	if !ok {
		return nil
	}
	switch f.Unit {
	case service.Micros:
		return report.AsMicros(x)
	case service.Share:
		return report.AsPercent(x)
	case service.Dollars:
		return report.AsMoney(x)
	case service.Plain:
		return report.AsRatio(x)
	case service.Count:
	}
	return report.AsCount(x)
}
