package plan

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/curve"
)

// planCurveOptions are the flags of capcli plan curve.
type planCurveOptions struct {
	demand   string // the file of the demand curve; "-" is stdin
	series   string
	quantile float64
	history  shell.HistoryOptions
	ask      curve.Request // the request, filled by the flags
	prices   string
}

// newPlanCurve makes the command capcli plan curve, which capcli plan --demand runs.
func newPlanCurve(e *shell.Env) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "curve DEMAND",
		Short: "Find the cheapest purchases for a demand curve, exactly",
		Long: "DEMAND is a table (ds, y), one value a line, JSON ({start, step_s, values}, [{ds, y}] or a forecast), Parquet or a\n" +
			"job log. A term is LENGTH=PRICE (36h, 2w, 12mo, 3y) or NAME=LENGTH@PRICE, then upfront=none|partial|all|40%, max=64\n" +
			"(GPUs bought at one time), lead=5mo (order to start), on=2027-01-01 (its days of purchase), and prices from a date on,\n" +
			"2026-06-01=0.40. Prices are dollars for a GPU-hour of the term; of a term longer than the curve the part within counts.",
		Example: "  capcli plan curve series.csv --on-demand 1 --term 12mo=0.61 --term 36mo=0.42\n" +
			"  capcli plan curve jobs.parquet --on-demand 3.9 --term all=1y@2.2,upfront=all --term 3y=1.6 --discount 10%\n" +
			"  capcli plan curve series.csv --on-demand 2 --what-if fall=2026-06=44% --term 1y=1.2 --held 64@..2026-09-01",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.curve.demand != "" {
				return nil
			}
			return shell.WantArgs("DEMAND")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.curve.demand = cmp.Or(o.curve.demand, strings.Join(args, ""))
			if len(args) > 0 && o.curve.demand != args[0] {
				return &shell.UsageError{Text: "plan curve takes the demand as its argument, found also --demand " + o.curve.demand}
			}
			return planCurve(cmd.Context(), e, &o)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.curve.addFlags(cmd)
	cmd.Flags().BoolVar(&o.curve.ask.Rules, "baselines", false, "compare with the rules peak, three-tier, rightsize-90d and online")
	bundle.Add(cmd, "compare", "compare with `RULES`: baselines (peak, three-tier, rightsize-90d and online)", true, bundle.SameKeys("baselines")...)
	return cmd
}

func (o *planCurveOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.demand, "demand", "", "the demand curve: `FILE`, or - for stdin")
	f.StringVar(&o.series, "series", "", "only the series called `NAME` (default: the sum of all)")
	f.Float64Var(&o.quantile, "quantile", 0, "quantile of a forecast to plan for, `0.8` (default: the mean)")
	f.StringVar(&o.ask.Market.OnDemand, "on-demand", "", "price of a GPU-hour, `$` or key (capcli prices list); then 1,2026-06=0.56")
	f.StringArrayVar(&o.ask.Market.Falls, "on-demand-fall", nil, "what if the on-demand price falls: `DATE=SHARE`, 2026-06=44%")
	f.StringArrayVar(&o.ask.Market.Changes, "what-if", nil, "what if a price changes: `CHANGE`, 'on_demand -44% from 2026-06'")
	shell.AddPricesFlag(cmd, &o.prices)
	shell.Complete(cmd, "on-demand", func() []string { return shell.PriceKeys("on_demand") })
	f.StringVar(&o.ask.Market.After, "after", "", "`RULE` for terms that last beyond the end of the curve: prorated, tail=64, whole, fitting")
	f.BoolVar(&o.ask.Market.Overrun, "overrun", false, "allow purchases that last beyond the end of the curve; they are paid in full")
	o.addTermFlags(cmd)
	bundle.Add(cmd, "buy", "rules of purchases, `KEY=VALUE`,…: every=1mo (1h, 1d), lot=8 (GPUs), after=prorated (tail=64 GPUs, whole, fitting)", true,
		bundle.SameKeys("every", "lot", "after", "overrun")...)
	f.StringVar(&o.ask.Market.Discount, "discount", "", "cost of capital per year, `10%`: discounts future payments")
	f.StringArrayVar(&o.ask.Market.Held, "held", nil, "existing commitments, `64@2026-01-01..2027-01-01`: they serve first (may be repeated)")
	f.StringVar(&o.ask.Sensitivity, "sensitivity", "", "sensitivity: the same purchases with demand or a price `SHARE` lower or higher, 20%")
	h := &o.history
	f.StringSliceVar(&h.Ask.By, "by", nil, "one series of a job log per `KEY`: pool, gpu_model, tenant, class; --series takes one")
	f.StringVar(&h.Step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1mo (default: as in a table; else 1h)")
	addDemandFlags(cmd, h)
	bundle.Add(cmd, "what-if", "what if a price changes: `CHANGE`, 'on_demand -44% from 2026-06', fall=2026-06=44% (on demand) or all=20%", false,
		bundle.Key{"fall", "on-demand-fall"}, bundle.Key{"all", "sensitivity"})
}

// addTermFlags adds the flags that say what can be committed to.
func (o *planCurveOptions) addTermFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.ask.Market.Terms, "term", nil, "term to commit on: `LENGTH=$`, NAME=LENGTH@$,upfront=50%, LENGTH=KEY")
	shell.Complete(cmd, "term", shell.TermKeys)
	f.StringVar(&o.ask.Market.Every, "every", "1mo", "purchases start at each `PERIOD`: 1h, 1d, 1mo")
	f.StringVar(&o.ask.Market.Lot, "lot", "1", "GPUs per lot: `8` for whole nodes, 0.001 if parts of a GPU can be bought")
}

// addDemandFlags adds the flags that say how demand is read from a table or a job log.
func addDemandFlags(cmd *cobra.Command, h *shell.HistoryOptions) {
	f := cmd.Flags()
	f.StringVar((*string)(&h.Ask.Combine), "agg", "", "`HOW` values in one step combine: mean (default with --step), sum or max")
	f.StringVar((*string)(&h.Ask.Gaps), "gaps", "", "steps without a value: `WHAT`, error (default), zero, linear or previous")
	f.StringVar(&h.Ask.ID, "id-col", "", "`NAME` of the column that identifies the series (unique_id)")
	f.StringVar(&h.Ask.Time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&h.Ask.Value, "value-col", "", "`NAME` of the column of values (y)")
	shell.AddFormatFlag(cmd, &h.Read)
	shell.AddReadFlag(cmd, &h.Read, shell.TableKeys...)
}

// request returns the request of the flags, with the price catalogue in which keys are looked up.
func (o *planCurveOptions) request(e *shell.Env) (*curve.Request, error) {
	q := &o.ask
	var err error
	if q.Market.Prices, err = shell.ReadPrices(e, o.prices); err != nil {
		return nil, err
	}
	// A request takes the empty text as the default; an empty flag is a mistake.
	if q.Market.Every == "" {
		_, err := capcli.ParseStep("")
		return nil, &shell.UsageError{Text: "--every: " + err.Error()}
	}
	if q.Market.Lot == "" {
		return nil, &shell.UsageError{Text: `--lot needs a number of GPUs with at most three decimals, found ""`}
	}
	return q, nil
}

// source returns how to read the demand; measure is the figure to measure in a job log.
func (o *planCurveOptions) source(measure string) (curve.Source, error) {
	h := &o.history
	h.Ask.Measure, h.Ask.Curve = measure, true
	err := h.Check()
	s := curve.Source{Request: h.Ask, Series: o.series, Quantile: o.quantile}
	if o.demand != "" {
		s.Inputs = []string{o.demand}
	}
	if err == nil {
		err = s.Check()
	}
	return s, err
}

func planCurve(ctx context.Context, e *shell.Env, o *planOptions) error {
	ask, err := o.curve.request(e)
	if err != nil {
		return err
	}
	question, err := ask.Parse()
	if err != nil {
		return err
	}
	source, err := o.curve.source("demand")
	if err != nil {
		return err
	}
	d, err := source.Read(ctx, e.Sources())
	if err != nil {
		return err
	}
	r, err := question.Plan(ctx, d)
	if err != nil {
		return err
	}
	return emitPart(e, o.output, tables.CurveDoc(r, o.output.Shape(e)), r.Partial)
}

// emitPart writes a document. It fails with Incomplete if missing is not empty.
func emitPart(e *shell.Env, o shell.OutputOptions, d report.Doc, missing string) error {
	if err := shell.Emit(e, o, d); err != nil || missing == "" {
		return err
	}
	return &capcli.ResultError{Kind: capcli.Incomplete, Text: missing}
}
