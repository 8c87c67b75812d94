package plan

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/futures"
)

// futuresOptions are the flags of a plan for uncertain demand.
type futuresOptions struct{ ask futures.Request } // filled by the flags

// addAheadFlags adds to cmd the flags that choose the futures. more are further keys of --futures.
func (o *futuresOptions) addAheadFlags(cmd *cobra.Command, more ...bundle.Key) {
	f := cmd.Flags()
	f.StringVar(&o.ask.File, "futures", "", "plan for possible futures: `FILE` of capcli forecast --paths")
	f.StringVar(&o.ask.DemandError, "demand-error", "", "standard deviation of the demand's error, `10%`, in place of a FILE")
	f.StringVar(&o.ask.HalfLife, "half-life", "90d", "half-life of the error of error=: `TIME`")
	f.IntVar(&o.ask.Paths, "paths", 0, "number of futures: `N` (default: all; 200 for error=)")
	f.StringVar(&o.ask.Risk, "risk", "mean", "figure of the cost to minimise: `WHAT`, mean, q80 or cvar95 (mean of the worst 5%)")
	bundle.Add(cmd, "futures", "possible futures: `FILE` of capcli forecast --paths, or error=10% around the demand; paths=N, half-life=90d", true,
		append([]bundle.Key{{"error", "demand-error"}, {"paths", "paths"}, {"half-life", "half-life"}}, more...)...)
	shell.Complete(cmd, "risk", func() []string { return []string{"mean", "q80", "cvar95"} })
}

// addFlags adds to cmd the flags of a plan for futures alone.
func (o *futuresOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.ask.Hold, "hold", "95%", "`SHARE` of the futures in which all limits must hold")
	f.StringArrayVar(&o.ask.Signals, "signal", nil, "whether an event of FUTURES happens is known from a date on: `EVENT=DATE`")
	o.addAheadFlags(cmd, bundle.SameKeys("hold", "signal")...)
	f.Lookup("futures").Usage += ", hold=95%, signal=EVENT=DATE (go/no-go: the date on which it is known whether an event happens)"
	f.Float64SliceVar(&o.ask.SizedFor, "sized-for", []float64{0.5, 0.8, 0.95}, "also size three plans for these quantiles of demand: `a,b,c`")
	f.BoolVar(&o.ask.Baselines, "baselines", false, "compare with peak, three-tier, rightsize-90d and online rules")
	f.StringVar(&o.ask.Wait, "wait", "3mo", "also plan with a revision after each `TIME`, and show what revising is worth")
	f.Uint64Var((*uint64)(&o.ask.Seed), "seed", 1, "random seed: a whole `NUMBER` from 0")
	f.StringArrayVar(&o.ask.Most, "max", nil, "upper limit, `METRIC=VALUE`: cost=1.7M, stranded=50k (may be repeated)")
	f.StringArrayVar(&o.ask.Least, "min", nil, "lower limit, `METRIC=VALUE`: coverage=80% (may be repeated)")
	bundle.Add(cmd, "compare", "more plans to compare, `KEY=VALUE`,…: baselines (rules), sized-for=0.5,0.8,0.95 (quantiles of demand)", true,
		bundle.SameKeys("baselines", "sized-for")...)
}

// wanted reports whether the flags ask for a plan for futures.
func (o *futuresOptions) wanted() bool { return o.ask.File != "" || o.ask.DemandError != "" }

// newPlanFutures makes the command capcli plan futures, which capcli plan --futures runs. Its help
// explains these flags.
func newPlanFutures(e *shell.Env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "futures [FUTURES]",
		Short: "Plan purchases for uncertain demand, from possible futures",
		Long: "FUTURES is a file of capcli forecast --paths; with --futures error=, futures are drawn around --demand. The plan has the\n" +
			"least mean, quantile or CVaR of the cost, and comes with a bound on its distance from the optimum.",
		Example: "  capcli forecast demand.csv --horizon 365 --paths 200 --out futures.parquet\n" +
			"  capcli plan futures futures.parquet --on-demand 3.90 --term 1mo=3.40 --term 12mo=2.20 --risk cvar95 --max cost=1.7M\n" +
			"  capcli plan futures --demand demand.csv --futures error=15% --on-demand 3.90 --term 12mo=2.20 --compare baselines",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.futures.ask.File = args[0]
			}
			if !o.futures.wanted() {
				return &shell.UsageError{Text: "plan futures needs FUTURES: FUTURES is missing", Hint: "capcli plan futures futures.parquet, or --demand demand.csv --demand-error 10%"}
			}
			return planFutures(cmd.Context(), e, &o)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	o.futures.addFlags(cmd)
	shell.ExplainedBy(cmd, "capcli plan curve", "demand", "series", "quantile", "what-if", "buy", "discount", "held", "by", "step")
	return cmd
}

func planFutures(ctx context.Context, e *shell.Env, o *planOptions) error {
	of, err := o.curve.request(e)
	if err != nil {
		return err
	}
	ask := &o.futures.ask
	ask.Market = of.Market
	if ask.Demand, err = o.curve.source("demand"); err != nil {
		return err
	}
	question, err := ask.Parse()
	if err != nil {
		return err
	}
	set, err := ask.Read(ctx, e.Sources())
	if err != nil {
		return err
	}
	r, err := question.Plan(ctx, set)
	if err != nil {
		return err
	}
	return errors.Join(emitPart(e, o.output, tables.FuturesDoc(r), r.Partial), r.NoPlan())
}
