package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios/prices"
	planning "capcli/simulate/plan"
)

// planCurveOptions are the flags of the plan of a demand curve.
type planCurveOptions struct {
	demand   string // file
	series   string
	quantile float64
	history  historyOptions

	onDemand string
	falls    []string
	whatIf   []string
	prices   string
	terms    []string
	every    string
	overrun  bool
	lot      string
	discount string
	held     []string
	vary     string
	measure  string // what of a job log; "" is demand
}

// curveFlags are those that the help of capcli plan only names where it is long.
var curveFlags = []string{"series", "quantile", "on-demand-fall", "what-if", "every", "overrun", "lot", "discount", "held", "sensitivity"}

// newPlanCurve is capcli plan --demand by itself, with all that goes with it.
func newPlanCurve(e *env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "curve DEMAND",
		Short: "The cheapest purchases for a demand curve, exactly: capcli plan --demand with its own help",
		Long: "DEMAND is a table (ds, y), one value a line, JSON ({start, step_s, values}, [{ds, y}] or a forecast), Parquet or a\n" +
			"job log. A term is LENGTH=PRICE (36h, 2w, 12mo, 3y) or NAME=LENGTH@PRICE, then upfront=none|partial|all|40%, max=64\n" +
			"(GPUs bought at one time), and prices from a date on, 2026-06-01=0.40. Prices are dollars for a GPU-hour of the term.",
		Example: "  capcli plan curve series.csv --on-demand 1 --term 12mo=0.61 --term 36mo=0.42\n" +
			"  capcli plan curve jobs.parquet --on-demand 3.9 --term all=1y@2.2,upfront=all --term 3y=1.6 --discount 10%\n" +
			"  capcli plan curve series.csv --on-demand 2 --on-demand-fall 2026-06=44% --term 1y=1.2 --held 64@..2026-09-01",
		Args: wantArgs("DEMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.curve.demand != "" && o.curve.demand != args[0] {
				return &usageError{text: "plan curve takes the demand as its argument, found also --demand " + o.curve.demand}
			}
			o.curve.demand = args[0]
			if err := o.output.check(); err != nil {
				return err
			}
			return planCurve(cmd.Context(), e, &o)
		},
	}
	addOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	cmd.Flags().BoolVar(&o.futures.baselines, "baselines", false, "beside it: peak, three-tier, rightsize-90d and online rules")
	return cmd
}

func (o *planCurveOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.demand, "demand", "", "the demand curve: `FILE`, or - for stdin")
	f.StringVar(&o.series, "series", "", "only the series called `NAME` (default: the sum of all)")
	f.Float64Var(&o.quantile, "quantile", 0, "of a forecast, the demand that is not exceeded with this chance, `0.8` (default: the mean)")
	f.StringVar(&o.onDemand, "on-demand", "", "price of a GPU-hour, `$` or key (capcli prices list); then 1,2026-06=0.56")
	f.StringArrayVar(&o.falls, "on-demand-fall", nil, "what if it falls: `DATE=SHARE`, 2026-06=44%")
	f.StringArrayVar(&o.whatIf, "what-if", nil, "what if a price changes: `CHANGE`, 'on_demand -44% from 2026-06'")
	addPricesFlag(cmd, &o.prices)
	complete(cmd, "on-demand", func() []string { return keysOf("on_demand") })
	f.StringArrayVar(&o.terms, "term", nil, "a way to commit: `LENGTH=$`, NAME=LENGTH@$,upfront=50%, LENGTH=KEY")
	complete(cmd, "term", termKeys)
	f.StringVar(&o.every, "every", "1mo", "something may be bought each `PERIOD`: 1h, 1d, 1mo")
	f.BoolVar(&o.overrun, "overrun", false, "a purchase may last beyond the end of the curve; all of it is paid")
	f.StringVar(&o.lot, "lot", "1", "GPUs are bought by so many: `8` for whole nodes, 0.001 where a part can be bought")
	f.StringVar(&o.discount, "discount", "", "cost of capital a year, `10%`: payments to come count less")
	f.StringArrayVar(&o.held, "held", nil, "GPUs committed already, `64@2026-01-01..2027-01-01`: they serve first (may be repeated)")
	f.StringVar(&o.vary, "sensitivity", "", "the same purchases when demand or a price is `SHARE` lower or higher, 20%")
	h := &o.history
	f.StringSliceVar(&h.by, "by", nil, "a series of a job log for each `KEY`: pool, gpu_model, tenant, class; --series takes one")
	f.StringVar(&h.step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1mo (default: as in a table; else 1h)")
	addDemandFlags(cmd, h)
}

// addDemandFlags adds the flags that say how demand is read from a table or a job log.
func addDemandFlags(cmd *cobra.Command, h *historyOptions) {
	f := cmd.Flags()
	f.StringVar(&h.agg, "agg", "", "`HOW` values in one step combine: mean (default with --step), sum or max")
	f.StringVar(&h.gaps, "gaps", "", "steps without a value: `WHAT`, error (default), zero, linear or previous")
	f.StringVar(&h.id, "id-col", "", "`NAME` of the column that tells series apart (unique_id)")
	f.StringVar(&h.time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&h.value, "value-col", "", "`NAME` of the column of values (y)")
	addFormatFlag(cmd, &h.read)
	addTraceFlags(cmd, &h.read)
	explainedBy(cmd, "capcli forecast backtest", "agg", "gaps", "id-col", "time-col", "value-col", "by", "step")
	explainedBy(cmd, "capcli trace describe", "format")
}

// planCurve plans a demand curve.
func planCurve(ctx context.Context, e *env, o *planOptions) error {
	c := &o.curve
	sketch, err := c.sketch(e)
	if err != nil {
		return err
	}
	demand, err := c.load(ctx, e)
	if err != nil {
		return err
	}
	r := &curvePlan{o: o, demand: demand, assumed: sketch.assumed}
	if r.market, err = sketch.market(demand.curve); err != nil {
		return err
	}
	if err := r.hold(sketch.held); err != nil {
		return err
	}
	if err := r.solve(ctx); err != nil {
		return r.failed(err)
	}
	if err := r.vary(ctx, sketch.vary); err != nil {
		return r.failed(err)
	}
	if err := emit(e, o.output, r.doc(o.output.shape(e))); err != nil || demand.partial == "" {
		return err
	}
	return &partialError{text: demand.partial}
}

// failed says of what the error is.
func (r *curvePlan) failed(err error) error {
	switch {
	case errors.Is(err, planning.ErrNotProven):
		return &capcli.AccountingError{Err: err}
	case errors.Is(err, capcli.ErrOverflow), errors.Is(err, capcli.ErrTooMuchTime):
		return &capcli.InputError{File: r.demand.file, Text: err.Error(), Hint: "check the units of the demand and of the prices", Err: err}
	}
	return fmt.Errorf("planning %s: %w", r.demand.file, err)
}

// solve finds the optimum, and what it is held against.
func (r *curvePlan) solve(ctx context.Context) error {
	var err error
	if r.best, err = r.market.Solve(ctx, r.demand.curve); err != nil {
		return err
	}
	if r.baselines, err = r.market.Baselines(ctx, r.demand.curve, r.best); err != nil {
		return err
	}
	if r.o.futures.baselines {
		r.rules, err = r.market.Rules(ctx, r.demand.curve)
	}
	return err
}

// sketch reads the flags of the market, as far as that goes without the curve.
func (o *planCurveOptions) sketch(e *env) (*marketSketch, error) {
	prices, err := readPrices(e, o.prices)
	if err != nil {
		return nil, err
	}
	return o.sketchOf(prices)
}

// sketchOf is sketch with the prices that keys are looked up in.
func (o *planCurveOptions) sketchOf(prices *prices.List) (*marketSketch, error) {
	s := &marketSketch{overrun: o.overrun, keyedRates: keyedRates{prices: prices}}
	if o.onDemand == "" {
		return nil, &usageError{text: "plan wants the price of a GPU-hour on demand: --on-demand is missing", hint: "--on-demand 2.10"}
	}
	var err error
	if s.onDemand, err = s.parsePrices("--on-demand", strings.Split(o.onDemand, ",")); err != nil {
		return nil, err
	}
	for _, text := range o.falls {
		fall, err := parseFall(text)
		if err != nil {
			return nil, err
		}
		s.falls = append(s.falls, fall)
	}
	if err := s.parseTerms(o.terms); err != nil {
		return nil, err
	}
	if err := s.whatIf(o.whatIf); err != nil {
		return nil, err
	}
	for _, text := range o.held {
		h, err := parseHeld(text)
		if err != nil {
			return nil, err
		}
		s.held = append(s.held, h)
	}
	return s, s.numbers(o)
}

// numbers reads the flags that are periods, numbers and shares.
func (s *marketSketch) numbers(o *planCurveOptions) error {
	var err error
	if s.every, err = capcli.ParseStep(o.every); err != nil {
		return &usageError{text: "--every: " + err.Error()}
	}
	if s.lot, err = parseMilli("--lot", o.lot); err != nil {
		return err
	}
	if s.lot == 0 {
		return &usageError{text: "--lot wants a number of GPUs over 0, found " + o.lot}
	}
	if o.vary != "" {
		if s.vary, err = parseShare("--sensitivity", o.vary); err != nil {
			return err
		}
		if s.vary <= 0 || s.vary >= 1 {
			return &usageError{text: "--sensitivity wants a share between 0% and 100%, found " + o.vary}
		}
	}
	if o.discount != "" {
		if s.discount, err = parseShare("--discount", o.discount); err != nil {
			return err
		}
	}
	if o.quantile < 0 || o.quantile >= 1 {
		return &usageError{text: fmt.Sprintf("--quantile wants a chance between 0 and 1, found %g", o.quantile), hint: "--quantile 0.8"}
	}
	return nil
}

// parseMilli reads a number of GPUs in thousandths.
func parseMilli(flag, text string) (int64, error) {
	u, err := capcli.ParseUSD(text) // six places, and no dollar sign is one of a number
	if err != nil || u%1000 != 0 || strings.HasPrefix(text, "$") {
		return 0, &usageError{text: fmt.Sprintf("%s wants a number of GPUs, at most three places, found %q", flag, text)}
	}
	return int64(u / 1000), nil
}

// parseShare reads 10% or 0.1.
func parseShare(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0 && v <= 1000) {
		return 0, &usageError{text: fmt.Sprintf("%s wants a share, 10%% or 0.1, found %q", flag, text)}
	}
	if percent {
		v /= 100
	}
	return v, nil
}
