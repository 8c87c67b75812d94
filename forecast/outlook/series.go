package outlook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"capcli/forecast"
	"capcli/forecast/model"
)

// lines are the capacity lines: quantiles of the demand to come, by name.
var lines = [3]struct {
	name     string
	quantile float64
}{{"median", 0.5}, {"p80", 0.8}, {"p95", 0.95}}

// Default numbers of past starts of a trial. DefaultModel itself tries its members on the past,
// which takes time on a series of more than longSeries values.
const (
	fewOrigins  = 4
	autoOrigins = 2
	longSeries  = 300
	moreOrigins = 10 // in a backtest
)

// seriesForecast is the forecast of one series before reconciliation.
type seriesForecast struct {
	*view
	failure   error // why there is no forecast; nil where there is one
	warnings  []string
	seen      []float64 // the history, or the demand behind it where it was estimated
	censoring *Censoring
	flat      *FlatTop
	moves     []Move     // nil where the history was not searched
	odd       []OddValue // as moves
	model     string
	info      model.Info
	// fc has the ranges by level and then the capacity lines, each as a range whose two ends are
	// the line.
	fc     *model.Forecast
	within func(i int, v float64) float64 // returns v within the bounds of step i ahead
	above  func(i int, v float64) float64 // returns v above the floor alone
	seriesEvents
	test *trial               // nil where the history is too short for a backtest
	fit  *forecast.BoundedFit // until futures are drawn; nil where none are
	own  *futures             // where they are drawn without the other series
	errs []float64            // the last one-step errors; nil where neither reconciliation nor futures need them
}

// forecastSeries fits a model to v, forecasts it and tries the model on the past.
func (q *question) forecastSeries(ctx context.Context, v *view) (*seriesForecast, error) {
	out := &seriesForecast{view: v, warnings: slices.Concat(v.Warnings, v.notes)}
	say := func(notes ...string) { out.warnings = append(out.warnings, notes...) }
	opts := v.options
	opts.Memory = forecast.NewMemory()
	fitted := v // what the model is fitted to
	if out.failure = tooLittle(v); out.failure != nil {
		if q.hs.Tree == nil {
			return out, nil
		}
		fitted = v.withZeros()
		say(out.failure.Error() + ": counted as 0 before")
	}
	latent, censoring, notes, err := q.demandBehind(v, opts)
	if out.failure = err; err != nil {
		return out, nil
	}
	say(notes...)
	if out.seen, out.censoring = v.Values, censoring; latent != nil {
		out.seen = latent.demand
	}
	if q.look {
		out.moves, out.odd = q.changesOf(v, out.seen, opts)
	}
	out.odd = append(out.odd, v.aside...)
	var fit *forecast.BoundedFit
	if out.model, fit, notes, err = q.fit(fitted, opts); err != nil {
		out.failure = withSeen(err, out.seen)
		return out, nil
	}
	out.info = fit.Info()
	say(notes...)
	say(out.info.Notes...)
	say(learntSince(v, out.seen, fit)...)
	if notes, err = q.ask(out, fitted, fit); err != nil {
		out.failure = err
		return out, nil
	}
	say(notes...)
	switch {
	case q.drawsAlone():
		out.fit = fit
		if out.own, err = q.drawOne(out, func(k int) model.Noise { return q.ownNoise(v, k) }); err != nil {
			return nil, err
		}
	case q.futuresOf(v.steps) > 0:
		out.fit = fit
	}
	if len(q.views) > 1 && (q.hs.Tree != nil || out.fit != nil) {
		out.errs = fit.LastErrors(q.errors)
	}
	if out.test, err = q.tryOwn(ctx, out, fitted, opts); err != nil {
		return nil, err
	}
	out.flat = q.flatTopOf(out, v.options)
	say(out.doubts()...)
	out.info.Fitted = nil // frees memory: no output shows the fitted values
	return out, nil
}

// tooLittle returns why a series is not forecast at all; nil where it is.
func tooLittle(v *view) error {
	switch n := v.CountKnown(); {
	case v.gone:
		return errors.New("it has ended")
	case n == 0:
		return errors.New("all values are missing")
	case n < 2:
		return errors.New("the series is too short: one value is no history; " + seenText(v.Values))
	}
	return nil
}

// withZeros returns a history that is too short for any model with zeros before its first known
// value: a part of a sum that has only just begun was zero before.
func (v *view) withZeros() *view {
	h := *v.History
	h.Values = make([]float64, fewestValues)
	for _, x := range v.Values {
		if !math.IsNaN(x) {
			h.Values = append(h.Values, x)
		}
	}
	out := *v
	out.History, out.usage = &h, nil
	return &out
}

// fit makes the model, fits it and returns its name. Where the default model, or any model of a
// series in a hierarchy, cannot be fitted, it falls back to repeating the last value, and
// returns a note.
func (q *question) fit(v *view, opts forecast.Options) (string, *forecast.BoundedFit, []string, error) {
	fit, err := q.modelFor(v, q.Model, v.steps, opts).FitBounded(v.Series)
	if err == nil || q.Model != DefaultModel && q.hs.Tree == nil {
		return q.Model, fit, nil, err
	}
	fallback, failed := q.modelFor(v, "naive", v.steps, opts).FitBounded(v.Series)
	if failed != nil {
		return q.Model, nil, nil, err
	}
	return "naive", fallback, []string{fmt.Sprintf("%s could not be fitted (%v): the last value is repeated instead", q.Model, err)}, nil
}

// ask forecasts with fit, which was fitted to fitted, and adds the planned events.
func (q *question) ask(out *seriesForecast, fitted *view, fit *forecast.BoundedFit) ([]string, error) {
	const middle = 0.01 // a range so narrow that its ends are the median
	steps := out.steps
	var notes []string
	var err error
	out.seriesEvents, notes, err = q.eventsAhead(out.view, fitted, fit)
	if err != nil {
		return nil, err
	}
	out.within, out.above = fit.Bounds(), fit.Floor()
	fc, err := fit.ForecastDemand(steps, append(slices.Clone(q.Levels), 60, 90, middle)...)
	if err != nil {
		return nil, err
	}
	fc, more, err := out.applyRoadmap(fc, out.view, out.above)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	if note := fit.ReachNote(); note != "" {
		notes = append(notes, note)
	}
	out.fc = withLines(fc, len(q.Levels))
	out.clip()
	return notes, nil
}

// clip keeps the means and the ranges within the bounds, and with them what events add. It leaves
// the capacity lines, which are quantiles of the demand.
func (s *seriesForecast) clip() {
	shown := model.Forecast{Mean: s.fc.Mean, Intervals: s.fc.Intervals[:len(s.fc.Intervals)-len(lines)]}
	for _, list := range shown.Figures() {
		for i, v := range list {
			list[i] = s.within(i, v)
		}
	}
	if s.plain != nil {
		s.extra = make([]float64, len(s.plain))
		for i, v := range s.plain {
			s.extra[i] = s.fc.Mean[i] - s.within(i, v)
		}
	}
}

// withLines returns fc with the capacity lines after its ranges. The intervals of fc are those
// of the levels, then those of 60 % and 90 %, then the median.
func withLines(fc model.Forecast, levels int) *model.Forecast {
	middle, line := fc.Intervals[levels+2], make([]float64, len(fc.Mean))
	for i := range line {
		line[i] = (middle.Lo[i] + middle.Hi[i]) / 2
	}
	out := &model.Forecast{Mean: fc.Mean, Intervals: slices.Clone(fc.Intervals[:levels])} // the other levels are let go
	for _, line := range [][]float64{line, fc.Intervals[levels].Hi, fc.Intervals[levels+1].Hi} {
		out.Intervals = append(out.Intervals, model.Interval{Lo: line, Hi: line})
	}
	orderLines(out) // simulated quantiles may cross by a hair
	return out
}

// orderLines raises each capacity line that lies below the one before it.
func orderLines(fc *model.Forecast) {
	all := fc.Intervals[len(fc.Intervals)-len(lines):]
	for k := 1; k < len(all); k++ {
		for i, v := range all[k-1].Hi {
			all[k].Hi[i] = max(all[k].Hi[i], v)
		}
	}
}

// tryOwn tries the model of a forecast on the past of the series.
func (q *question) tryOwn(ctx context.Context, s *seriesForecast, fitted *view, opts forecast.Options) (*trial, error) {
	var windows []window
	if q.ByPeriods() {
		spans, err := q.spansOf(s.History, s.steps)
		if err != nil {
			return nil, err
		}
		windows = windowsOf(spans)
	}
	if q.futuresOf(s.steps) > 0 {
		windows = append(windows, window{wholeHorizon, s.steps})
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	origins := q.Origins
	if origins == 0 {
		origins = fewOrigins
		if q.Model == DefaultModel && q.length(fitted) > longSeries {
			origins = autoOrigins
		}
	}
	return q.try(fitted, opts, s.model, min(s.steps, q.testableSteps(fitted)), origins, windows), nil
}

// fewKnown is the number of known values below which DefaultModel cannot try its members on the past.
const fewKnown = 8

// doubts returns warnings on how far the forecast can be trusted.
func (s *seriesForecast) doubts() []string {
	var out []string
	zeros, known := 0, 0
	for _, v := range s.seen {
		if v == 0 {
			zeros++
		}
		if !math.IsNaN(v) {
			known++
		}
	}
	if 2*zeros > known {
		out = append(out, fmt.Sprintf("demand is 0 in %.0f%% of the steps; plan from the range, not the middle", math.Floor(100*float64(zeros)/float64(known))))
	}
	if s.flat != nil {
		out = append(out, s.flat.text(known))
	}
	switch {
	case known < fewKnown:
		out = append(out, fmt.Sprintf("%d values are too few to say what comes: %s", known, seenText(s.seen)))
	case s.test == nil:
		out = append(out, "too short for a backtest: the accuracy of the forecast and the coverage of its ranges are unknown")
	case s.steps > s.test.Steps:
		out = append(out, fmt.Sprintf("%d steps is beyond the backtest (%d steps): treat the far end as a guess", s.steps, s.test.Steps))
	}
	return out
}
