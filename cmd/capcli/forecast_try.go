package main

import (
	"math"

	"capcli/forecast"
)

// trial is what a model did when it was tried on the past of a series.
type trial struct {
	model    string
	origins  int // starts that gave a forecast
	failed   int
	steps    int     // ahead
	scored   int     // steps in which it is known what came
	hidden   int     // steps in which usage is known and what was wanted is not
	error    float64 // mean absolute error over that of repeating the last season; NaN is not known
	coverage []float64
	forecast.Backtested
	owa float64

	every  int // steps between starts
	runs   []forecast.Origin
	base   []forecast.Origin // of repeating the last season, without ranges
	naive2 [2]float64        // sMAPE and MASE
	tried  []triedPeriods    // by kind of period
}

// length is how many values decide from where a model is tried: of series that add
// up those of the longest, for all are tried from the same times.
func (h *history) length() int {
	if h.hs.tree != nil {
		return max(len(h.Values), h.hs.tree.longest)
	}
	return len(h.Values)
}

// learns is how many values a model must have seen: two seasons.
func (h *history) learns(opts forecast.Options) int {
	period := opts.Period()
	if h.hs.tree != nil {
		period = h.hs.tree.period
	}
	return 2 * max(1, period)
}

// testable is how many steps ahead a model can be tried: the history must keep
// two seasons, or two thirds of itself, to learn from.
func testable(h *history, opts forecast.Options) int {
	n := h.length()
	return max(0, min(n/3, n-h.learns(opts)))
}

// try forecasts from past starts, each from the values before it alone. It gives
// nil where the history is too short.
func (o *forecastOptions) try(h *history, opts forecast.Options, model string, steps, origins int) *trial {
	if steps < 1 {
		return nil
	}
	n := h.length()
	bo := forecast.BacktestOptions{Horizon: steps, Origins: origins, Levels: o.level, Workers: 1, Least: max(2, n/3)}
	bo.Least = max(bo.Least, h.learns(opts))
	if h.past != nil {
		t := h.past.behind(h.Values, opts)
		if t.err != nil {
			return nil
		}
		bo.Actual = t.came()
	}
	bo.Least = min(bo.Least, n-steps)
	bo.Every = steps
	if origins > 1 {
		bo.Every = min(steps, (n-steps-bo.Least)/(origins-1))
	}
	if bo.Every < 1 {
		bo.Every = 1
	}
	if h.hs.tree != nil {
		bo.Least, bo.Errors = fewest, h.hs.errors
	}
	run := func(m forecast.Model) ([]forecast.Origin, error) {
		return forecast.Backtest(m, h.Series, opts.Period(), bo)
	}
	t := &trial{model: model, steps: steps, every: bo.Every}
	bo.Watch = o.watching(t, h)
	list, err := run(o.modelFor(h, model, steps, opts))
	if err != nil {
		return nil
	}
	t.runs, bo.Watch = list, nil
	if base, err := run(o.bounded(h, "snaive", steps, opts)); err == nil {
		t.base = withoutRanges(base)
	}
	if base, err := run(o.bounded(h, "naive2", steps, opts)); err == nil {
		b := forecast.Summarise(base, o.level)
		t.naive2 = [2]float64{b.SMAPE, b.MASE}
	}
	if !t.score(h, o.level) {
		return nil
	}
	if h.hs.tree == nil {
		t.runs, t.base = nil, nil
	}
	return t
}

// fewest is how many values a part must have had at a start, for its model to be
// tried from there; where the whole is long, a part may have begun late.
const fewest = 4

func withoutRanges(list []forecast.Origin) []forecast.Origin {
	for i := range list {
		list[i].Forecast.Intervals = nil
	}
	return list
}

// score measures the runs; false where there is nothing to be measured.
func (t *trial) score(h *history, levels []float64) bool {
	t.Backtested = forecast.Summarise(t.runs, levels)
	t.failed, t.coverage = t.Failed, t.Coverage
	t.error, t.owa = math.NaN(), math.NaN()
	if t.origins = t.Origins - t.Failed; t.origins == 0 {
		return false
	}
	t.scored, t.hidden = 0, 0
	t.count(t.runs, h)
	if t.base != nil {
		t.error = over(t.runs, t.base)
	}
	if t.naive2 != [2]float64{} {
		t.owa = forecast.OWA(t.SMAPE, t.MASE, t.naive2[0], t.naive2[1])
	}
	return t.scored > 0
}

// count counts the steps in which a forecast could be held against what came.
func (t *trial) count(list []forecast.Origin, h *history) {
	for _, r := range list {
		if r.Err != nil {
			continue
		}
		for i, v := range r.Actual {
			switch {
			case !math.IsNaN(v):
				t.scored++
			case !math.IsNaN(h.Values[r.At+i]):
				t.hidden++
			}
		}
	}
}

// over is the mean absolute error of one backtest over that of another, from the
// starts where both have a forecast.
func over(a, b []forecast.Origin) float64 {
	var above, below float64
	for i := range a {
		if a[i].Err != nil || b[i].Err != nil {
			continue
		}
		x, y := forecast.MAE(a[i].Actual, a[i].Forecast.Mean), forecast.MAE(b[i].Actual, b[i].Forecast.Mean)
		if !math.IsNaN(x) && !math.IsNaN(y) {
			above, below = above+x, below+y
		}
	}
	switch {
	case above == 0 && below == 0:
		return 1
	case below == 0:
		return math.NaN() // the last season was right to the last digit
	}
	return above / below
}
