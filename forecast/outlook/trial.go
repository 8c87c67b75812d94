package outlook

import (
	"math"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

// Trial holds the measures of a model that was tried on the past of a series: it forecast from
// past starts, each from the values before it alone.
type Trial struct {
	Model    string        `json:"model"`
	Origins  int           `json:"origins"` // number of starts that gave a forecast
	Failed   int           `json:"failed"`
	Steps    int           `json:"steps"`           // number of steps ahead
	Scored   int           `json:"scored_steps"`    // number of steps in which the actual value is known
	Hidden   int           `json:"steps_not_known"` // number of steps in which usage is known and demand is not
	Error    capcli.Figure `json:"error_over_seasonal_naive"`
	OWA      capcli.Figure `json:"owa"`
	MASE     capcli.Figure `json:"mase"`
	SMAPE    capcli.Figure `json:"smape"`
	MAE      capcli.Figure `json:"mae"`
	RMSE     capcli.Figure `json:"rmse"`
	Bias     capcli.Figure `json:"bias"`
	CRPS     capcli.Figure `json:"crps"`
	Coverage []Coverage    `json:"coverage"` // by level
}

// Coverage is the share of actual values inside the ranges of one level.
type Coverage struct {
	Level float64       `json:"level"`
	Held  capcli.Figure `json:"held"` // share, 0 to 1
	MSIS  capcli.Figure `json:"msis"`
}

// trial is a Trial with the forecasts that it measures.
type trial struct {
	Trial
	every  int // number of steps between starts
	runs   []forecast.Origin
	base   []forecast.Origin // forecasts of the seasonal naive, without ranges
	naive2 [2]float64        // sMAPE and MASE of naive 2
	tried  []triedPeriods    // by kind of period
}

// document returns the trial for the result; nil where t is nil.
func (t *trial) document() *Trial {
	if t == nil {
		return nil
	}
	return &t.Trial
}

// fewestValues is the least number of values of a part of a hierarchy at a start from which its
// model is tried: in a long history a part may have begun late.
const fewestValues = 4

// length returns the number of values that sets the starts of a trial. In a hierarchy it is that
// of the longest series, so that all series are tried from the same times.
func (q *question) length(v *view) int {
	if q.hs.Tree != nil {
		return max(len(v.Values), q.longest)
	}
	return len(v.Values)
}

// leastHistory returns the least number of values to fit a model to: two seasons.
func (q *question) leastHistory(v *view) int {
	if q.hs.Tree != nil {
		return 2 * max(1, q.season)
	}
	return 2 * max(1, v.options.Period())
}

// testableSteps returns how many steps ahead a model can be tried: at most a third of the
// history, and so many that two seasons remain to fit to.
func (q *question) testableSteps(v *view) int {
	n := q.length(v)
	return max(0, min(n/3, n-q.leastHistory(v)))
}

// try forecasts v from past starts, each from the values before it alone. It returns
// nil where the history is too short.
func (q *question) try(v *view, opts forecast.Options, name string, steps, origins int, windows []window) *trial {
	if steps < 1 {
		return nil
	}
	n := q.length(v)
	bo := forecast.BacktestOptions{Horizon: steps, Origins: origins, Levels: q.Levels, InOrder: true, Least: max(2, n/3)}
	bo.Least = max(bo.Least, q.leastHistory(v))
	if v.usage != nil {
		t := v.usage.latent(v.Values, opts)
		if t.err != nil {
			return nil
		}
		bo.Actual = t.actual()
	}
	bo.Actual = v.judged(bo.Actual)
	bo.Least = min(bo.Least, n-steps)
	bo.Every = steps
	if origins > 1 {
		bo.Every = min(steps, (n-steps-bo.Least)/(origins-1))
	}
	if bo.Every < 1 {
		bo.Every = 1
	}
	if q.hs.Tree != nil {
		bo.Least, bo.Errors = fewestValues, q.errors
	}
	run := func(m model.Model) ([]forecast.Origin, error) {
		return forecast.Backtest(m, v.Series, opts.Period(), bo)
	}
	t := &trial{Trial: Trial{Model: name, Steps: steps}, every: bo.Every}
	if len(windows) > 0 {
		bo.Watch = func(r *forecast.Origin, fit model.Fitted) {
			t.tried = q.tryPeriods(t.tried, v.Name, windows, r, fit.(*forecast.BoundedFit)) // that modelFor makes
		}
	}
	list, err := run(q.modelFor(v, name, steps, opts))
	if err != nil {
		return nil
	}
	t.runs, bo.Watch = list, nil
	if base, err := run(q.bounded(v, "snaive", steps, opts)); err == nil {
		t.base = withoutRanges(base)
	}
	if base, err := run(q.bounded(v, "naive2", steps, opts)); err == nil {
		b := forecast.Summarise(base, q.Levels)
		t.naive2 = [2]float64{b.SMAPE, b.MASE}
	}
	if !t.score(v, q.Levels) {
		return nil
	}
	if q.hs.Tree == nil {
		t.runs, t.base = nil, nil
	}
	return t
}

func withoutRanges(list []forecast.Origin) []forecast.Origin {
	for i := range list {
		list[i].Forecast.Intervals = nil
	}
	return list
}

// score measures the forecasts. It returns false where there is nothing to measure.
func (t *trial) score(v *view, levels []float64) bool {
	b := forecast.Summarise(t.runs, levels)
	t.Origins, t.Failed = b.Origins-b.Failed, b.Failed
	t.Scored, t.Hidden = countScored(t.runs, v.judged(nil))
	t.MASE, t.SMAPE, t.MAE, t.RMSE = capcli.Figure(b.MASE), capcli.Figure(b.SMAPE), capcli.Figure(b.MAE), capcli.Figure(b.RMSE)
	t.Bias, t.CRPS = capcli.Figure(b.Bias), capcli.Figure(b.CRPS)
	t.Coverage = make([]Coverage, len(levels))
	for k, level := range levels {
		t.Coverage[k] = Coverage{level, capcli.Figure(b.Coverage[k]), capcli.Figure(b.MSIS[k])}
	}
	t.Error, t.OWA = capcli.Figure(math.NaN()), capcli.Figure(math.NaN())
	if t.Origins == 0 {
		return false
	}
	if t.base != nil {
		t.Error = capcli.Figure(errorOver(t.runs, t.base))
	}
	if t.naive2 != [2]float64{} {
		t.OWA = capcli.Figure(forecast.OWA(b.SMAPE, b.MASE, t.naive2[0], t.naive2[1]))
	}
	return t.Scored > 0
}

// countScored returns the number of steps in which a forecast can be compared with the actual
// value, and the number of those in which usage is known and demand is not.
func countScored(list []forecast.Origin, values []float64) (scored, hidden int) {
	for _, r := range list {
		if r.Err != nil {
			continue
		}
		for i, v := range r.Actual {
			switch {
			case !math.IsNaN(v):
				scored++
			case !math.IsNaN(values[r.At+i]):
				hidden++
			}
		}
	}
	return scored, hidden
}

// errorOver returns the mean absolute error of one backtest over that of another, from the
// starts where both have a forecast; NaN where only the other has no error.
func errorOver(a, b []forecast.Origin) float64 {
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
		return math.NaN() // the other forecast is exact
	}
	return above / below
}
