package service

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/logs/requests"
	"capcli/simulate/serving/service"
)

// serviceReplayOptions are the flags of capcli service replay.
type serviceReplayOptions struct {
	ask         service.ReplayRequest
	read        requests.Request
	output      shell.OutputOptions
	requestsOut string
}

func newServiceReplay(e *shell.Env) *cobra.Command {
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
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceReplay(ctx context.Context, e *shell.Env, o *serviceReplayOptions) error {
	var err error
	if o.ask.Read, err = o.read.Parse(); err != nil {
		return err
	}
	p := shell.NewProgress(e, "requests")
	o.ask.Read.Progress = func(n int64) { p.Report(n, 0) }
	r, err := service.Replay(ctx, &o.ask, e.Open, e.Note)
	if err != nil {
		return err
	}
	p.End(r.Summary.Requests)
	if o.requestsOut != "" {
		if err := shell.WriteOutput(e, o.requestsOut, func(w io.Writer) error { return service.WriteServed(w, r.Served) }); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.ServiceReplayDoc(r))
}
