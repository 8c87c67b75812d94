package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/scenarios/service"
	"capcli/simulate/serving/queueing"
)

// serviceEstimateOptions are the flags of capcli service estimate.
type serviceEstimateOptions struct {
	output     outputOptions
	ask        service.EstimateRequest
	step, span string
	stepsOut   string
}

func newServiceEstimate(e *env) *cobra.Command {
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
		Args: wantArgs("SPEC"),
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
	addOutputFlags(cmd, &o.output)
	return cmd
}

func runServiceEstimate(ctx context.Context, e *env, o *serviceEstimateOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	o.ask.WantSteps = o.stepsOut != ""
	if err := o.ask.SetTimes(o.step, o.span); err != nil {
		return err
	}
	p := newProgress(e, "states")
	r, err := service.RunEstimate(ctx, &o.ask, e.open, e.note, p.report)
	if err != nil {
		return err
	}
	p.end(r.States())
	if o.stepsOut != "" {
		if err := writeOutput(e, o.stepsOut, func(w io.Writer) error { return service.WriteStepMeans(w, r.Steps()) }); err != nil {
			return err
		}
	}
	return emit(e, o.output, serviceEstimateDoc(r))
}

// serviceEstimateDoc is the report of an estimate.
func serviceEstimateDoc(r *service.Estimate) report.Doc {
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r}
	if r.Curve == nil {
		fields := []report.Field[*service.Estimate]{
			{Name: "load", Head: "load", As: report.AsPercent},
			{Name: "saturation_rps", Head: "saturation of a replica", As: report.AsRatio},
			{Name: "fewest_replicas", Head: "least replicas so that this holds"},
			{Name: "usd_per_mtok", Head: "cost per Mtok", As: report.AsMoney},
			{Name: "usd_per_hour", Head: "cost per hour", As: report.AsMoney},
		}
		if r.IsSteady() {
			fields = append(fields, []report.Field[*service.Estimate]{
				{Name: "mean_ttft_s", Head: "TTFT mean", As: report.AsShortTime},
				{Name: "mean_tpot_s", Head: "TPOT mean", As: report.AsShortTime},
				{Name: "mean_e2e_s", Head: "E2E mean", As: report.AsShortTime},
				{Name: "mean_wait_s", Head: "wait mean", As: report.AsShortTime},
				{Name: "p_wait", Head: "waiting requests", As: report.AsPercent},
				{Name: "mean_running", Head: "running requests, mean", As: report.AsTenths},
			}...)
		}
		d.Tables = []report.Table{report.Figures("means", r, fields)}
		return d
	}
	c := r.Curve
	figures := report.Figures("means", c, []report.Field[*queueing.Result]{
		{Name: "requests", Head: "requests", As: report.AsCount},
		{Name: "unserved", Head: "unserved at the end", As: report.AsCount},
		{Name: "steps_over", Head: "steps over saturation"},
		{Name: "steps_dense", Head: "steps beyond what holds"},
		{Name: "holds_share", Head: "requests for what holds", As: report.AsPercent},
		{Name: "mean_ttft_s", Head: "TTFT mean", As: report.AsShortTime},
		{Name: "mean_tpot_s", Head: "TPOT mean", As: report.AsShortTime},
		{Name: "mean_e2e_s", Head: "E2E mean", As: report.AsShortTime},
		{Name: "mean_wait_s", Head: "wait mean", As: report.AsShortTime},
		{Name: "utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "peak_load", Head: "load max", As: report.AsPercent},
		{Name: "tokens_out", Head: "tokens out", As: report.AsCount},
		{Name: "gpu_hours", Head: "GPU-hours", As: report.AsCount},
		{Name: "usd", Head: "cost", As: report.AsMoney},
		{Name: "usd_per_mtok", Head: "cost per Mtok", As: report.AsMoney, Cell: func(*queueing.Result) any { return r.USDPerM }},
	})
	d.Tables = []report.Table{figures}
	return d
}
