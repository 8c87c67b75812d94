package outlook

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

// Numbers of futures from which the figures of a horizon are computed: the usual one, the least
// where the horizon is long or the futures of all series are in memory at once, and the number of
// their steps up to which the usual one is drawn where no periods are requested.
const (
	usualDraws = 1000
	fewDraws   = 100
	usualSteps = 4_000_000
)

// futures are the drawn futures of one series.
type futures struct {
	paths   [][]float64
	extras  [][]float64 // what events add to each path; nil is nothing
	apart   *Apart      // nil unless it is asked for
	settled bool        // periods and law are computed, from the paths and from others that are not kept
	periods []Period
	law
}

// futuresOf returns the number of futures to draw for each series over the given number of
// steps. It is 0 where no figure can be computed from so few as memory holds.
func (q *question) futuresOf(steps int) int {
	n, steps := usualDraws, max(1, steps)
	if !q.ByPeriods() {
		n = min(n, max(fewDraws, usualSteps/steps))
	}
	if !q.agrees() {
		return max(q.Paths, n)
	}
	held := maxCells / 2 / (steps * len(q.views))
	if held < fewDraws && !q.ByPeriods() {
		return q.Paths
	}
	return max(q.Paths, min(n, max(fewDraws, held)))
}

// drawsAlone reports whether the futures of each series are drawn as soon as it is fitted, since no
// output shows how they go together with those of other series.
func (q *question) drawsAlone() bool { return !q.agrees() && !q.ByPeriods() && q.Paths == 0 }

// ownNoise returns the randomness of future k of a series.
func (q *question) ownNoise(v *view, k int) *rand.Rand {
	return q.Seed.Child(k).Stream("path/" + v.Name)
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
	drawn, err := capcli.MapParallel(ctx, numbers, nil, func(_ context.Context, i int) (*futures, error) {
		s := with[i]
		return q.drawOne(s, func(k int) model.Noise {
			own := q.ownNoise(s.view, k)
			if joint == nil {
				return own
			}
			return joint.Noise(i, q.Seed.Child(k).Stream("together"), own)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	out := make([]futures, len(list))
	for i, s := range list {
		if s.own != nil {
			out[i] = *s.own
		}
	}
	for i, f := range drawn {
		out[places[i]] = *f
	}
	if a == nil || len(out[0].paths) == 0 {
		for i := range out {
			out[i].addEvents(list[i].within)
		}
		return out, notes, nil
	}
	return out, notes, q.settleTogether(ctx, list, a, out)
}

// settleTogether reconciles the futures of all series and computes the figures of each series. The
// figures that are probabilities are of futures that no cap cuts.
func (q *question) settleTogether(ctx context.Context, list []*seriesForecast, a *agreement, drawn []futures) error {
	open := drawn
	if a.caps {
		open = slices.Clone(drawn)
		for i := range open {
			open[i].paths = clonePaths(drawn[i].paths)
		}
		free := *a
		free.caps = false
		if err := free.reconcileFutures(ctx, open); err != nil {
			return err
		}
		for i := range drawn {
			drawn[i].bound(list[i].within)
		}
	}
	if err := a.reconcileFutures(ctx, drawn); err != nil {
		return err
	}
	for i, s := range list {
		if err := q.settle(&drawn[i], s, drawn[i].paths, open[i].paths); err != nil {
			return err
		}
	}
	return nil
}

func clonePaths(paths [][]float64) [][]float64 { return capcli.Map(paths, slices.Clone) }

// drawOne draws the futures of one series. Where series are not reconciled, it computes the
// figures from them and keeps only the futures of the result, without their events.
func (q *question) drawOne(s *seriesForecast, noise func(k int) model.Noise) (*futures, error) {
	n := q.futuresOf(s.steps)
	out := &futures{paths: make([][]float64, 0, n)}
	for k := range n {
		path := s.fit.DrawDemand(s.steps, noise(k))
		out.paths = append(out.paths, path)
		if extra := s.extraOf(path, q.Seed.Child(k)); extra != nil {
			out.extras = append(out.extras, extra)
		}
	}
	s.fit = nil
	out.apart = q.apartOf(s, out.paths)
	if q.agrees() {
		return out, nil
	}
	open := futures{paths: out.paths, extras: out.extras}
	if s.cap != nil || open.extras != nil {
		open.paths = clonePaths(out.paths)
		open.addEvents(s.above)
	}
	shown := open
	if s.cap != nil {
		shown.paths = clonePaths(open.paths)
		shown.bound(s.within)
		out.bound(s.within)
	}
	return out, q.settle(out, s, shown.paths, open.paths)
}

// addEvents adds to each future the amounts of its events, within bounds.
func (f *futures) addEvents(within func(int, float64) float64) {
	for k, add := range f.extras {
		for i, v := range add {
			f.paths[k][i] = within(i, f.paths[k][i]+v)
		}
	}
}

// bound keeps each future within bounds.
func (f *futures) bound(within func(int, float64) float64) {
	for _, path := range f.paths {
		for i, v := range path {
			path[i] = within(i, v)
		}
	}
}

// settle computes the figures of s from all of its futures, and keeps in f only the futures of the
// result. shown are the futures within the cap, and open those that no cap cuts, from which all
// probabilities are.
func (q *question) settle(f *futures, s *seriesForecast, shown, open [][]float64) error {
	if len(open) == 0 {
		return nil
	}
	f.settled, f.law = true, q.lawOf(s, open)
	if q.ByPeriods() {
		spans, err := q.spansOf(s.History, s.steps)
		if err != nil {
			return err
		}
		f.periods = q.periodsFrom(spans, s.fc.Mean, shown, open)
	}
	n := min(q.Paths, len(f.paths))
	f.paths = firstPaths(f.paths, n)
	if f.extras != nil {
		f.extras = firstPaths(f.extras, n)
	}
	return nil
}

// firstPaths returns the first n of the paths in memory of their own: a part of a slice keeps the whole of it,
// and all paths.
func firstPaths(paths [][]float64, n int) [][]float64 {
	out := make([][]float64, n)
	copy(out, paths)
	return out
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
