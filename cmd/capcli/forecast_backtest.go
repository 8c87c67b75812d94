package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
)

func newForecastBacktest(e *env) *cobra.Command {
	var o forecastOptions
	cmd := &cobra.Command{
		Use:   "backtest HISTORY…",
		Short: "Try models on the past: forecast from past starts, never seeing what came after",
		Long: "backtest forecasts from past starts, each from the values before it alone, and measures the models against what came:\n" +
			"error (absolute, over that of repeating the last season), MASE, sMAPE, OWA, CRPS, and how much of it the ranges held.",
		Example: "  capcli forecast backtest jobs.parquet --by tenant,total --model ets,theta,snaive --horizon 48 --origins 10",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return runBacktest(cmd.Context(), e, &o, args) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringSliceVar(&o.models, "model", nil, "`NAMES` of the models, a,b,c (default: "+defaultModel+", snaive and naive)")
	cmd.Flags().StringVar(&o.out, "out", "", "write the result to this `FILE` instead of stdout (-)")
	explainedBy(cmd, "capcli forecast", "prom", "capacity", "past-capacity", "cap", "pending", "by", "step", "level", "horizon", "out", "events")
	complete(cmd, "model", func() []string { return entries(&forecast.Models) })
	return cmd
}

// trials are what each model did on one series; nil where it could not be tried.
type trials struct {
	h         *history
	list      []*trial
	censoring *censoringJSON
	left      error
}

func runBacktest(ctx context.Context, e *env, o *forecastOptions, args []string) error {
	args = o.history.takePeak(args)
	if o.history.peakBy != "" || strings.Contains(o.horizon, ",") {
		return &usageError{text: "a backtest measures single steps, not periods", hint: "give one --horizon, and --peak without a period"}
	}
	if len(args) == 0 && o.history.prom.address == "" {
		return &usageError{text: "forecast backtest wants HISTORY: HISTORY is missing", hint: "capcli forecast backtest --help"}
	}
	if len(o.models) == 0 {
		o.models = []string{defaultModel, "snaive", "naive"}
	}
	if o.origins == 0 {
		o.origins = moreOrigins
	}
	if err := o.check(); err != nil {
		return err
	}
	hs, err := o.read(ctx, e, args)
	if err != nil {
		return err
	}
	o.plan.onThePast()
	p := newProgress(e, "series")
	all, err := capcli.MapParallel(ctx, hs.list, p.counter(len(hs.list)), func(ctx context.Context, h *history) (*trials, error) { return o.tryAll(ctx, hs, h) })
	p.end(int64(len(hs.list)))
	if err != nil {
		return err
	}
	if err := o.agreeBacktest(hs, all); err != nil {
		return err
	}
	var kept []*trials
	for _, t := range all {
		if t.left == nil {
			kept = append(kept, t)
			continue
		}
		hs.left = append(hs.left, fmt.Sprintf("%s: %v", t.h.Name, t.left))
	}
	if len(kept) == 0 {
		return &capcli.InputError{File: strings.Join(hs.Inputs, ", "), Text: "no series can be tried: " + hs.left[0], Hint: "give a longer history, or a shorter --horizon"}
	}
	show(hs, kept, func(t *trials) string { return t.h.Name })
	r := &backtestResult{o: o, hs: hs, list: kept}
	o.output.out = o.out
	if err := emit(e, o.output, r.doc()); err != nil {
		return err
	}
	return hs.missing()
}

func (o *forecastOptions) tryAll(ctx context.Context, hs *histories, h *history) (*trials, error) {
	out := &trials{h: h}
	steps, err := o.ahead(h)
	if err != nil {
		return nil, err
	}
	h.most = o.history.bound(hs.Histories, &h.History, len(h.Values)+steps)
	opts, _ := o.options(hs, h.Known())
	if out.left = tooLittle(h); out.left != nil {
		return out, nil
	}
	most := testable(h, opts)
	if o.horizon != "" && steps > most {
		out.left = fmt.Errorf("the series is too short: %d values, of which at most %d can be kept back, and the horizon is %d", len(h.Values), most, steps)
		return out, nil
	}
	if h.past != nil {
		if t := h.past.behind(h.Values, opts); t.err == nil {
			out.censoring = h.past.count(h, t)
		}
	}
	any := false
	for _, name := range o.models {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		t := o.try(h, opts, name, min(steps, most), o.origins)
		any = any || t != nil
		out.list = append(out.list, t)
	}
	if !any {
		out.left = fmt.Errorf("the series is too short for every model: %d values", len(h.Values))
	}
	return out, nil
}

// backtestResult is what a call of backtest found.
type backtestResult struct {
	o    *forecastOptions
	hs   *histories
	list []*trials
}

// backtestJSON is the JSON of backtest.
type backtestJSON struct {
	Schema   string           `json:"schema"`
	Input    []string         `json:"input"`
	Step     string           `json:"step"`
	Levels   []float64        `json:"levels"`
	Models   []modelMeanJSON  `json:"models"`
	Series   []backtestedJSON `json:"series"`
	Left     []string         `json:"not_tried"`
	Warnings []string         `json:"warnings"`
}

type modelMeanJSON struct {
	Model    string         `json:"model"`
	Series   int            `json:"series"`
	Error    figure         `json:"error_over_seasonal_naive"`
	OWA      figure         `json:"owa"`
	MASE     figure         `json:"mase"`
	SMAPE    figure         `json:"smape"`
	CRPS     figure         `json:"crps"`
	Coverage []coverageJSON `json:"coverage"`
}

type backtestedJSON struct {
	ID        string         `json:"unique_id"`
	Censoring *censoringJSON `json:"censoring"`
	Trials    []*trialJSON   `json:"trials"`
}

// means are a model's measures as means over the series.
func (r *backtestResult) means(k int) modelMeanJSON {
	out := modelMeanJSON{Model: r.o.models[k]}
	over := func(f func(t *trial) float64) figure {
		sum, n := 0.0, 0
		for _, s := range r.list {
			if s.list[k] == nil {
				continue
			}
			if v := f(s.list[k]); !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum, n = sum+v, n+1
			}
		}
		return figure(sum / float64(n))
	}
	for _, s := range r.list {
		if s.list[k] != nil {
			out.Series++
		}
	}
	out.Error = over(func(t *trial) float64 { return t.error })
	out.OWA = over(func(t *trial) float64 { return t.owa })
	out.MASE = over(func(t *trial) float64 { return t.MASE })
	out.SMAPE = over(func(t *trial) float64 { return t.SMAPE })
	out.CRPS = over(func(t *trial) float64 { return t.CRPS })
	for i, level := range r.o.level {
		out.Coverage = append(out.Coverage, coverageJSON{
			level, over(func(t *trial) float64 { return t.coverage[i] }), over(func(t *trial) float64 { return t.MSIS[i] }),
		})
	}
	return out
}

func (r *backtestResult) doc() report.Doc {
	data := &backtestJSON{
		Schema: "capcli/forecast_backtest/v1", Input: r.hs.Inputs, Step: r.hs.stepJSON(), Levels: r.o.level,
		Series: []backtestedJSON{}, Left: list(r.hs.left), Warnings: list(r.hs.Notes),
	}
	columns := []report.Column{{Name: "model"}, {Name: "error"}, {Name: "owa", Head: "OWA"}, {Name: "mase", Head: "MASE"}, {Name: "smape", Head: "sMAPE %"}, {Name: "crps", Head: "CRPS", Priority: 1}}
	for _, level := range r.o.level {
		columns = append(columns, report.Column{Name: "held-" + levelText(level), Head: levelText(level) + "% range held"},
			report.Column{Name: "msis-" + levelText(level), Head: "MSIS " + levelText(level), Priority: 2})
	}
	models := report.Table{Name: "models", Columns: append(slices.Clone(columns), report.Column{Name: "series", Priority: 1})}
	each := report.Table{Name: "series", Aside: true, Columns: append([]report.Column{{Name: "unique_id", Head: "series"}}, columns...)}
	best, origins, steps := "", 0, 0
	least := math.Inf(1)
	for k, name := range r.o.models {
		m := r.means(k)
		data.Models = append(data.Models, m)
		row := []any{name, knownRatio(float64(m.Error)), knownRatio(float64(m.OWA)), knownRatio(float64(m.MASE)), figureCell(m.SMAPE), figureCell(m.CRPS)}
		for _, c := range m.Coverage {
			row = append(row, knownPercent(float64(c.Held)), figureCell(c.MSIS))
		}
		models.Rows = append(models.Rows, append(row, m.Series))
		if v := float64(m.MASE); v < least {
			best, least = name, v
		}
	}
	for _, s := range r.list {
		one := backtestedJSON{ID: s.h.Name, Censoring: s.censoring, Trials: []*trialJSON{}}
		for k, t := range s.list {
			row := []any{s.h.Name, r.o.models[k], nil, nil, nil, nil, nil}
			if t == nil {
				row = append(row, make([]any, 2*len(r.o.level))...)
				each.Rows = append(each.Rows, row)
				continue
			}
			origins, steps = max(origins, t.origins), max(steps, t.steps)
			one.Trials = append(one.Trials, t.json(r.o.level))
			row = []any{s.h.Name, t.model, knownRatio(t.error), knownRatio(t.owa), knownRatio(t.MASE), figureCell(figure(t.SMAPE)), figureCell(figure(t.CRPS))}
			for i := range r.o.level {
				row = append(row, knownPercent(t.coverage[i]), figureCell(figure(t.MSIS[i])))
			}
			each.Rows = append(each.Rows, row)
		}
		data.Series = append(data.Series, one)
	}
	d := report.Doc{Data: data, Tables: []report.Table{models, each}, Notes: r.hs.Notes}
	d.Lead = fmt.Sprintf("%d series, from up to %d past %s, %s ahead", len(r.list), origins, plural(int64(origins), "start"), r.hs.count(steps))
	if best != "" {
		d.Lead += fmt.Sprintf(": %s has the lowest MASE, %.2f", best, least)
	}
	d.Lead += "."
	d.Notes = append(slices.Clone(d.Notes), r.censoredNotes()...)
	for _, l := range capcli.Abridge(r.hs.left, 5) {
		d.Notes = append(d.Notes, "not tried: "+l)
	}
	return d
}

// censoredNotes say what of the history was told and how that was tried.
func (r *backtestResult) censoredNotes() []string {
	var each []*censoringJSON
	var tried []*trial
	for _, s := range r.list {
		if !r.hs.isSum(s.h) { // its parts say it
			each, tried = append(each, s.censoring), append(tried, s.list...)
		}
	}
	out := r.hs.censoredNotes(each, tried)
	for _, s := range r.list {
		if s.censoring == nil {
			continue
		}
		for _, w := range s.h.Warnings {
			out = append(out, s.h.Name+": "+w)
		}
	}
	return out
}

func figureCell(v figure) any {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return nil
	}
	return float64(v)
}
