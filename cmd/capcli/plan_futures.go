package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/simulate/outcome"
	planning "capcli/simulate/plan"
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

// futuresAsk is what the flags ask for, checked.
type futuresAsk struct {
	risk     planning.Risk
	wobble   planning.Wobble
	wait     capcli.Step
	sketch   *marketSketch
	limits   []futureLimit
	fromFile bool
}

// maxFutures bounds what one plan is made for.
const maxFutures = planning.MaxFutures

func (o *futuresOptions) ask(e *env, c *planCurveOptions) (*futuresAsk, error) {
	a := &futuresAsk{fromFile: o.file != ""}
	var err error
	if a.risk, err = planning.ParseRisk(o.risk); err != nil {
		return nil, &usageError{text: "--risk: " + err.Error(), hint: "--risk cvar95"}
	}
	if a.sketch, err = c.sketch(e); err != nil {
		return nil, err
	}
	switch {
	case o.file != "" && o.wrong != "":
		return nil, &usageError{text: "--futures and --demand-error both say what may come", hint: "give one of them"}
	case o.file == "" && c.demand == "":
		return nil, &usageError{text: "--demand-error is about a demand: --demand is missing", hint: "--demand demand.csv --demand-error 10%"}
	case o.paths < 0 || o.paths > maxFutures:
		return nil, &usageError{text: fmt.Sprintf("--paths wants 1 to %d, found %d", maxFutures, o.paths)}
	case len(o.sized) != 3:
		return nil, &usageError{text: fmt.Sprintf("--sized-for wants three quantiles, found %d", len(o.sized)), hint: "--sized-for 0.5,0.8,0.95"}
	}
	for _, v := range o.sized {
		if !(v > 0 && v < 1) {
			return nil, &usageError{text: fmt.Sprintf("--sized-for wants quantiles between 0 and 1, found %g", v), hint: "--sized-for 0.5,0.8,0.95"}
		}
	}
	if err := o.readWobble(a); err != nil {
		return nil, err
	}
	if o.wait != "" {
		if a.wait, err = capcli.ParseStep(o.wait); err != nil {
			return nil, &usageError{text: "--wait: " + err.Error(), hint: "--wait 3mo"}
		}
	}
	a.limits, err = futureLimits(o.most, o.least)
	return a, err
}

// readWobble reads how wrong the demand may be.
func (o *futuresOptions) readWobble(a *futuresAsk) (err error) {
	if o.wrong == "" {
		return nil
	}
	if a.wobble.Error, err = parseShare("--demand-error", o.wrong); err != nil {
		return err
	}
	if a.wobble.HalfLife, err = capcli.ParseSeconds(o.halfLife); err != nil || a.wobble.HalfLife < 1 {
		return &usageError{text: fmt.Sprintf("--half-life wants a length of time, found %q", o.halfLife), hint: "--half-life 90d"}
	}
	return nil
}

// futureLimit is a condition on what a plan comes to in a future.
type futureLimit struct {
	name, text string
	value      float64
	least      bool
}

// futureMetrics are the figures of a plan in a future that can be bounded.
var futureMetrics = []struct {
	name string
	of   func(o *planning.InFuture) (float64, bool)
}{
	{"cost", func(o *planning.InFuture) (float64, bool) { return o.Cost.Float(), true }},
	{"total", func(o *planning.InFuture) (float64, bool) { return o.Cost.Float(), true }},
	{"committed", func(o *planning.InFuture) (float64, bool) { return o.Committed.Float(), true }},
	{"on_demand", func(o *planning.InFuture) (float64, bool) { return o.OnDemand.Float(), true }},
	{"stranded", func(o *planning.InFuture) (float64, bool) { return o.Unused.Float(), true }},
	{"stranded_usd", func(o *planning.InFuture) (float64, bool) { return o.Unused.Float(), true }},
	{"regret", func(o *planning.InFuture) (float64, bool) { return o.Regret.Float(), true }},
	{"coverage", func(o *planning.InFuture) (float64, bool) {
		return float64(o.Covered) / float64(o.Wanted), o.Wanted > 0
	}},
	{"utilisation", func(o *planning.InFuture) (float64, bool) {
		return float64(o.Covered) / float64(o.Paid), o.Paid > 0
	}},
}

// futureLimits reads --max and --min.
func futureLimits(most, least []string) ([]futureLimit, error) {
	names := capcli.Catalog[struct{}]{Kind: "metric of a plan for futures"}
	for _, m := range futureMetrics {
		names.Add(m.name, "", struct{}{})
	}
	var out []futureLimit
	for i, text := range append(append([]string(nil), most...), least...) {
		flag, op, low := "--max", "<=", i >= len(most)
		if low {
			flag, op = "--min", ">="
		}
		name, value, ok := strings.Cut(text, "=")
		name, value = strings.TrimRight(strings.TrimSpace(name), "<> "), strings.TrimSpace(value)
		if !ok {
			return nil, &usageError{text: fmt.Sprintf("%s wants METRIC=VALUE, found %q", flag, text), hint: "--max cost=1.7M --min coverage=80%"}
		}
		if _, err := names.Get(name); err != nil {
			return nil, &usageError{text: flag + ": " + err.Error()}
		}
		as := "cost" // money with k and M, or a share
		if name == "coverage" || name == "utilisation" {
			as = "allocation_rate"
		}
		c, err := outcome.ParseCheck(as + op + value)
		if err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			return nil, &usageError{text: fmt.Sprintf("%s: %s: %s", flag, name, why), hint: "--max cost=1.7M --min coverage=80%"}
		}
		out = append(out, futureLimit{name: name, text: name + " " + op + " " + value, value: c.Value, least: low})
	}
	return out, nil
}

// held tells whether a future holds the limit; a figure that there is not does.
func (l *futureLimit) held(o *planning.InFuture) bool {
	for _, m := range futureMetrics {
		if m.name != l.name {
			continue
		}
		v, known := m.of(o)
		return !known || (l.least && v >= l.value) || (!l.least && v <= l.value)
	}
	return false
}

// pathNames divides "h100/17" into the series and the number of the future.
func pathNames(name string) (of string, path int, err error) {
	i := strings.LastIndexByte(name, '/')
	path, err = strconv.Atoi(name[i+1:])
	if err != nil || path < 0 {
		return "", 0, fmt.Errorf("expected the number of a future, found %q", name[i+1:])
	}
	return name[:max(i, 0)], path, nil
}

// load reads the futures, or draws them.
func (o *futuresOptions) load(ctx context.Context, e *env, c *planCurveOptions, a *futuresAsk) (*futureSet, error) {
	if !a.fromFile {
		return o.draw(ctx, e, c, a)
	}
	h := c.history
	h.measure, h.whole = "demand", true
	if h.id == "" {
		h.id = "unique_id,path"
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	hs, err := h.loadFile(ctx, e, o.file)
	var bad *capcli.InputError
	if errors.As(err, &bad) && c.history.id == "" && o.file != "-" {
		h.ask.ID = "path" // of one series, its name left out
		again, second := h.loadFile(ctx, e, o.file)
		switch {
		case second == nil:
			hs, err = again, nil
		case bad.Field == "unique_id,path": // there is no name: what is wrong is something else
			err = second
		}
	}
	if errors.As(err, &bad) && strings.Contains(bad.Error(), "path") {
		named := *bad
		named.Hint = "futures are what capcli forecast --paths 200 --out futures.parquet writes: unique_id, path, ds, y"
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	return o.ofHistories(c, hs)
}
