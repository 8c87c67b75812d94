package forecast

import (
	"context"
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// BacktestOptions sets the origins and the output of a backtest. A zero value stands for the
// default, which the field's comment gives.
type BacktestOptions struct {
	Horizon int       // number of steps to forecast from each origin; 0: 1
	Origins int       // number of origins, the last one a horizon before the end; 0: 1
	Every   int       // number of steps between origins; 0: the horizon
	Least   int       // least number of values before the first origin; below 2: 2
	Levels  []float64 // levels of the intervals, in percent; nil: no intervals
	InOrder bool      // run the origins one after the other, not on all cores; the result is the same
	Errors  int       // number of the last one-step errors of each fit to keep; 0: none

	// Watch is called with each forecast and the fit that made it. Unless InOrder, calls come in
	// any order and from several goroutines at once. nil: no calls.
	Watch func(r *Origin, fit model.Fitted)

	// Actual is the series that forecasts are compared with, as long as the series itself, NaN
	// where it is not known; nil is the series itself. It differs where the model is given usage
	// and forecasts the demand behind it.
	Actual []float64
}

// Origin is one forecast of a backtest, made from the values before At alone, with the actual
// values. Err is the error of the model where it could not forecast.
type Origin struct {
	At       int // index of the first forecast value
	Forecast model.Forecast
	Actual   []float64
	Scale    float64   // denominator of MASE, from the values before At: see scale
	Errors   []float64 // the last one-step errors of the fit: see lastErrors; nil where none were requested
	Err      error
}

// Backtest fits m anew at each origin to the values before it, and forecasts the values after it
// (rolling origin: Tashman 2000). It returns the origins in order of time. It fails with
// ErrTooShort where the series is too short for any origin.
func Backtest(m model.Model, y capcli.Series, period int, o BacktestOptions) ([]Origin, error) {
	h := max(1, o.Horizon)
	every := o.Every
	if every < 1 {
		every = h
	}
	n := len(y.Values)
	if o.Actual != nil && len(o.Actual) != n {
		return nil, fmt.Errorf("backtest: %d actual values for %d values, want as many: %w", len(o.Actual), n, model.ErrUnfit)
	}
	var out []Origin
	for k := max(1, o.Origins) - 1; k >= 0; k-- {
		if at := n - h - k*every; at >= max(2, o.Least) {
			out = append(out, Origin{At: at})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("backtest: %d values, want %d to learn from and %d to forecast: %w", n, max(2, o.Least), h, model.ErrTooShort)
	}
	if o.InOrder {
		for i := range out {
			out[i].run(m, y, h, period, &o)
		}
		return out, nil
	}
	err := capcli.EachParallel(context.Background(), len(out), func(_ context.Context, i int) error {
		out[i].run(m, y, h, period, &o)
		return nil
	})
	return out, err
}

// run makes one forecast. The slice that the model gets ends at the origin, so the model cannot
// read later values.
func (r *Origin) run(m model.Model, y capcli.Series, h, period int, o *BacktestOptions) {
	past, actual := y, y.Values
	past.Values = y.Values[:r.At:r.At]
	if o.Actual != nil {
		actual = o.Actual
	}
	r.Actual = actual[r.At : r.At+h]
	r.Scale = scale(actual[:r.At], period)
	fit, err := m.Fit(past)
	if err != nil {
		r.Err = err
		return
	}
	if o.Errors > 0 {
		if own, ok := fit.(Erring); ok {
			r.Errors = own.LastErrors(o.Errors)
		} else {
			r.Errors = lastErrors(past.Values, fit.Info().Fitted, o.Errors)
		}
	}
	r.Forecast, r.Err = fit.Forecast(h, o.Levels...)
	if o.Watch != nil && r.Err == nil {
		o.Watch(r, fit)
	}
}

// Erring is a Fitted that returns its own one-step errors, because it was fitted to other values
// than those that it was given.
type Erring interface {
	LastErrors(n int) []float64 // the last n errors, as lastErrors returns them
}

// lastErrors returns the last n one-step errors, y minus fitted; NaN where either is not known.
// y and fitted end together.
func lastErrors(y, fitted []float64, n int) []float64 {
	out := model.NaNs(n)
	for k := 1; k <= min(n, len(y), len(fitted)); k++ {
		out[n-k] = y[len(y)-k] - fitted[len(fitted)-k]
	}
	return out
}

// Backtested holds the measures of a backtest: each is the mean over the origins that have it,
// NaN where none has.
type Backtested struct {
	Origins, Failed              int
	MAE, RMSE, SMAPE, MASE, CRPS float64
	Bias                         float64
	Coverage                     []float64 // by requested level
	MSIS                         []float64 // by requested level
	MASEAt                       []float64 // by step ahead
}

// Summarise returns the measures of a backtest whose intervals have the given levels.
func Summarise(all []Origin, levels []float64) Backtested {
	b := Backtested{Coverage: make([]float64, len(levels)), MSIS: make([]float64, len(levels))}
	over := func(f func(Origin) float64) float64 {
		var v []float64
		for _, r := range all {
			if r.Err != nil {
				continue
			}
			if x := f(r); model.IsFinite(x) {
				v = append(v, x)
			}
		}
		if len(v) == 0 {
			return math.NaN()
		}
		return model.Mean(v)
	}
	steps := 0
	for _, r := range all {
		b.Origins++
		if r.Err != nil {
			b.Failed++
		}
		steps = max(steps, len(r.Actual))
	}
	b.MAE = over(func(r Origin) float64 { return MAE(r.Actual, r.Forecast.Mean) })
	b.RMSE = over(func(r Origin) float64 { return rmse(r.Actual, r.Forecast.Mean) })
	b.Bias = over(func(r Origin) float64 { return bias(r.Actual, r.Forecast.Mean) })
	b.SMAPE = over(func(r Origin) float64 { return smape(r.Actual, r.Forecast.Mean) })
	b.MASE = over(func(r Origin) float64 { return mase(r.Actual, r.Forecast.Mean, r.Scale) })
	b.CRPS = over(func(r Origin) float64 { return crps(r.Actual, r.Forecast) })
	for k := range levels {
		b.Coverage[k] = over(func(r Origin) float64 { return coverage(r.Actual, r.Forecast.Intervals[k]) })
		b.MSIS[k] = over(func(r Origin) float64 { return msis(r.Actual, r.Forecast.Intervals[k], r.Scale) })
	}
	for i := range steps {
		b.MASEAt = append(b.MASEAt, over(func(r Origin) float64 {
			return mase(r.Actual[i:i+1], r.Forecast.Mean[i:i+1], r.Scale)
		}))
	}
	return b
}
