package outlook

import (
	"context"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

// Numbers of futures from which the ranges of periods are computed: the usual one, and the least
// where the futures of all series are in memory at once.
const (
	periodDraws = 1000
	fewDraws    = 100
)

// futures are the drawn futures of one series.
type futures struct {
	paths   [][]float64
	extras  [][]float64 // what events add to each path; nil is nothing
	periods []Period    // computed from the paths and from others that are not kept
}

// futuresOf returns the number of futures to draw for each series over the given number of
// steps.
func (q *question) futuresOf(steps int) int {
	if !q.ByPeriods() {
		return q.Paths
	}
	n := max(q.Paths, periodDraws)
	if q.agrees() {
		n = max(q.Paths, min(n, max(fewDraws, maxCells/2/max(1, steps*len(q.views)))))
	}
	return n
}

// pathsHeld returns the number of futures of each series that are in memory at once.
func (q *question) pathsHeld(steps int) int {
	if q.agrees() {
		return q.futuresOf(steps)
	}
	return q.Paths
}

// draw draws the futures of all series jointly: future k of one series belongs to future k of
// the others (forecast.Innovations). It reconciles them with a, which may be nil, and releases
// the fits.
func (q *question) draw(ctx context.Context, list []*seriesForecast, a *agreement) ([]futures, []string, error) {
	var with []*seriesForecast
	var places []int
	for i, s := range list {
		if s.failure == nil && s.fit != nil {
			with, places = append(with, s), append(places, i)
		}
	}
	joint, notes := q.jointNoise(with)
	numbers := make([]int, len(with))
	for i := range numbers {
		numbers[i] = i
	}
	drawn, err := capcli.MapParallel(ctx, numbers, nil, func(_ context.Context, i int) (futures, error) {
		s := with[i]
		return q.drawOne(s, func(k int) model.Noise {
			seed := q.Seed.Child(k)
			own := seed.Stream("path/" + s.Name)
			if joint == nil {
				return own
			}
			return joint.Noise(i, seed.Stream("together"), own)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	out := make([]futures, len(list))
	for i, f := range drawn {
		out[places[i]] = f
	}
	if a != nil && len(out[0].paths) > 0 {
		err = a.reconcileFutures(ctx, out)
	} else {
		for i := range out {
			out[i].addEvents(list[i].within)
		}
	}
	if err != nil || !q.ByPeriods() {
		return out, notes, err
	}
	for i, s := range list {
		if s.failure == nil && out[i].periods == nil {
			if err := q.settlePeriods(&out[i], s, out[i].paths); err != nil {
				return nil, nil, err
			}
		}
	}
	return out, notes, nil
}

// drawOne draws the futures of one series. Where series are not reconciled, it computes the
// periods from them and keeps only the futures of the result.
func (q *question) drawOne(s *seriesForecast, noise func(k int) model.Noise) (futures, error) {
	var out futures
	for k := range q.futuresOf(s.steps) {
		path := s.fit.Path(s.steps, noise(k))
		out.paths = append(out.paths, path)
		if extra := s.extraOf(path, q.Seed.Child(k)); extra != nil {
			out.extras = append(out.extras, extra)
		}
	}
	s.fit = nil
	if !q.ByPeriods() || q.agrees() {
		return out, nil
	}
	whole := futures{paths: out.paths, extras: out.extras}
	if whole.extras != nil {
		whole.paths = make([][]float64, len(out.paths))
		for k, path := range out.paths {
			whole.paths[k] = slices.Clone(path)
		}
		whole.addEvents(s.within)
	}
	err := q.settlePeriods(&out, s, whole.paths)
	return out, err
}

// addEvents adds to each future the amounts of its events, within bounds.
func (f *futures) addEvents(within func(int, float64) float64) {
	for k, add := range f.extras {
		for i, v := range add {
			f.paths[k][i] = within(i, f.paths[k][i]+v)
		}
	}
}

// settlePeriods computes the periods of s from its means and all of its futures, and keeps in f
// only the futures of the result.
func (q *question) settlePeriods(f *futures, s *seriesForecast, all [][]float64) error {
	spans, err := q.spansOf(s.History, s.steps)
	if err != nil {
		return err
	}
	f.periods = q.periodsFrom(spans, s.fc.Mean, all)
	f.paths = slices.Clip(f.paths[:q.Paths])
	if f.extras != nil {
		f.extras = f.extras[:q.Paths]
	}
	return nil
}

// jointNoise returns the correlated noise of the series. It returns nil where there are fewer
// than two, and nil with a note where their errors do not suffice.
func (q *question) jointNoise(with []*seriesForecast) (*forecast.Innovations, []string) {
	if len(with) < 2 {
		return nil, nil
	}
	errs, begin := make([][]float64, len(with)), make([]int, len(with))
	last := lastToEnd(with)
	for i, s := range with {
		errs[i], begin[i] = alignedErrors(s.errs, s.view, last), len(last.Values)
		if at, ok := last.IndexOf(s.Stamp(len(s.Values) - 1)); ok {
			begin[i] = at + 1
		}
	}
	joint, err := forecast.NewInnovations(errs, begin)
	if err != nil {
		return nil, []string{"futures of the series were drawn independently: " + err.Error()}
	}
	return joint, nil
}

// lastToEnd returns the history that ends last.
func lastToEnd(list []*seriesForecast) *view {
	last := list[0].view
	for _, s := range list {
		if s.Stamp(len(s.Values)) > last.Stamp(len(last.Values)) {
			last = s.view
		}
	}
	return last
}

// alignedErrors returns the errors of v shifted to the times of last, the history that ends
// last; NaN at times without an error.
func alignedErrors(errs []float64, v, last *view) []float64 {
	at, ok := last.IndexOf(v.Stamp(len(v.Values) - 1))
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
