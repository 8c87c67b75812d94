package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/forecast"
)

// forecastOptions are the flags of capcli forecast and of its backtest.
type forecastOptions struct {
	history  historyOptions
	output   outputOptions
	out      string
	season   []int
	horizon  string
	periods  []period // where --horizon is a list
	until    string
	model    string
	models   []string // of the backtest
	levels   []string
	level    []float64
	negative bool
	origins  int
	paths    int
	seed     uint64
	events   string     // file
	plan     *eventPlan // of the series that were read
	changes  string
	look     bool // for changes
}

// Bounds on what one call makes.
const (
	maxHorizon  = 100_000
	maxPaths    = 100_000
	maxCells    = 50_000_000 // figures in the paths of all series
	maxOrigins  = 1000
	fewOrigins  = 4 // of the small backtest that each forecast runs
	autoOrigins = 2 // the same for auto on a long series: it tries its members on the past itself, which takes time
	longSeries  = 300
	moreOrigins = 10
)

func newForecast(e *env) *cobra.Command {
	var o forecastOptions
	cmd := &cobra.Command{
		Use:   "forecast HISTORY…",
		Short: "Say how many GPUs will be wanted, how sure that is, and how right it was before",
		Long: "HISTORY is a job log (demand is then what was wanted had nobody waited), a long table (unique_id, ds, y), one value\n" +
			"a line, or folders of capcli profile. Usage shows demand only where there was room: give that, and what waited.",
		Example: "  capcli forecast jobs.parquet --by pool --step 1w --until 2027-12-31\n" +
			"  capcli forecast usage.csv --capacity capacity.csv --pending queue.csv --horizon 48 --level 80,95 -o csv\n" +
			"  capcli forecast gpu-profile --by tenant,total --horizon 2w",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runForecast(cmd.Context(), e, &o, args) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.model, "model", defaultModel, "`NAME` of the model (capcli forecast models)")
	complete(cmd, "model", func() []string { return entries(&forecast.Models) })
	f.StringVar(&o.until, "until", "", "forecast to this `DATE`, instead of --horizon")
	f.IntVar(&o.paths, "paths", 0, "write `N` possible futures of each series to --out")
	f.StringVar(&o.out, "out", "", "write the futures of --paths, else the result, to this `FILE`")
	explainedBy(cmd, "capcli forecast backtest", "season", "agg", "gaps", "id-col", "time-col", "value-col", "origins", "peak", "measure",
		"query", "from", "to", "prom-token-file", "capacity-query", "pending-query", "capacity-col", "pending-col", "allow-negative",
		"total", "id-sep", "reconcile", "changes")
	cmd.AddCommand(newForecastBacktest(e), newForecastModels(e), newForecastEvents(e))
	return cmd
}

// addFlags gives cmd the flags that forecast and backtest share.
func (o *forecastOptions) addFlags(cmd *cobra.Command) {
	o.history.addFlags(cmd)
	addFormFlags(cmd, &o.output)
	f := cmd.Flags()
	f.IntSliceVar(&o.season, "season", nil, "lengths of season in steps, `24,168`; 0 is none (default: of the step)")
	f.StringVar(&o.horizon, "horizon", "", "forecast `N` steps ahead, or a time, 2w; each week and month of a list, 4w,3mo")
	f.StringSliceVar(&o.levels, "level", []string{"80", "95"}, "ranges that hold so many percent: `80,95`")
	f.StringVar(&o.events, "events", "", "launches, campaigns, holidays: `FILE` (capcli forecast events init)")
	f.StringVar(&o.changes, "changes", "", "moves of the level: `WHAT`, show, none or use (learn from what came since)")
	complete(cmd, "changes", func() []string { return []string{changesShow, changesNone, changesUse} })
	f.IntVar(&o.origins, "origins", 0, "past starts to try the model from: `N` (default 4, in a backtest 10)")
	f.BoolVar(&o.negative, "allow-negative", false, "ranges of a history that was never negative may be")
	f.Uint64Var(&o.seed, "seed", 1, "seed of all chance: a whole `NUMBER` from 0")
	explainedBy(cmd, "capcli simulate", "seed")
}

// check refuses what is wrong with the flags before anything is read.
func (o *forecastOptions) check() error {
	if err := o.output.check(); err != nil {
		return err
	}
	names := o.models
	if len(names) == 0 {
		names = []string{o.model}
	}
	for _, name := range names {
		if _, err := modelNamed(name); err != nil {
			return err
		}
	}
	if err := o.checkLevels(); err != nil {
		return err
	}
	for _, s := range o.season {
		if s < 0 || s > 1_000_000 {
			return &usageError{text: fmt.Sprintf("--season wants lengths from 1 to 1000000 steps (0 is none), found %d", s)}
		}
	}
	if err := o.readHorizons(); err != nil {
		return err
	}
	o.history.periods = len(o.periods) > 0
	switch {
	case o.horizon != "" && o.until != "":
		return &usageError{text: "--horizon and --until say the same thing", hint: "give one of them"}
	case o.paths < 0 || o.paths > maxPaths:
		return &usageError{text: fmt.Sprintf("--paths wants 1 to %d, found %d", maxPaths, o.paths)}
	case o.paths > 0 && o.out == "":
		return &usageError{text: "--paths writes a file: --out is missing", hint: "--paths 200 --out futures.parquet"}
	case o.origins < 0 || o.origins > maxOrigins:
		return &usageError{text: fmt.Sprintf("--origins wants 1 to %d, found %d", maxOrigins, o.origins)}
	}
	if err := o.checkChanges(); err != nil {
		return err
	}
	return o.history.check()
}

func (o *forecastOptions) checkLevels() error {
	o.level = nil
	for _, text := range o.levels {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if err != nil || !(v > 0 && v < 100) {
			return &usageError{text: fmt.Sprintf("--level wants percents between 0 and 100, found %q", text), hint: "--level 80,95"}
		}
		if !slices.Contains(o.level, v) {
			o.level = append(o.level, v)
		}
	}
	if len(o.level) == 0 {
		return &usageError{text: "--level wants at least one percent between 0 and 100", hint: "--level 80,95"}
	}
	return nil
}

func runForecast(ctx context.Context, e *env, o *forecastOptions, args []string) error {
	args = o.history.takePeak(args)
	if len(args) == 0 && o.history.prom.address == "" {
		return &usageError{text: "forecast wants HISTORY: HISTORY is missing", hint: "capcli forecast --help"}
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkOut(e, args); err != nil {
		return err
	}
	hs, err := o.read(ctx, e, args)
	if err != nil {
		return err
	}
	o.look = o.looks(hs)
	p := newProgress(e, "series")
	list, err := capcli.MapParallel(ctx, hs.list, p.counter(len(hs.list)), func(ctx context.Context, h *history) (*forecasted, error) { return o.forecast(ctx, hs, h) })
	p.end(int64(len(hs.list)))
	if err != nil {
		return err
	}
	made, err := o.together(ctx, hs, list)
	if err != nil {
		return err
	}
	kept, err := hs.keep(e, list)
	if err != nil {
		return err
	}
	show(hs, kept, func(f *forecasted) string { return f.h.Name })
	r := &forecastResult{o: o, hs: hs, list: kept, agreed: made}
	if err := r.write(e); err != nil {
		return err
	}
	return hs.missing()
}

// write puts the result where it belongs: the futures and the forecast.
func (r *forecastResult) write(e *env) error {
	o := r.o
	if o.paths > 0 {
		if err := r.writePaths(e, o.out); err != nil {
			return err
		}
		return emit(e, o.output, r.doc(o.output.shape(e)))
	}
	if strings.HasSuffix(strings.ToLower(o.out), ".parquet") && o.output.form == "" {
		return r.writeParquet(e, o.out)
	}
	o.output.out = o.out
	return emit(e, o.output, r.doc(o.output.shape(e)))
}

// read reads the history, and what is known of events beside it.
func (o *forecastOptions) read(ctx context.Context, e *env, args []string) (*histories, error) {
	events, err := o.readEvents(e)
	if err != nil {
		return nil, err
	}
	list, err := o.history.load(ctx, e, args)
	if err != nil {
		return nil, err
	}
	hs := newHistories(list)
	o.ready(hs)
	o.plan, err = planFor(ctx, events, hs)
	return hs, err
}

// options are what a model for a series of n values is made with, and what had
// to be left out of them.
func (o *forecastOptions) options(hs *histories, known int) (forecast.Options, []string) {
	out := forecast.Options{Seed: capcli.Seed(o.seed), Memory: forecast.NewMemory()}
	seasons, asked := o.season, len(o.season) > 0
	if !asked {
		seasons = usualSeasons(hs.Step)
	}
	var notes []string
	for _, s := range slices.Sorted(slices.Values(seasons)) {
		switch {
		case s <= 1 || slices.Contains(out.Seasons, s):
		case 2*s > known:
			if asked {
				notes = append(notes, fmt.Sprintf("season %d left out: it needs two whole seasons, %d values, and there are %d", s, 2*s, known))
			}
		default:
			out.Seasons = append(out.Seasons, s)
		}
	}
	return out, notes
}

// usualSeasons are those that series of a step have: the day, the week and the
// year, where they are whole steps.
func usualSeasons(s capcli.Step) []int {
	switch {
	case s.Months > 0:
		if 12%s.Months == 0 {
			return []int{12 / s.Months}
		}
		return nil
	case s.Days == 7:
		return []int{52}
	}
	length := s.Length()
	var out []int
	for _, season := range []capcli.Seconds{capcli.Day, 7 * capcli.Day} {
		if length > 0 && season%length == 0 && season > length {
			out = append(out, int(season/length))
		}
	}
	return out
}

// defaultModel is what forecasts where nobody names a model.
const defaultModel = "auto"

func modelNamed(name string) (func(forecast.Options) forecast.Model, error) {
	return forecast.Models.Get(name)
}
