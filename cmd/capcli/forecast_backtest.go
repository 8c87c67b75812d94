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
	"capcli/forecast/outlook"
	"capcli/profile/demand"
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
	cmd.Flags().StringSliceVar(&o.ask.Models, "model", nil, "`NAMES` of the models, a,b,c (default: "+outlook.DefaultModel+", snaive and naive)")
	cmd.Flags().StringVar(&o.out, "out", "", "write the result to this `FILE` instead of stdout (-)")
	explainedBy(cmd, "capcli forecast", "prom", "past-capacity", "cap", "by", "step", "level", "horizon", "out", "events")
	complete(cmd, "model", func() []string { return entries(&forecast.Models) })
	return cmd
}

func runBacktest(ctx context.Context, e *env, o *forecastOptions, args []string) error {
	if _, err := capcli.ParseTime(o.ask.Horizon, nil, true); err == nil {
		return &usageError{text: "a backtest wants --horizon as steps or a length of time, found " + o.ask.Horizon, hint: "--horizon 2w"}
	}
	args = o.history.takePeak(args)
	if o.history.peakBy != "" || strings.Contains(o.ask.Horizon, ",") {
		return &usageError{text: "a backtest measures single steps, not periods", hint: "give one --horizon, and --peak without a period"}
	}
	if len(args) == 0 && o.history.ask.Prometheus == "" {
		return &usageError{text: "forecast backtest wants HISTORY: HISTORY is missing", hint: "capcli forecast backtest --help"}
	}
	if err := o.check(); err != nil {
		return err
	}
	hs, err := o.read(ctx, e, args)
	if err != nil {
		return err
	}
	p := newProgress(e, "series")
	result, err := outlook.Backtest(ctx, hs, o.ask, p.counter(len(hs.List)))
	p.end(int64(len(hs.List)))
	if err != nil {
		return err
	}
	o.output.out = o.out
	if err := emit(e, o.output, (&backtestResult{result, hs}).doc()); err != nil {
		return err
	}
	return missingSeries(hs, result.NotTried)
}

// backtestResult presents a backtest.
type backtestResult struct {
	*outlook.BacktestResult
	hs *demand.Histories
}

func (r *backtestResult) doc() report.Doc {
	columns := []report.Column{{Name: "model"}, {Name: "error"}, {Name: "owa", Head: "OWA"}, {Name: "mase", Head: "MASE"}, {Name: "smape", Head: "sMAPE %"}, {Name: "crps", Head: "CRPS", Priority: 1}}
	for _, level := range r.Levels {
		text := outlook.LevelText(level)
		columns = append(columns, report.Column{Name: "held-" + text, Head: text + "% range held"}, report.Column{Name: "msis-" + text, Head: "MSIS " + text, Priority: 2})
	}
	models := report.Table{Name: "models", Columns: append(slices.Clone(columns), report.Column{Name: "series", Priority: 1})}
	each := report.Table{Name: "series", Aside: true, Columns: append([]report.Column{{Name: "unique_id", Head: "series"}}, columns...)}
	best, origins, steps := "", 0, 0
	least := math.Inf(1)
	for _, m := range r.Models {
		models.Rows = append(models.Rows, append(scoreCells([]any{m.Model}, m.Error, m.OWA, m.MASE, m.SMAPE, m.CRPS, m.Coverage), m.Series))
		if v := float64(m.MASE); v < least {
			best, least = m.Model, v
		}
	}
	for _, s := range r.Series {
		for k, t := range s.ByModel {
			if t == nil {
				each.Rows = append(each.Rows, append([]any{s.ID, r.Models[k].Model}, make([]any, 5+2*len(r.Levels))...))
				continue
			}
			origins, steps = max(origins, t.Origins), max(steps, t.Steps)
			each.Rows = append(each.Rows, scoreCells([]any{s.ID, t.Model}, t.Error, t.OWA, t.MASE, t.SMAPE, t.CRPS, t.Coverage))
		}
	}
	d := report.Doc{Data: r.BacktestResult, Tables: []report.Table{models, each}, Notes: append(slices.Clone(r.Warnings), r.censoredNotes()...)}
	d.Lead = fmt.Sprintf("%d series, from up to %d past %s, %s ahead", len(r.Series), origins, plural(int64(origins), "start"), stepCount(r.hs, steps))
	if best != "" {
		d.Lead += fmt.Sprintf(": %s has the lowest MASE, %.2f", best, least)
	}
	d.Lead += "."
	for _, l := range capcli.Abridge(r.NotTried, 5) {
		d.Notes = append(d.Notes, "not tried: "+l)
	}
	return d
}

// scoreCells adds the measures of a model to a row.
func scoreCells(row []any, relative, owa, mase, smape, crps figure, coverage []outlook.Coverage) []any {
	row = append(row, knownRatio(float64(relative)), knownRatio(float64(owa)), knownRatio(float64(mase)), figureCell(smape), figureCell(crps))
	for _, c := range coverage {
		row = append(row, knownPercent(float64(c.Held)), figureCell(c.MSIS))
	}
	return row
}

// censoredNotes say what of the history was told and how that was tried.
func (r *backtestResult) censoredNotes() []string {
	var each []*outlook.Censoring
	var tried []*outlook.Trial
	for _, s := range r.Series {
		if !s.Sum { // its parts say it
			each, tried = append(each, s.Censoring), append(tried, s.Trials...)
		}
	}
	out := censoredNotes(each, tried)
	for _, s := range r.Series {
		if s.Censoring == nil {
			continue
		}
		for _, w := range s.Source.Warnings {
			out = append(out, s.ID+": "+w)
		}
	}
	return out
}
