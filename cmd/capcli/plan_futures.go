package main

import (
	"context"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/simulate/plan/futures"
)

// futuresOptions are the flags of a plan for demand that is not known.
type futuresOptions struct {
	file      string
	wrong     string // --demand-error
	halfLife  string
	paths     int
	risk      string
	sized     []float64
	baselines bool
	wait      string

	seed        uint64
	most, least []string
}

func (o *futuresOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "futures", "", "plan for possible futures: `FILE` of capcli forecast --paths")
	f.StringVar(&o.wrong, "demand-error", "", "plan for a demand that may be so wrong, `10%`, in place of --futures")
	f.StringVar(&o.halfLife, "half-life", "90d", "of --demand-error: half an error is gone after this `TIME`")
	f.IntVar(&o.paths, "paths", 0, "futures to plan for: `N` (default all; 200 of --demand-error)")
	f.StringVar(&o.risk, "risk", "mean", "what of the cost to make least: `WHAT`, mean, q80 or cvar95 (mean of the worst 5%)")
	f.Float64SliceVar(&o.sized, "sized-for", []float64{0.5, 0.8, 0.95}, "quantiles of demand to size three more plans for: `a,b,c`")
	f.BoolVar(&o.baselines, "baselines", false, "compare with peak, three-tier, rightsize-90d and online rules")
	f.StringVar(&o.wait, "wait", "3mo", "decide again after each such `TIME`, and say what that is worth")
	// A plan of a scenario has these three as well.
	if f.Lookup("seed") == nil {
		f.Uint64Var(&o.seed, "seed", 1, "seed of all chance: a whole `NUMBER` from 0")
	}
	if f.Lookup("max") == nil {
		f.StringArrayVar(&o.most, "max", nil, "limit from above, `METRIC=VALUE`: cost=1.7M, stranded=50k (repeat)")
		f.StringArrayVar(&o.least, "min", nil, "limit from below, `METRIC=VALUE`: coverage=80% (repeat)")
	}
	complete(cmd, "risk", func() []string { return []string{"mean", "q80", "cvar95"} })
	explainedBy(cmd, "capcli plan futures", "futures", "demand-error", "half-life", "paths", "risk", "sized-for", "baselines", "wait", "seed", "max", "min")
}

// wanted tells whether the plan is for futures.
func (o *futuresOptions) wanted() bool { return o.file != "" || o.wrong != "" }

// newPlanFutures is capcli plan --futures under a name of its own, whose help
// explains these flags.
func newPlanFutures(e *env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "futures [FUTURES]",
		Short: "Plan for a demand that is not known: the same as plan --futures",
		Long: "FUTURES is a file of capcli forecast --paths; with --demand-error, futures are drawn around --demand. The plan has the\n" +
			"least mean, quantile or CVaR of the cost, and says how far from the best it can be at most.",
		Example: "  capcli forecast demand.csv --horizon 365 --paths 200 --out futures.parquet\n" +
			"  capcli plan futures futures.parquet --on-demand 3.90 --term 1mo=3.40 --term 12mo=2.20 --risk cvar95 --max cost=1.7M\n" +
			"  capcli plan futures --demand demand.csv --demand-error 15% --on-demand 3.90 --term 12mo=2.20 --baselines",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.futures.file = args[0]
			}
			if !o.futures.wanted() {
				return &usageError{text: "plan futures wants FUTURES: FUTURES is missing", hint: "capcli plan futures futures.parquet, or --demand demand.csv --demand-error 10%"}
			}
			o.futures.shared(cmd)
			if err := o.output.check(); err != nil {
				return err
			}
			return planFutures(cmd.Context(), e, &o)
		},
	}
	addOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	o.futures.addFlags(cmd)
	explainedBy(cmd, "capcli plan curve", append([]string{"demand", "on-demand", "term"}, curveFlags...)...)
	return cmd
}

// shared takes over flags that another part of capcli plan owns.
func (o *futuresOptions) shared(cmd *cobra.Command) {
	f := cmd.Flags()
	o.seed = 1
	if v, err := f.GetUint64("seed"); err == nil && f.Changed("seed") {
		o.seed = v
	}
	if v, err := f.GetStringArray("max"); err == nil {
		o.most = v
	}
	if v, err := f.GetStringArray("min"); err == nil {
		o.least = v
	}
}

// source says which futures may come.
func (o *futuresOptions) source(c *planCurveOptions) (futures.Source, error) {
	demand, err := c.source("demand")
	return futures.Source{File: o.file, Demand: demand, DemandError: o.wrong, HalfLife: o.halfLife, Paths: o.paths, Seed: capcli.Seed(o.seed)}, err
}

// planFutures plans for futures.
func planFutures(ctx context.Context, e *env, o *planOptions) error {
	of, err := o.curve.request(e)
	if err != nil {
		return err
	}
	source, err := o.futures.source(&o.curve)
	if err != nil {
		return err
	}
	f := &o.futures
	ask := futures.Request{
		Source: source, Market: of.Market, Held: of.Held, Risk: f.risk, SizedFor: f.sized, Baselines: f.baselines, Wait: f.wait,
		Most: f.most, Least: f.least,
	}
	question, err := ask.Parse()
	if err != nil {
		return err
	}
	set, err := ask.Read(ctx, e.sources())
	if err != nil {
		return err
	}
	r, err := question.Plan(ctx, set)
	if err != nil {
		return err
	}
	return emitPart(e, o.output, futuresDoc(r), r.Partial)
}
