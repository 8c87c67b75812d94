package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/scenarios/service"
)

// serviceAgentsOptions are the flags of capcli service agents.
type serviceAgentsOptions struct {
	output   outputOptions
	ask      service.AgentsRequest
	callsOut string
}

func newServiceAgents(e *env) *cobra.Command {
	var o serviceAgentsOptions
	cmd := &cobra.Command{
		Use:   "agents PARAMS",
		Short: "Draw the calls of agents' tasks, and find the GPUs that answer them",
		Long: "agents draws tasks that become trees of calls to a model: a few calls each, some of them hundreds. --play plays\n" +
			"the calls on a service, each after those that it waits for and its tool, and finds the fewest replicas that\n" +
			"keep the promise of the service. PARAMS has the laws of a task, which are yours: no measured ones are public.",
		Example: "  capcli service agents agents.yaml --tasks 1000 --seed 1 --calls-out calls.csv\n" +
			"  capcli service agents agents.yaml --play chat.yaml --workflows 10,100,1000",
		Args: wantArgs("PARAMS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ask.Params = args[0]
			return runServiceAgents(cmd.Context(), e, &o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.ask.Tasks, "tasks", 0, "number of tasks, `N` (default: that of PARAMS, else 1000)")
	f.StringVar(&o.ask.Seed, "seed", "", "seed of the first task, `N`; that of task j is N + j (default: that of PARAMS, else 1)")
	f.StringVar(&o.callsOut, "calls-out", "", "write each call to this `FILE` (csv)")
	f.StringVar(&o.ask.Play.Spec, "play", "", "play the calls on the service of this `FILE`")
	f.Int64SliceVar(&o.ask.Play.Workflows, "workflows", nil, "tasks at work at once, a play for each number: `10,100` (default: as PARAMS says)")
	f.IntVar(&o.ask.Play.Replicas, "replicas", 0, "replicas of the service, `N` (default: the fewest that keep its promise)")
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceAgents(ctx context.Context, e *env, o *serviceAgentsOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	p := newProgress(e, "tasks")
	draw := func(w io.Writer) (*service.AgentsResult, error) {
		return service.DrawAgents(ctx, &o.ask, e.open, w, func(n int64) { p.report(n, 0) })
	}
	var r *service.AgentsResult
	var err error
	if o.callsOut == "" {
		r, err = draw(nil)
	} else {
		err = writeOutput(e, o.callsOut, func(w io.Writer) (err error) {
			r, err = draw(w)
			return err
		})
	}
	if err != nil {
		return err
	}
	p.end(r.Tasks)
	return emit(e, o.output, serviceAgentsDoc(r))
}

// serviceAgentsDoc is the report of tasks.
func serviceAgentsDoc(r *service.AgentsResult) report.Doc {
	tasks := report.Figures("tasks", r, []report.Field[*service.AgentsResult]{
		{Name: "tasks", Head: "tasks"},
		{Name: "calls", Head: "calls"},
		{Name: "mean", Head: "calls mean", As: report.AsRatio},
		{Name: "p50", Head: "calls p50"},
		{Name: "p90", Head: "calls p90"},
		{Name: "p99", Head: "calls p99"},
		{Name: "max", Head: "calls max"},
		{Name: "tokens_in", Head: "tokens in"},
		{Name: "tokens_out", Head: "tokens out"},
	})
	micros := func(us float64) any { return report.AsMicros(us) }
	plays := report.Fill(report.Table{Name: "plays", Title: "Played on the service"}, r.Plays, []report.Field[service.Play]{
		{Name: "workflows", Cell: func(p service.Play) any { return p.Count() }},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "slo_share", Head: "SLO met", As: report.AsPercent, Cell: func(p service.Play) any { return p.Promise.Found }},
		{Name: "task_mean", Head: "task mean", As: micros},
		{Name: "task_p99", Head: "task p99", As: micros},
		{Name: "calls_at_once_mean", Head: "calls at once", As: report.AsTenths, Priority: 2},
		{Name: "calls_at_once_peak", Head: "at once max", Priority: 3},
		{Name: "ttft_p99", Head: "TTFT p99", As: micros, Priority: 1, Cell: func(p service.Play) any { return p.Summary.TTFTP99 }},
		{Name: "failed", Priority: 4},
		{Name: "usd_per_task", Head: "cost per task", As: report.AsMoney, Priority: 3},
	})
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{tasks}}
	if len(r.Plays) > 0 {
		d.Tables = []report.Table{plays, tasks}
	}
	return d
}
