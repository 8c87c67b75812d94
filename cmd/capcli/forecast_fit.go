package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
)

// forecasted is the forecast of one series.
type forecasted struct {
	h        *history
	seen     []float64 // the history, as demand where that was told from usage
	told     *told     // nil where the values are taken for demand
	left     error     // why there is none
	model    string
	info     forecast.Info
	fit      forecast.Fitted // until its futures are drawn; nil where none are asked for
	mean     []float64
	ranges   []forecast.Interval
	lines    [3][]float64 // conservative, expected, aggressive
	paths    [][]float64
	errs     []float64   // one-step errors, the last ones; where series are put together
	extra    []float64   // what events add to the mean; nil is nothing
	extras   [][]float64 // what they add to each future; nil is nothing
	within   func(int, float64) float64
	periods  []periodForecast
	test     *trial
	season   int
	warnings []string
	roadmap  *forecast.Roadmap // the events to come; nil is none
	bounds   []capcli.Time     // of the steps ahead, where there are events
	added    []added           // what each event added
	changed  *changed          // what was not usual in the history; nil where nobody looked
}

// lineNames are the capacity lines; they are these quantiles of what will be wanted.
var (
	lineNames     = [3]string{"conservative", "expected", "aggressive"}
	lineQuantiles = [3]float64{0.5, 0.8, 0.95}
)

// forecast fits a model to h, tries it on the past and asks it about the future.
func (o *forecastOptions) forecast(ctx context.Context, hs *histories, h *history) (*forecasted, error) {
	out := &forecasted{h: h, warnings: slices.Clone(h.Warnings)}
	steps, err := o.ahead(h)
	if err != nil {
		return nil, err
	}
	h.most = o.history.bound(hs.Histories, &h.History, len(h.Values)+steps)
	opts, notes := o.options(hs, h.Known())
	out.warnings = append(out.warnings, notes...)
	out.season = opts.Period()
	if out.left = tooLittle(h); out.left != nil && hs.tree != nil {
		h = out.begun()
	}
	if out.left != nil {
		return out, nil
	}
	if out.left = out.tell(opts); out.left != nil {
		return out, nil
	}
	if o.look {
		out.look(o, opts)
	}
	name, fit, err := o.fit(h, steps, opts, out)
	if err != nil {
		out.left = err
		return out, nil
	}
	out.model, out.info = name, fit.Info()
	out.warnings = append(out.warnings, out.info.Notes...)
	out.since(fit)
	out.roadmap, out.bounds = o.roadmapOf(h, steps)
	if err := out.holidays(o, fit, steps); err != nil {
		out.left = err
		return out, nil
	}
	out.within = withinOf(fit)
	if err := out.ask(fit, steps, o.level, out.within); err != nil {
		out.left = err
		return out, nil
	}
	out.keepFit(o, fit)
	if err := out.triedPeriodsOf(o, h); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	origins := o.origins
	if origins == 0 {
		origins = fewOrigins
		if o.model == defaultModel && h.length() > longSeries {
			origins = autoOrigins
		}
	}
	out.test = o.try(h, opts, name, min(steps, testable(h, opts)), origins)
	out.warn(steps)
	out.info.Fitted = nil // as long as the history, and nobody shows it
	return out, nil
}

func tooLittle(h *history) error {
	switch n := h.Known(); {
	case n == 0:
		return errors.New("all values are missing")
	case n < 2:
		return errors.New("the series is too short: one value is no history")
	}
	return nil
}

// fit makes the model and fits it. Where nobody chose the model, a series that it
// cannot take is forecast by repeating its last value, and that is said.
func (o *forecastOptions) fit(h *history, steps int, opts forecast.Options, out *forecasted) (string, forecast.Fitted, error) {
	fit, err := o.modelFor(h, o.model, steps, opts).Fit(h.Series)
	if err == nil || o.model != defaultModel && h.hs.tree == nil {
		return o.model, fit, err
	}
	fallback, failed := o.modelFor(h, "naive", steps, opts).Fit(h.Series)
	if failed != nil {
		return o.model, nil, err
	}
	out.warnings = append(out.warnings, fmt.Sprintf("%s could not be fitted (%v): the last value is repeated instead", o.model, err))
	return "naive", fallback, nil
}

// ask takes the figures of the forecast.
func (f *forecasted) ask(fit forecast.Fitted, steps int, levels []float64, within func(int, float64) float64) error {
	const middle = 0.01 // a range so narrow that its ends are the median
	all := append(slices.Clone(levels), 60, 90, middle)
	fc, err := fit.Forecast(steps, all...)
	if err != nil {
		return err
	}
	plain := fc.Mean
	if fc, err = f.planned(fc, within); err != nil {
		return err
	}
	if f.roadmap != nil {
		f.extra = less(fc.Mean, plain)
	}
	if b, ok := fit.(*forecast.BoundedFit); ok && b.Held() != "" {
		f.warnings = append(f.warnings, b.Held())
	}
	k := len(levels)
	f.mean, f.ranges = fc.Mean, slices.Clone(fc.Intervals[:k]) // the other levels are let go
	f.lines[0] = make([]float64, steps)
	for i := range steps {
		f.lines[0][i] = (fc.Intervals[k+2].Lo[i] + fc.Intervals[k+2].Hi[i]) / 2
	}
	f.lines[1], f.lines[2] = fc.Intervals[k].Hi, fc.Intervals[k+1].Hi
	for i := range steps { // simulated quantiles may cross by a hair
		f.lines[1][i] = max(f.lines[1][i], f.lines[0][i])
		f.lines[2][i] = max(f.lines[2][i], f.lines[1][i])
	}
	return nil
}

// warn says what the reader must know of the forecast.
func (f *forecasted) warn(steps int) {
	zeros, known := 0, 0
	for _, v := range f.seen {
		if v == 0 {
			zeros++
		}
		if !math.IsNaN(v) {
			known++
		}
	}
	if 2*zeros > known {
		f.warnings = append(f.warnings, fmt.Sprintf("nothing is wanted in %.0f%% of the steps; plan from the range, not the middle", math.Floor(100*float64(zeros)/float64(known))))
	}
	switch {
	case f.test == nil:
		f.warnings = append(f.warnings, "too short to be tried on its past: how right the forecast is, and what its ranges hold, is not known")
	case steps > f.test.steps:
		f.warnings = append(f.warnings, fmt.Sprintf("%d steps is further than it was tried (%d steps): treat the far end as a guess", steps, f.test.steps))
	}
}
