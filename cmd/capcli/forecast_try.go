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
}

// testable is how many steps ahead a model can be tried: the history must keep
// two seasons, or two thirds of itself, to learn from.
func (f *forecasted) testable(opts forecast.Options) int { return testable(f.h, opts) }

func testable(h *history, opts forecast.Options) int {
	n := len(h.Values)
	least := 2
	if len(opts.Seasons) > 0 {
		least = 2 * opts.Period()
	}
	return max(0, min(n/3, n-least))
}

// try forecasts from past starts, each from the values before it alone. It gives
// nil where the history is too short.
func (o *forecastOptions) try(h *history, opts forecast.Options, model string, steps, origins int) *trial {
	if steps < 1 {
		return nil
	}
	n := len(h.Values)
	bo := forecast.BacktestOptions{Horizon: steps, Origins: origins, Levels: o.level, Workers: 1, Least: max(2, n/3)}
	if len(opts.Seasons) > 0 {
		bo.Least = max(bo.Least, 2*opts.Period())
	}
	if h.past != nil {
		t := h.past.behind(h.Values, opts)
		if t.err != nil {
			return nil
		}
		bo.Actual = h.past.came(t)
	}
	bo.Least = min(bo.Least, n-steps)
	bo.Every = steps
	if origins > 1 {
		bo.Every = min(steps, (n-steps-bo.Least)/(origins-1))
	}
	if bo.Every < 1 {
		bo.Every = 1
	}
	run := func(m forecast.Model) ([]forecast.Origin, error) {
		return forecast.Backtest(m, h.Series, opts.Period(), bo)
	}
	list, err := run(o.modelFor(h, model, steps, opts))
	if err != nil {
		return nil
	}
	t := &trial{model: model, steps: steps, Backtested: forecast.Summarise(list, o.level), error: math.NaN(), owa: math.NaN()}
	t.failed, t.coverage = t.Failed, t.Coverage
	if t.origins = t.Origins - t.Failed; t.origins == 0 {
		return nil
	}
	if t.count(list, h); t.scored == 0 {
		return nil
	}
	if base, err := run(o.bounded(h, "snaive", steps, opts)); err == nil {
		t.error = over(list, base)
	}
	if base, err := run(o.bounded(h, "naive2", steps, opts)); err == nil {
		b := forecast.Summarise(base, o.level)
		t.owa = forecast.OWA(t.SMAPE, t.MASE, b.SMAPE, b.MASE)
	}
	return t
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
