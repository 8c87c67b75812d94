package service

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/simulate/serving/service"
)

// serviceEstimateOptions are the flags of capcli service estimate.
type serviceEstimateOptions struct {
	output     shell.OutputOptions
	ask        service.EstimateRequest
	step, span string
	stepsOut   string
}

func newServiceEstimate(e *shell.Env) *cobra.Command {
	var o serviceEstimateOptions
	cmd := &cobra.Command{
		Use:   "estimate SPEC",
		Short: "Estimate the mean times of a service, at one rate or over months",
		Long: "estimate works out mean times, waits and load of a service by an approximation: a queue with processor sharing\n" +
			"at a rate that depends on how many requests are present, with prompts apart. It says where it does not hold:\n" +
			"from a load of 0.85 on, and for percentiles, play the requests (capcli service replay).",
		Example: "  capcli service estimate chat.yaml --rate 12 --tokens-in 512 --tokens-out 128 --replicas 2\n" +
			"  capcli service estimate chat.yaml --load rates.csv --step 1m --tokens-in 512 --tokens-out 128\n" +
			"  capcli service estimate chat.yaml --for 1y -o json",
		Args: shell.WantArgs("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ask.Spec = args[0]
			return runServiceEstimate(cmd.Context(), e, &o)
		},
	}
	f, q := cmd.Flags(), &o.ask
	f.Float64Var(&q.Rate, "rate", 0, "requests a second: `N`")
	f.Float64Var(&q.In, "tokens-in", 0, "mean tokens of a prompt: `N`")
	f.Float64Var(&q.Out, "tokens-out", 0, "mean tokens of an answer: `N`")
	f.Float64Var(&q.Cached, "cached", 0, "mean tokens of a prompt that a prefix cache supplies: `N`")
	f.Float64Var(&q.Variation, "variation", 0, "squared coefficient of variation of answers: 0 all alike, 1 exponential: `V`")
	f.IntVar(&q.Replicas, "replicas", 0, "replicas that serve throughout, `N` (default: those of SPEC, or of its scaler)")
	f.StringVar(&q.Load, "load", "", "`FILE` with the rate of each step: columns rate or requests, and tokens_in, tokens_out, ready where they change")
	f.StringVar(&o.step, "step", "", "length of a step: `TIME`, 1m (default: that of SPEC, else a minute)")
	f.StringVar(&o.span, "for", "", "estimate the requests that SPEC states for so long: `TIME`, 30d, 1y")
	f.Uint64Var(&q.Seed, "seed", 1, "random seed of the requests of SPEC: `N`")
	f.StringVar(&o.stepsOut, "steps-out", "", "write the means of each step to this `FILE` (csv)")
	shell.AddOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceEstimate(ctx context.Context, e *shell.Env, o *serviceEstimateOptions) error {
	o.ask.WantSteps = o.stepsOut != ""
	if err := o.ask.SetTimes(o.step, o.span); err != nil {
		return err
	}
	p := shell.NewProgress(e, "states")
	r, err := service.RunEstimate(ctx, &o.ask, e.Open, e.Note, p.Report)
	if err != nil {
		return err
	}
	p.End(r.States())
	if o.stepsOut != "" {
		if err := shell.WriteOutput(e, o.stepsOut, func(w io.Writer) error { return service.WriteStepMeans(w, r.Steps()) }); err != nil {
			return err
		}
	}
	return shell.Emit(e, o.output, tables.ServiceEstimateDoc(r))
}
