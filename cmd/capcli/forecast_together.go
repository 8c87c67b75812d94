package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast"
)

// Futures that tell the ranges of periods: so many, and where all series must be
// held at once at least so many.
const (
	periodDraws = 1000
	fewDraws    = 100
)

// draws is how many futures of each series are drawn.
func (o *forecastOptions) draws(hs *histories, steps int) int {
	if !o.byPeriods() {
		return o.paths
	}
	n := max(o.paths, periodDraws)
	if o.agrees(hs) {
		n = max(o.paths, min(n, max(fewDraws, maxCells/2/max(1, steps*len(hs.list)))))
	}
	return n
}

// agrees tells whether the series are made to agree.
func (o *forecastOptions) agrees(hs *histories) bool {
	_, ok := o.history.tree.way()
	return ok && hs.tree != nil
}

// kept is how many futures of each series are held until all are put together.
func (o *forecastOptions) kept(hs *histories, steps int) int {
	if o.agrees(hs) {
		return o.draws(hs, steps)
	}
	return o.paths
}

// triedPeriodsOf notes on the history that a fit is made of which kinds of periods
// to try on its past.
func (f *forecasted) triedPeriodsOf(o *forecastOptions, h *history) error {
	if !o.byPeriods() {
		return nil
	}
	spans, err := o.spansOf(f.h, len(f.mean))
	h.windows = windowsOf(spans)
	return err
}

// draw draws the futures of a series from its fit, which is not needed after.
// Those that are only needed for its periods are not kept, unless series must
// agree first.
func (f *forecasted) draw(o *forecastOptions, noise func(k int) forecast.Noise) error {
	steps, n := len(f.mean), o.draws(f.h.hs, len(f.mean))
	for k := range n {
		f.paths = append(f.paths, f.fit.Path(steps, noise(k)))
		f.future(f.paths[k], o.chance().Child(k))
	}
	f.fit = nil
	if !o.byPeriods() || o.agrees(f.h.hs) {
		return nil
	}
	futures := make([][]float64, n)
	for k, path := range f.paths {
		futures[k] = path
		if f.extras != nil {
			futures[k] = slices.Clone(path)
			for i, v := range f.extras[k] {
				futures[k][i] = f.within(i, path[i]+v)
			}
		}
	}
	return f.settlePeriods(o, futures)
}

// settlePeriods takes the periods from all futures, and keeps those that are
// written.
func (f *forecasted) settlePeriods(o *forecastOptions, futures [][]float64) error {
	spans, err := o.spansOf(f.h, len(f.mean))
	if err != nil {
		return err
	}
	f.inPeriods(o, spans, futures)
	f.paths = slices.Clip(f.paths[:o.paths])
	if f.extras != nil {
		f.extras = f.extras[:o.paths]
	}
	return nil
}

// show puts series in the order in which they are shown: of a job log by name.
func show[T any](hs *histories, list []T, name func(T) string) {
	if hs.ByName {
		slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	}
}

// begun is a history that is too short for any model, with zeros before its first
// value: a part that has only begun was nought before.
func (f *forecasted) begun() *history {
	h := *f.h
	values := make([]float64, fewest)
	for _, v := range h.Values {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	h.Values, h.past = values, nil
	f.warnings = append(f.warnings, f.left.Error()+": counted as 0 before")
	f.left = nil
	return &h
}

// keepFit keeps a fit until its futures are drawn, and its one-step errors where
// series are put together.
func (f *forecasted) keepFit(o *forecastOptions, fit forecast.Fitted) {
	if o.draws(f.h.hs, len(f.mean)) > 0 {
		f.fit = fit
	}
	if own, ok := fit.(forecast.Erring); ok && len(f.h.hs.list) > 1 && (f.h.hs.tree != nil || o.draws(f.h.hs, len(f.mean)) > 0) {
		f.errs = own.LastErrors(f.h.hs.errors)
	}
}

// together puts the series of a call together: forecasts that agree, futures that
// go together.
func (o *forecastOptions) together(ctx context.Context, hs *histories, list []*forecasted) (*agreement, error) {
	a, err := o.agreed(hs, list)
	if err != nil {
		return nil, err
	}
	if err := o.drawAll(ctx, hs, list); err != nil {
		return nil, err
	}
	if a != nil && len(list[0].paths) > 0 {
		if err := a.futures(ctx, list); err != nil {
			return nil, err
		}
	} else {
		for _, f := range list {
			f.eventful()
		}
	}
	for _, f := range list {
		if f.left == nil && o.byPeriods() && f.periods == nil {
			if err := f.settlePeriods(o, f.paths); err != nil {
				return nil, err
			}
		}
	}
	if o.byPeriods() {
		hs.tried = calibrate(list)
	}
	return a, nil
}

// drawAll draws the futures of all series as those of one whole: future k of one
// goes with future k of the others, step by step (forecast.Innovations).
func (o *forecastOptions) drawAll(ctx context.Context, hs *histories, list []*forecasted) error {
	var with []*forecasted
	for _, f := range list {
		if f.left == nil && f.fit != nil && o.draws(hs, len(f.mean)) > 0 {
			with = append(with, f)
		}
	}
	joint := o.innovations(hs, with)
	numbers := make([]int, len(with))
	for i := range numbers {
		numbers[i] = i
	}
	_, err := capcli.MapParallel(ctx, numbers, nil, func(_ context.Context, i int) (struct{}, error) {
		f := with[i]
		return struct{}{}, f.draw(o, func(k int) forecast.Noise {
			seed := o.chance().Child(k)
			own := seed.Stream("path/" + f.h.Name)
			if joint == nil {
				return own
			}
			return joint.Noise(i, seed.Stream("together"), own)
		})
	})
	return err
}

// innovations are those of series that are drawn together; nil where there are no
// two, or no errors that tell.
func (o *forecastOptions) innovations(hs *histories, with []*forecasted) *forecast.Innovations {
	if len(with) < 2 {
		return nil
	}
	errs, begin := make([][]float64, len(with)), make([]int, len(with))
	last := lastStamp(with)
	for i, f := range with {
		errs[i], begin[i] = shifted(f.errs, f.h, last), len(last.Values)
		if at, ok := last.IndexOf(f.h.Stamp(len(f.h.Values) - 1)); ok {
			begin[i] = at + 1
		}
	}
	joint, err := forecast.NewInnovations(errs, begin)
	if err != nil {
		hs.Notes = append(hs.Notes, "futures of the series were drawn each alone: "+err.Error())
		return nil
	}
	return joint
}

// lastStamp is the history that ends last.
func lastStamp(list []*forecasted) *history {
	last := list[0].h
	for _, f := range list {
		if f.h.Stamp(len(f.h.Values)) > last.Stamp(len(last.Values)) {
			last = f.h
		}
	}
	return last
}

// shifted moves errors so that they stand at the times of the history that ends
// last; NaN where they say nothing.
func shifted(errs []float64, h, last *history) []float64 {
	at, ok := last.IndexOf(h.Stamp(len(h.Values) - 1))
	late := len(last.Values) - 1 - at
	if ok && late == 0 {
		return errs
	}
	out := make([]float64, len(errs))
	for i := range out {
		out[i] = math.NaN()
		if k := i + late; ok && k >= 0 && k < len(errs) {
			out[i] = errs[k]
		}
	}
	return out
}

// futures makes each future of all series agree.
func (a *agreement) futures(ctx context.Context, list []*forecasted) error {
	high, numbers := 0.0, make([]int, len(list[0].paths))
	for _, f := range list {
		highest := 0.0
		for _, p := range f.paths {
			highest = math.Max(highest, most(p))
		}
		high += highest
	}
	for k := range numbers {
		numbers[k] = k
	}
	any := extrasOf(list) != nil
	places, at := forecast.PlacesFor(high), a.tree.origins()
	_, err := capcli.MapParallel(ctx, numbers, nil, func(_ context.Context, k int) (struct{}, error) {
		y := make([]float64, len(list))
		extra := func(i int) func(s int) float64 {
			return func(s int) float64 { return at0(list[s].extras, k, i) }
		}
		for i := range list[0].paths[k] {
			for s, f := range list {
				y[s] = f.paths[k][i]
			}
			if err := a.step(y, a.bounds(at, i, places), extra(i), any); err != nil {
				return struct{}{}, err
			}
			for s, f := range list {
				f.paths[k][i] = y[s]
			}
		}
		return struct{}{}, nil
	})
	return err
}

// agreeBacktest makes the trials of each model agree.
func (o *forecastOptions) agreeBacktest(hs *histories, all []*trials) error {
	if hs.tree == nil {
		return nil
	}
	if way, ok := o.history.tree.way(); ok {
		hs.Notes = append(hs.Notes, fmt.Sprintf("reconciled at each start by %s: %d parts add up to %d sums", way, len(hs.tree.parts), len(hs.tree.sums)))
	}
	for k := range o.models {
		tests := make([]*trial, len(all))
		for i, t := range all {
			if k < len(t.list) {
				tests[i] = t.list[k]
			}
		}
		if err := o.agreeTrials(hs, tests); err != nil {
			return err
		}
	}
	return nil
}

// agreeTrials makes what was forecast from each past start agree, by what was
// known there, and measures it again. A part that has no forecast from a start,
// for it had only begun, repeats its last value there, or is nought.
func (o *forecastOptions) agreeTrials(hs *histories, tests []*trial) error {
	if _, ok := o.history.tree.way(); !ok {
		return nil
	}
	starts, steps, every := 0, 0, 1
	for _, t := range tests {
		if t != nil && len(t.runs) > starts {
			starts, steps, every = len(t.runs), t.steps, t.every
		}
	}
	for k := 1; k <= starts; k++ {
		if err := o.agreeStart(hs, tests, k, steps, every); err != nil {
			return err
		}
	}
	for i, h := range hs.tree.all() {
		if tests[i] != nil {
			tests[i].score(h, o.level)
			tests[i].runs, tests[i].base = nil, nil
		}
	}
	return nil
}

// agreeStart does the k-th start from the end.
func (o *forecastOptions) agreeStart(hs *histories, tests []*trial, k, steps, every int) error {
	all := hs.tree.all()
	set, at := make([]*forecast.Forecast, len(all)), make([]int, len(all))
	errs, known := make([][]float64, len(all)), make([][]float64, len(all))
	for i, h := range all {
		at[i] = len(h.Values) - steps - (k-1)*every
		known[i] = h.Values[:max(0, at[i])]
		if t := tests[i]; t != nil && k <= len(t.runs) && t.steps == steps && t.every == every {
			r := &t.runs[len(t.runs)-k]
			if r.Err == nil && r.At == at[i] {
				set[i], errs[i] = &r.Forecast, r.Errors
				continue
			}
		}
		if i < len(hs.tree.sums) {
			return nil // a start from which not even a sum has a forecast
		}
		errs[i] = make([]float64, hs.errors)
		set[i] = &forecast.Forecast{Mean: make([]float64, steps)}
		if v := lastKnown(known[i]); !math.IsNaN(v) {
			for s := range set[i].Mean {
				set[i].Mean[s] = v
			}
		}
	}
	a, err := o.agree(hs.tree, errs, known)
	if err != nil || a == nil {
		return err
	}
	return a.apply(set, at, nil)
}

// chance is the seed of the call.
func (o *forecastOptions) chance() capcli.Seed { return capcli.Seed(o.seed) }
