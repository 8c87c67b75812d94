package plan

import (
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/spot"
)

func newPlanSpot(e *shell.Env) *cobra.Command {
	var output shell.OutputOptions
	var ask spot.Request
	var texts spot.Texts
	cmd := &cobra.Command{
		Use:   "spot",
		Short: "Compare what a job under a deadline costs on spot capacity, by policy",
		Long: "Plays the policies of \"Can't Be Late\" (NSDI 2024) from many starts in a recorded availability of spot:\n" +
			"greedy and uniform progress (up). It adds on demand, spot alone and the least cost with perfect information.",
		Example: "  capcli plan spot --work 48h --deadline 60h --delay 12m --availability trace.json --price 0.97 --on-demand 3.06",
		Args:    shell.WantArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPlanSpot(cmd.Context(), e, &ask, texts, output) },
	}
	shell.AddOutputFlags(cmd, &output)
	f := cmd.Flags()
	f.StringVar(&texts.Work, "work", "", "run time of the job without interruption: `TIME`, 48h")
	f.StringVar(&texts.Deadline, "deadline", "", "deadline, from the start of the job: `TIME`, 60h")
	f.StringVar(&texts.Delay, "delay", "0s", "time without progress at each start and changeover: `TIME`, 12m")
	f.StringVar(&ask.File, "availability", "", "recording of spot instances, {metadata: {gap_seconds}, data: […]}: `FILE`")
	f.BoolVar(&ask.Preempted, "preempted", false, "the recording counts preempted instances, not available ones")
	f.IntVar(&ask.Nodes, "nodes", 1, "nodes of the job: `N`")
	f.StringVar(&texts.Price, "price", "", "spot price of a node-hour: `USD`")
	f.StringVar(&texts.OnDemand, "on-demand", "", "on-demand price of a node-hour: `USD`")
	f.IntVar(&ask.Starts, "starts", 300, "number of starts, spread over the recording: `N`")
	return cmd
}

func runPlanSpot(ctx context.Context, e *shell.Env, ask *spot.Request, texts spot.Texts, output shell.OutputOptions) error {
	if err := ask.Parse(texts); err != nil {
		return err
	}
	return shell.Answer(e, output, tables.SpotDoc)(ask.Plan(ctx, e.Open))
}
