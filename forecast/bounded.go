package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"capcli"
	"capcli/forecast/model"
	"capcli/forecast/unconstrain"
)

// Bounded wraps a model and keeps its forecasts possible: finite, between floor and cap, and
// within Reach of the past. For a model that accepts no missing values it fills them by straight
// lines, and Info says so. It is the model that capcli forecast uses: see Shipped.
type Bounded struct {
	Model model.Model
	Floor float64 // least value of a forecast; -Inf is none
	// Cap is the upper bound by step, from the first step of the history on. The last one holds
	// for all later steps; nil is none.
	Cap []float64

	// Behind returns the demand behind values that are usage. nil: the values are demand.
	Behind func(values []float64) (Behind, error)
}

// Behind is the latent demand behind usage: its expected value and one plausible draw of it.
// Ranges and futures take their width from a fit to the draw, and include the uncertainty of the
// level. Draw is nil where demand is not estimated.
type Behind struct {
	Demand, Draw []float64
	Uncertainty  unconstrain.Uncertainty
}

var _ model.Model = Bounded{}

// dated is a model that knows the times of the values of its series.
type dated interface {
	Skip(n int) model.Model // returns the model for a series without its first n values
}

// Shipped returns the model called name as a user gets it, to forecast h steps of y: auto is
// optimised for h steps, and where no value of y is negative, no value of the forecast is. It
// fails where no model has the name.
func Shipped(name string, y capcli.Series, h int, o Options) (Bounded, error) {
	made, err := Models.Get(name)
	if err != nil {
		return Bounded{}, err
	}
	b := Bounded{Model: made(o), Floor: 0}
	if auto, ok := b.Model.(Auto); ok {
		auto.Horizon = h
		b.Model = auto
	}
	if slices.ContainsFunc(y.Values, func(v float64) bool { return v < 0 }) {
		b.Floor = math.Inf(-1)
	}
	return b, nil
}

// heldNote is the note on a forecast that Reach bounded.
const heldNote = "the forecast or its ranges leave the history by ten times its range and are cut there; another model suits better"

// filledNote is the note on gaps that were filled for a model that accepts none.
const filledNote = "the model needs a series without gaps: gaps were filled linearly for the fit (--gaps chooses)"

// Fit fits the model to y, or to the demand behind y where Behind is set.
func (b Bounded) Fit(y capcli.Series) (model.Fitted, error) {
	fit, err := b.FitBounded(y)
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// FitBounded does what Fit does, and returns the fit by its own type.
func (b Bounded) FitBounded(y capcli.Series) (*BoundedFit, error) {
	n := len(y.Values)
	if b.Behind == nil {
		return b.fit(y, n)
	}
	behind, err := b.Behind(y.Values)
	if err != nil {
		return nil, err
	}
	y.Values = behind.Demand
	fit, err := b.fit(y, n)
	switch {
	case err != nil:
		return nil, err
	case behind.Draw == nil:
		return fit, nil
	}
	fit.unsure, y.Values = behind.Uncertainty, behind.Draw
	if wide, err := b.fit(y, n); err == nil {
		fit.wide = wide.Fitted
	}
	return fit, nil
}

// fit fits the model to y from its first known value on. n is the length of the history.
func (b Bounded) fit(y capcli.Series, n int) (*BoundedFit, error) {
	for len(y.Values) > 0 && math.IsNaN(y.Values[0]) {
		y.Values, y.Start = y.Values[1:], y.At(1)
	}
	var notes []string
	inner := b.Model
	if dated, ok := inner.(dated); ok {
		inner = dated.Skip(n - len(y.Values))
	}
	fit, err := inner.Fit(y)
	if errors.Is(err, model.ErrMissing) && y.Missing() < len(y.Values) {
		filled, _, failed := fill(y.Values)
		if failed != nil {
			return nil, failed
		}
		y.Values = filled
		fit, err = inner.Fit(y)
		notes = append(notes, filledNote)
	}
	if err != nil {
		return nil, err
	}
	return &BoundedFit{Fitted: fit, floor: b.Floor, most: b.Cap, n: n, seen: y.Values, notes: notes, reach: reachOf(y.Values)}, nil
}

// BoundedFit is a fit of Bounded: the fit of its model, kept within the bounds.
type BoundedFit struct {
	model.Fitted                         // the fit of the model
	wide         model.Fitted            // sets the width of ranges and futures: fitted to the draw of demand; nil: Fitted
	unsure       unconstrain.Uncertainty // uncertainty of the level
	floor        float64                 // as Bounded.Floor
	most         []float64               // as Bounded.Cap
	n            int                     // number of steps before the first forecast
	seen         []float64               // the values that the model was fitted to
	notes        []string
	reach        Reach
	held         atomic.Bool // Reach has bounded a value of a forecast

	mu     sync.Mutex
	shifts []float64 // the last result of shift
}

var _ Erring = (*BoundedFit)(nil)

// LastErrors returns the last n one-step errors of the model on the values that it was fitted
// to.
func (f *BoundedFit) LastErrors(n int) []float64 {
	return lastErrors(f.seen, f.Fitted.Info().Fitted, n)
}

// Forecast returns the model's forecast within the bounds. It fails where a value of it is not
// finite.
func (f *BoundedFit) Forecast(h int, levels ...float64) (model.Forecast, error) {
	fc, err := f.ForecastDemand(h, levels...)
	if err != nil {
		return fc, err
	}
	for _, list := range fc.Figures() {
		f.clip(list)
	}
	return fc, nil
}

// ForecastDemand returns what Forecast does, above the cap too: a quantile that is cut at a cap is
// no quantile of the demand.
func (f *BoundedFit) ForecastDemand(h int, levels ...float64) (model.Forecast, error) {
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
	f.unsure.Widen(fc)
	if f.reach.Keep(fc) {
		f.held.Store(true)
	}
	for _, list := range fc.Figures() {
		for i, v := range list {
			if !model.IsFinite(v) {
				return fc, fmt.Errorf("%s: the forecast of step %d is not finite", f.Fitted.Info().Method, i+1)
			}
			list[i] = max(v, f.floor)
		}
	}
	return fc, nil
}

// clip keeps the values of the steps ahead within the bounds, in place.
func (f *BoundedFit) clip(list []float64) {
	for i, v := range list {
		list[i] = f.Clamp(i, v)
	}
}

// Path draws a future from the model, within the bounds.
func (f *BoundedFit) Path(h int, rng model.Noise) []float64 {
	out := f.DrawDemand(h, rng)
	f.clip(out)
	return out
}

// DrawDemand draws the future that Path draws, above the cap too.
func (f *BoundedFit) DrawDemand(h int, rng model.Noise) []float64 {
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
	f.unsure.Move(out, rng)
	f.reach.Path(out)
	for i, v := range out {
		out[i] = max(v, f.floor)
	}
	return out
}

// shift returns, by step, the forecast of the expected demand minus the forecast of
// the drawn demand. It returns nil where one of them fails.
func (f *BoundedFit) shift(h int) []float64 {
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

// Clamp returns v within the floor and the cap of step i ahead, which counts from 0.
func (f *BoundedFit) Clamp(i int, v float64) float64 {
	if v = max(v, f.floor); f.most != nil {
		v = min(v, f.most[min(f.n+i, len(f.most)-1)])
	}
	return v
}

// Bounds returns a function that does what Clamp does and does not keep the fit in memory.
func (f *BoundedFit) Bounds() func(i int, v float64) float64 {
	bounds := &BoundedFit{floor: f.floor, most: f.most, n: f.n}
	return bounds.Clamp
}

// Floor returns a function that keeps v above the floor and does not keep the fit in memory.
func (f *BoundedFit) Floor() func(i int, v float64) float64 {
	floor := f.floor
	return func(_ int, v float64) float64 { return max(v, floor) }
}

// ReachNote returns a note for the user where Reach bounded a forecast that was requested, and
// "" where it bounded none.
func (f *BoundedFit) ReachNote() string {
	if f.held.Load() {
		return heldNote
	}
	return ""
}

// Info returns the model's Info with the notes on changes to the series.
func (f *BoundedFit) Info() model.Info {
	info := f.Fitted.Info()
	info.Notes = append(slices.Clone(info.Notes), f.notes...)
	return info
}
