package service

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/simulate/serving/service"
)

// serviceAgentsOptions are the flags of capcli service agents.
type serviceAgentsOptions struct {
	output   shell.OutputOptions
	ask      service.AgentsRequest
	callsOut string
}

func newServiceAgents(e *shell.Env) *cobra.Command {
	var o serviceAgentsOptions
	cmd := &cobra.Command{
		Use:   "agents PARAMS",
		Short: "Draw the calls of agents' tasks, and find the GPUs that answer them",
		Long: "agents draws tasks that become trees of calls to a model: a few calls each, some of them hundreds. --play plays\n" +
			"the calls on a service, each after those that it waits for and its tool, and finds the fewest replicas that\n" +
			"keep the promise of the service. PARAMS has the laws of a task, which are yours: no measured ones are public.",
		Example: "  capcli service agents agents.yaml --tasks 1000 --seed 1 --calls-out calls.csv\n" +
			"  capcli service agents agents.yaml --play chat.yaml --workflows 10,100,1000",
		Args: shell.WantArgs("PARAMS"),
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
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceAgents(ctx context.Context, e *shell.Env, o *serviceAgentsOptions) error {
	p := shell.NewProgress(e, "tasks")
	draw := func(w io.Writer) (*service.AgentsResult, error) {
		return service.DrawAgents(ctx, &o.ask, e.Open, w, func(n int64) { p.Report(n, 0) })
	}
	var r *service.AgentsResult
	var err error
	if o.callsOut == "" {
		r, err = draw(nil)
	} else {
		err = shell.WriteOutput(e, o.callsOut, func(w io.Writer) (err error) {
			r, err = draw(w)
			return err
		})
	}
	if err != nil {
		return err
	}
	p.End(r.Tasks)
	return shell.Emit(e, o.output, tables.ServiceAgentsDoc(r))
}
