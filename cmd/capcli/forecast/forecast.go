package forecast

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/scenarios/play"
)

// forecastOptions are the flags of capcli forecast and of capcli forecast backtest.
type forecastOptions struct {
	history shell.HistoryOptions
	output  shell.OutputOptions
	ask     outlook.Request
	levels  []string
	seed    uint64
	events  []string // files of events
	out     string
}

func newForecast(e *shell.Env) *cobra.Command {
	var o forecastOptions
	cmd := &cobra.Command{
		Use:   "forecast HISTORY…",
		Short: "Forecast GPU demand, with ranges and the error of past forecasts",
		Long: "HISTORY is a job log (demand is then unconstrained: no job waits), a long table (unique_id, ds, y), one value\n" +
			"per line, or folders of capcli profile. A full cluster hides demand: give its capacity, and the queue if known.",
		Example: "  capcli forecast jobs.parquet --by pool --step 1w --horizon 2027-12-31\n" +
			"  capcli forecast usage.csv --capacity capacity.csv --pending queue.csv --horizon 48 --level 80,95 -o csv\n" +
			"  capcli forecast gpu-profile --by tenant,total --horizon 2w",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runForecast(cmd.Context(), e, &o, args) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.ask.Model, "model", outlook.DefaultModel, "`NAME` of the model (capcli forecast models)")
	shell.Complete(cmd, "model", func() []string { return shell.Entries(&forecast.Models) })
	f.IntVar(&o.ask.Paths, "paths", 0, "write `N` possible futures of each series to --out")
	f.StringVar(&o.out, "out", "", "write the futures of --paths, or else the result, to this `FILE`")
	shell.ExplainedBy(cmd, "capcli forecast backtest", "origins", "peak", "measure", "fit", "sums", "capacity", "pending")
	cmd.AddCommand(newForecastBacktest(e), newForecastModels(e), newForecastEvents(e))
	return cmd
}

// addFlags adds the flags shared by forecast and backtest to cmd.
func (o *forecastOptions) addFlags(cmd *cobra.Command) {
	o.history.AddFlags(cmd)
	shell.AddFormFlags(cmd, &o.output)
	f := cmd.Flags()
	f.IntSliceVar(&o.ask.Seasons, "season", nil, "season lengths in steps, `24,168`; 0 is none (default: by the step)")
	f.StringVar(&o.ask.Horizon, "horizon", "", "horizon: `N` steps, a length such as 2w, a date, or periods such as 4w,3mo")
	f.StringSliceVar(&o.levels, "level", []string{"80", "95"}, "levels of the ranges in percent: `80,95`")
	f.StringArrayVar(&o.events, "events", nil, "known launches, campaigns and holidays: `FILE` (repeat; capcli forecast events init)")
	f.StringVar(&o.ask.Changes, "changes", "", "level shifts: `WHAT`, show, none or use (fit only the values since the last one)")
	shell.Complete(cmd, "changes", func() []string { return outlook.ChangesChoices })
	f.StringVar(&o.ask.Outliers, "outliers", "", "impossible values and outages: `WHAT`, aside (default) or keep")
	f.StringVar(&o.ask.Reconcile, "reconcile", "", "reconcile parts and sums by `METHOD`: mint (default), wls, ols, bottom-up, none")
	shell.Complete(cmd, "reconcile", outlook.Reconciliations)
	f.IntVar(&o.ask.Origins, "origins", 0, "backtest origins: `N` (default 4; 10 in forecast backtest)")
	f.BoolVar(&o.ask.Negative, "allow-negative", false, "allow negative ranges for a history that was never negative")
	f.Uint64Var(&o.seed, "seed", 1, "random seed: a whole `NUMBER` from 0")
	bundle.Add(cmd, "fit", "settings of the fit, `KEY=VALUE`,…: season=24,168, changes=use, outliers=keep, allow-negative", true, bundle.SameKeys("season", "changes", "outliers", "allow-negative")...)
	bundle.Add(cmd, "sums", "sums of series, `KEY=VALUE`,…: total (of all), sep=/ (levels in ids), reconcile=mint", true,
		bundle.Key{"total", "total"}, bundle.Key{"sep", "id-sep"}, bundle.Key{"reconcile", "reconcile"})
	shell.ExplainedBy(cmd, "capcli simulate", "seed")
}

// check refuses wrong flags before any file is read, and completes the request except for its
// events.
func (o *forecastOptions) check() error {
	r := &o.ask
	r.Seed, r.Peak, r.PeakBy = capcli.Seed(o.seed), o.history.Ask.Peak, o.history.PeakBy
	o.history.Periods = r.AllowsPeriods()
	var err error
	if r.Levels, err = outlook.ParseLevels(o.levels); err != nil {
		return err
	}
	if err := o.history.Check(); err != nil {
		return err
	}
	if _, err := capcli.ParseTime(r.Horizon, nil, true); err == nil {
		r.Horizon, r.Until = "", r.Horizon
	}
	if r.Paths > 0 && o.out == "" {
		return &shell.UsageError{Text: "--paths writes a file: --out is missing", Hint: "--paths 200 --out futures.parquet"}
	}
	return r.Check()
}

func runForecast(ctx context.Context, e *shell.Env, o *forecastOptions, args []string) error {
	args = o.history.TakePeak(args)
	if len(args) == 0 && o.history.Ask.Prometheus == "" {
		return &shell.UsageError{Text: "forecast needs HISTORY: HISTORY is missing", Hint: "capcli forecast --help"}
	}
	if err := o.check(); err != nil {
		return err
	}
	if _, err := forecast.Models.Get(o.ask.Model); err != nil { // also refuses ""
		return err
	}
	if err := o.checkOut(e, args); err != nil {
		return err
	}
	hs, err := o.read(ctx, e, args)
	if err != nil {
		return err
	}
	p := shell.NewProgress(e, "series")
	result, err := outlook.Forecast(ctx, hs, o.ask, p.Counter(len(hs.List)))
	p.End(int64(len(hs.List)))
	if err != nil {
		return err
	}
	r := &tables.Forecast{Result: result, Ask: &o.ask, Histories: hs, Whole: len(o.output.Columns) > 0}
	if err := o.write(e, r); err != nil {
		return err
	}
	return missingSeries(hs, r.NotForecast)
}

// missingSeries returns the error, given after the result is written, for series left out of it or
// input that was incomplete. It returns nil when nothing is missing.
func missingSeries(hs *demand.Histories, left []string) error {
	switch {
	case len(left) > 0:
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: fmt.Sprintf("%d series not forecast: %s", len(left), strings.Join(capcli.Abridge(left, 3), "; "))}
	case hs.Partial != "":
		return &capcli.ResultError{Kind: capcli.Incomplete, Text: hs.Partial}
	}
	return nil
}

// write writes the futures and the forecast to --out and stdout.
func (o *forecastOptions) write(e *shell.Env, r *tables.Forecast) error {
	parquet := strings.HasSuffix(strings.ToLower(o.out), ".parquet")
	switch {
	case o.ask.Paths > 0:
		if err := r.CheckFutures(); err != nil {
			return err
		}
		write := func(w io.Writer) error { return r.WriteFuturesCSV(w, report.Guard) }
		if parquet {
			write = r.WriteFuturesParquet
		}
		if err := shell.WriteOutput(e, o.out, write); err != nil {
			return err
		}
		e.Note(fmt.Sprintf("wrote %d futures of %d series: %s", o.ask.Paths, len(r.Series), o.out))
	case parquet && o.output.Form == "":
		if err := shell.WriteOutput(e, o.out, r.WriteParquet); err != nil {
			return err
		}
		for _, n := range r.Notes() {
			e.Note(n)
		}
		return nil
	default:
		o.output.Out = o.out
	}
	return shell.Emit(e, o.output, r.Doc(o.output.Shape(e)))
}

// checkOut refuses, before any work, an --out that is also an input, and an --out for futures that
// ends neither in .csv nor in .parquet.
func (o *forecastOptions) checkOut(e *shell.Env, args []string) error {
	if o.out == "" || o.out == "-" {
		return nil
	}
	low := strings.ToLower(o.out)
	if o.ask.Paths > 0 && !strings.HasSuffix(low, ".csv") && !strings.HasSuffix(low, ".parquet") {
		return &shell.UsageError{Text: fmt.Sprintf("--out %s: cannot tell from its ending what to write", o.out), Hint: "end the name in .csv or .parquet"}
	}
	r := &o.history.Ask
	for _, name := range append(slices.Concat(args, o.events), r.Past.File, r.Cap.File, r.Pending) {
		if name != "" && name != "-" && shell.SameFile(e, name, o.out) {
			return &shell.UsageError{Text: fmt.Sprintf("--out %s is a file that is read: it would be overwritten", o.out), Hint: "name another file"}
		}
	}
	return nil
}

func (o *forecastOptions) read(ctx context.Context, e *shell.Env, args []string) (*demand.Histories, error) {
	if len(o.events) > 0 {
		var err error
		if o.ask.Events, err = play.ReadEvents(e.Opener(), o.events, o.history.Ask.Trace.TZ); err != nil {
			return nil, err
		}
	}
	o.history.Ask.Inputs = args
	return demand.Read(ctx, o.history.Ask, e.Sources())
}

func newForecastModels(e *shell.Env) *cobra.Command {
	var o shell.OutputOptions
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "List the models that forecast can use",
		Example: "  capcli forecast models",
		Args:    shell.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return shell.Emit(e, o, tables.ModelsDoc()) },
	}
	shell.AddOutputFlags(cmd, &o)
	return cmd
}
