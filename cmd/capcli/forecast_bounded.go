package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"capcli"
	"capcli/forecast"
	"capcli/profile/series"
)

// bounded is a model whose forecasts keep to what can be: finite, not under the
// floor nor over the cap. What it does on the past it does on the future.
type bounded struct {
	inner forecast.Model
	floor float64
	most  []float64 // by step of the history and on; nil is no cap
	past  *past     // nil where the values are taken for demand
	opts  forecast.Options
}

func (o *forecastOptions) bounded(h *history, model string, steps int, opts forecast.Options) bounded {
	b := bounded{floor: math.Inf(-1), most: h.most, past: h.past, opts: opts}
	if !o.negative && h.neverNegative() {
		b.floor = 0
	}
	if made, err := modelNamed(model); err == nil { // it was checked before
		b.inner = made(opts)
	}
	if auto, ok := b.inner.(forecast.Auto); ok {
		auto.Horizon = steps
		b.inner = auto
	}
	return b
}

// heldNote says that a model ran away from the series.
const heldNote = "the model's forecast or its ranges go ten times the range of the history away from it: they are held there; another model suits better"

// filledNote says what was done with gaps for a model that takes none.
const filledNote = "the model takes no missing values: for the fit, gaps were filled on a straight line (choose with --gaps)"

// Fit fits the inner model. Where that takes no missing values they are filled on
// a straight line, and Info says so.
func (b bounded) Fit(y capcli.Series) (forecast.Fitted, error) {
	n := len(y.Values)
	if b.past == nil {
		fit, err := b.fit(y, n)
		if err != nil {
			return nil, err
		}
		return fit, nil
	}
	t := b.past.behind(y.Values, b.opts)
	if t.err != nil {
		return nil, t.err
	}
	y.Values = t.demand
	fit, err := b.fit(y, n)
	switch {
	case err != nil:
		return nil, err
	case t.draw == nil:
		return fit, nil
	}
	y.Values = t.draw
	if wide, err := b.fit(y, n); err == nil {
		fit.wide = wide.Fitted
	}
	return fit, nil
}

// fit fits the inner model to demand.
func (b bounded) fit(y capcli.Series, n int) (*boundedFit, error) {
	for len(y.Values) > 0 && math.IsNaN(y.Values[0]) {
		y.Values, y.Start = y.Values[1:], y.At(1)
	}
	var notes []string
	inner := afterSkip(b.inner, n-len(y.Values))
	fit, err := inner.Fit(y)
	if errors.Is(err, forecast.ErrMissing) && y.Missing() < len(y.Values) {
		y.Values = slices.Clone(y.Values)
		series.Interpolate(y.Values)
		fit, err = inner.Fit(y)
		notes = append(notes, filledNote)
	}
	if err != nil {
		return nil, err
	}
	return &boundedFit{Fitted: fit, b: b, n: n, seen: y.Values, notes: notes, reach: forecast.ReachOf(y.Values)}, nil
}

// LastErrors are the one-step errors of the inner model on what it was fitted to.
func (f *boundedFit) LastErrors(n int) []float64 {
	return forecast.LastErrors(f.seen, f.Fitted.Info().Fitted, n)
}

type boundedFit struct {
	forecast.Fitted
	wide  forecast.Fitted // gives ranges and futures their width; nil is Fitted
	b     bounded
	n     int       // steps before the first forecast
	seen  []float64 // what the inner model was fitted to
	notes []string
	reach forecast.Reach
	held  atomic.Bool // some of a forecast went further

	mu     sync.Mutex
	shifts []float64
}

// Forecast gives the inner forecast within the bounds.
func (f *boundedFit) Forecast(h int, levels ...float64) (forecast.Forecast, error) {
	fc, err := f.Fitted.Forecast(h, levels...)
	if err != nil {
		return fc, err
	}
	if f.wide != nil {
		w, err := f.wide.Forecast(h, levels...)
		if err != nil {
			return fc, err
		}
		for k := range fc.Intervals {
			for i, mean := range fc.Mean {
				fc.Intervals[k].Lo[i] = mean + w.Intervals[k].Lo[i] - w.Mean[i]
				fc.Intervals[k].Hi[i] = mean + w.Intervals[k].Hi[i] - w.Mean[i]
			}
		}
	}
	all := [][]float64{fc.Mean}
	for _, iv := range fc.Intervals {
		all = append(all, iv.Lo, iv.Hi)
	}
	if f.reach.Keep(fc) {
		f.held.Store(true)
	}
	for _, list := range all {
		for i, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fc, fmt.Errorf("%s: the forecast of step %d is not finite", f.Fitted.Info().Method, i+1)
			}
			list[i] = f.within(i, v)
		}
	}
	return fc, nil
}

// Path draws from the inner model, within the bounds.
func (f *boundedFit) Path(h int, rng *rand.Rand) []float64 {
	path, shift := f.Fitted.Path, []float64(nil)
	if f.wide != nil {
		path, shift = f.wide.Path, f.shift(h)
	}
	out := path(h, rng)
	for i := range out {
		if shift != nil {
			out[i] += shift[i]
		}
	}
	f.reach.Path(out)
	for i, v := range out {
		out[i] = f.within(i, v)
	}
	return out
}

// shift is what the forecast of what is expected is over that of what may have
// been; nil where it cannot be told.
func (f *boundedFit) shift(h int) []float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.shifts) == h {
		return f.shifts
	}
	a, err := f.Fitted.Forecast(h)
	b, failed := f.wide.Forecast(h)
	if err != nil || failed != nil {
		return nil
	}
	f.shifts = make([]float64, h)
	for i := range f.shifts {
		f.shifts[i] = a.Mean[i] - b.Mean[i]
	}
	return f.shifts
}

// within keeps v, step i ahead, within the bounds.
func (f *boundedFit) within(i int, v float64) float64 {
	if v = max(v, f.b.floor); f.b.most != nil {
		v = min(v, f.b.most[min(f.n+i, len(f.b.most)-1)])
	}
	return v
}

// Info adds what was done to the series.
func (f *boundedFit) Info() forecast.Info {
	info := f.Fitted.Info()
	info.Notes = append(slices.Clone(info.Notes), f.notes...)
	return info
}
