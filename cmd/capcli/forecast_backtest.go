package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
	"capcli/forecast/outlook"
)

func newForecastBacktest(e *env) *cobra.Command {
	var o forecastOptions
	cmd := &cobra.Command{
		Use:   "backtest HISTORY…",
		Short: "Backtest models: forecast from past origins, each from earlier values alone",
		Long: "backtest forecasts from past origins, each from the values before it alone, and scores the models:\n" +
			"error (relative to repeating the last season), MASE, sMAPE, OWA, CRPS, and the coverage of the ranges.",
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
		return &usageError{text: "a backtest needs --horizon as steps or a length of time, found " + o.ask.Horizon, hint: "--horizon 2w"}
	}
	args = o.history.takePeak(args)
	if o.history.peakBy != "" || strings.Contains(o.ask.Horizon, ",") {
		return &usageError{text: "a backtest measures single steps, not periods", hint: "give one --horizon, and --peak without a period"}
	}
	if len(args) == 0 && o.history.ask.Prometheus == "" {
		return &usageError{text: "forecast backtest needs HISTORY: HISTORY is missing", hint: "capcli forecast backtest --help"}
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
	if err := emit(e, o.output, backtestDoc(result)); err != nil {
		return err
	}
	return missingSeries(hs, result.NotTried)
}

// modelTrial is the trial of a model on one series; Trial is nil where the model could not be
// tried.
type modelTrial struct {
	series, model string
	*outlook.Trial
}

func backtestDoc(r *outlook.BacktestResult) report.Doc {
	models := scoreFields(r.Levels, func(m outlook.ModelScore) *outlook.Trial {
		return &outlook.Trial{Error: m.Error, OWA: m.OWA, MASE: m.MASE, SMAPE: m.SMAPE, CRPS: m.CRPS, Coverage: m.Coverage}
	}, report.Field[outlook.ModelScore]{Name: "model"})
	models = append(models, report.Field[outlook.ModelScore]{Name: "series", Priority: 1})
	each := scoreFields(
		r.Levels, func(t modelTrial) *outlook.Trial { return t.Trial },
		report.Field[modelTrial]{Name: "unique_id", Head: "series", Cell: func(t modelTrial) any { return t.series }},
		report.Field[modelTrial]{Name: "model", Cell: func(t modelTrial) any { return t.model }},
	)
	var trials []modelTrial
	for _, s := range r.Series {
		for k, t := range s.ByModel {
			trials = append(trials, modelTrial{s.ID, r.Models[k].Model, t})
		}
	}
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "models"}, r.Models, models),
		report.Fill(report.Table{Name: "series", Aside: true}, trials, each),
	}}
}

// scoreFields are the columns of a trial's measures, after the columns first. trial returns the
// trial of a row, or nil where there is none.
func scoreFields[R any](levels []float64, trial func(R) *outlook.Trial, first ...report.Field[R]) []report.Field[R] {
	field := func(name, head string, priority int, as func(float64) any, get func(*outlook.Trial) figure) report.Field[R] {
		return report.Field[R]{Name: name, Head: head, Priority: priority, As: as, Cell: func(row R) any {
			if t := trial(row); t != nil {
				return get(t)
			}
			return nil
		}}
	}
	out := append(
		first,
		field("error", "", 0, report.AsRatio, func(t *outlook.Trial) figure { return t.Error }),
		field("owa", "OWA", 0, report.AsRatio, func(t *outlook.Trial) figure { return t.OWA }),
		field("mase", "MASE", 0, report.AsRatio, func(t *outlook.Trial) figure { return t.MASE }),
		field("smape", "sMAPE %", 0, nil, func(t *outlook.Trial) figure { return t.SMAPE }),
		field("crps", "CRPS", 1, nil, func(t *outlook.Trial) figure { return t.CRPS }),
	)
	for k, level := range levels {
		text := outlook.LevelText(level)
		out = append(
			out,
			field("held-"+text, text+"% range held", 0, report.AsPercent, func(t *outlook.Trial) figure { return t.Coverage[k].Held }),
			field("msis-"+text, "MSIS "+text, 2, nil, func(t *outlook.Trial) figure { return t.Coverage[k].MSIS }),
		)
	}
	return out
}
