package forecast

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/forecast"
	"capcli/forecast/outlook"
)

func newForecastBacktest(e *shell.Env) *cobra.Command {
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
	shell.ExplainedBy(cmd, "capcli forecast", "prom", "past-capacity", "cap", "by", "step", "level", "horizon", "out", "events")
	shell.Complete(cmd, "model", func() []string { return shell.Entries(&forecast.Models) })
	return cmd
}

func runBacktest(ctx context.Context, e *shell.Env, o *forecastOptions, args []string) error {
	if _, err := capcli.ParseTime(o.ask.Horizon, nil, true); err == nil {
		return &shell.UsageError{Text: "a backtest needs --horizon as steps or a length of time, found " + o.ask.Horizon, Hint: "--horizon 2w"}
	}
	args = o.history.TakePeak(args)
	if o.history.PeakBy != "" || strings.Contains(o.ask.Horizon, ",") {
		return &shell.UsageError{Text: "a backtest measures single steps, not periods", Hint: "give one --horizon, and --peak without a period"}
	}
	if len(args) == 0 && o.history.Ask.Prometheus == "" {
		return &shell.UsageError{Text: "forecast backtest needs HISTORY: HISTORY is missing", Hint: "capcli forecast backtest --help"}
	}
	if err := o.check(); err != nil {
		return err
	}
	hs, err := o.read(ctx, e, args)
	if err != nil {
		return err
	}
	p := shell.NewProgress(e, "series")
	result, err := outlook.Backtest(ctx, hs, o.ask, p.Counter(len(hs.List)))
	p.End(int64(len(hs.List)))
	if err != nil {
		return err
	}
	o.output.Out = o.out
	if err := shell.Emit(e, o.output, tables.BacktestDoc(result)); err != nil {
		return err
	}
	return missingSeries(hs, result.NotTried)
}
