package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/trace"
	"capcli/simulate/spot"
)

// planSpotOptions are the flags of capcli plan spot.
type planSpotOptions struct {
	ask                   spot.Request
	output                outputOptions
	work, deadline, delay string
	price, onDemand       string
	file                  string
}

func newPlanSpot(e *env) *cobra.Command {
	var o planSpotOptions
	cmd := &cobra.Command{
		Use:   "spot",
		Short: "What a job under a deadline costs on spot capacity, policy by policy",
		Long: "Plays the policies of \"Can't Be Late\" (NSDI 2024) from many starts in a recorded availability of spot: greedy,\n" +
			"uniform progress (up), and beside them what on demand, spot alone and knowing all would cost, and how often each is late.",
		Example: "  capcli plan spot --work 48h --deadline 60h --delay 12m --availability trace.json --price 0.97 --on-demand 3.06",
		Args:    wantArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPlanSpot(cmd.Context(), e, &o) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.work, "work", "", "how long the job runs without interruption: `TIME`, 48h")
	f.StringVar(&o.deadline, "deadline", "", "when it must be done, from its start: `TIME`, 60h")
	f.StringVar(&o.delay, "delay", "0s", "time without progress at each start and changeover: `TIME`, 12m")
	f.StringVar(&o.file, "availability", "", "recording of spot instances, {metadata: {gap_seconds}, data: […]}: `FILE`")
	f.BoolVar(&o.ask.Preempted, "preempted", false, "the recording counts instances that were gone")
	f.IntVar(&o.ask.Nodes, "nodes", 1, "nodes that the job needs at once: `N`")
	f.StringVar(&o.price, "price", "", "a node for an hour on spot: `USD`")
	f.StringVar(&o.onDemand, "on-demand", "", "a node for an hour on demand: `USD`")
	f.IntVar(&o.ask.Starts, "starts", 300, "starts, spread over the recording: `N`")
	return cmd
}

func runPlanSpot(ctx context.Context, e *env, o *planSpotOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if err := o.ask.Parse(o.work, o.deadline, o.delay, o.price, o.onDemand); err != nil {
		return err
	}
	if o.file == "" {
		return &capcli.RequestError{Field: "availability", Text: "is missing: the recording", Hint: "for example --availability trace.json"}
	}
	in, closer, err := e.open(o.file)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	content, err := trace.Unpack(in)
	if err != nil {
		return err
	}
	r, err := o.ask.Plan(ctx, content)
	if bad, ok := errors.AsType[*capcli.InputError](err); ok {
		bad.File = o.file
	}
	if err != nil {
		return err
	}
	t := report.Fill(report.Table{Name: "policies", Title: "By policy"}, r.Rows, []report.Field[spot.Row]{
		{Name: "policy"},
		{Name: "cost_mean_usd", Head: "cost"},
		{Name: "cost_max_usd", Head: "at most"},
		{Name: "saving", As: report.AsPercent},
		{Name: "spot_share_of_work", Head: "on spot", As: report.AsPercent},
		{Name: "changeovers_mean", Head: "changes", Priority: 2},
		{Name: "met_deadline", Head: "met"},
		{Name: "late"},
		{Name: "unfinished", Priority: 3},
		{Name: "late_max_s", Head: "late by", Priority: 1},
	})
	return emit(e, o.output, report.Doc{Lead: r.Answer, Tables: []report.Table{t}, Notes: r.Notes, Data: r})
}
