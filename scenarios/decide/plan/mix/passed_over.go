package mix

import (
	"cmp"
	"slices"

	"capcli"
)

// The effort of a search by a coarse grid on the mixes that it passed over. weighedMost is the most
// runs of mixes for which it computes lower bounds. closingJobs is the most jobs that it simulates
// for mixes that may be better than the best, unless half of its earlier simulations are more.
const (
	weighedMost = 100_000
	closingJobs = 3_000_000
)

// close computes lower bounds for the mixes that a search by a coarse grid passed over. It runs
// those that may be better than the best, least bound first, as many as the budget allows. It
// counts the rest, with the most that they can save.
func (s *search) close() {
	if len(s.tried) == s.Size {
		return
	}
	if s.Size > weighedMost/s.Problem.Runs {
		s.Unweighed = true
		return
	}
	open := s.passedOver()
	budget := max(s.Simulations/2, s.closingRuns())
	for len(open) > 0 && s.err == nil && budget > 0 {
		before := s.Simulations
		n := min(len(open), batchKeys)
		for _, e := range open[:n] {
			s.tried[e.Index] = e
		}
		s.run(open[:n])
		open = s.mayBeBetter(open[n:])
		budget -= max(1, s.Simulations-before)
	}
	s.Open = len(open)
	if best := s.bestSoFar(); best != nil && len(open) > 0 {
		s.Loss = best.CostWithWaits() - open[0].floor()
	}
}

// closingRuns returns how many simulations have closingJobs jobs in all.
func (s *search) closingRuns() int {
	jobs, err := s.Problem.Jobs(0)
	if err != nil {
		return 0
	}
	return closingJobs / max(1, len(jobs))
}

// passedOver returns the mixes that were not tried and may be better than the best, least floor
// first.
func (s *search) passedOver() []*Entry {
	var open []*Entry
	for i := range s.Size {
		if _, done := s.tried[i]; done {
			continue
		}
		if s.err = s.ctx.Err(); s.err != nil {
			return nil
		}
		e := s.entryOf(i)
		switch {
		case s.err != nil:
			return nil
		case e == nil:
			s.tried[i] = nil
		default:
			open = append(open, e)
		}
	}
	slices.SortFunc(open, byFloor)
	return s.mayBeBetter(open)
}

// byFloor orders entries by their floor, then number: a total order.
func byFloor(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.floor(), b.floor()), cmp.Compare(a.Index, b.Index))
}

// mayBeBetter removes from entries those that a bound proves to be no better than the best, or to
// break a limit. It counts them in Closed.
func (s *search) mayBeBetter(entries []*Entry) []*Entry {
	best := capcli.USD(-1)
	if e := s.bestSoFar(); e != nil {
		best = e.CostWithWaits()
	}
	return slices.DeleteFunc(entries, func(e *Entry) bool {
		out := s.overLimit(e) || s.starved(e) || best >= 0 && e.floor() >= best
		if out {
			s.Closed++
		}
		return out
	})
}

// bestSoFar returns the best of the mixes run in full so far; nil where none holds the limits.
func (s *search) bestSoFar() *Entry {
	var best *Entry
	for _, e := range s.finished {
		if e.holds(s.Hold) && (best == nil || byChoice(e, best) < 0) {
			best = e
		}
	}
	return best
}

// run races a batch and adds the mixes that had all their runs to finished.
func (s *search) run(batch []*Entry) {
	s.race(batch)
	s.finish(batch)
}

// finish settles the mixes of a batch that had all their runs, and adds them to finished.
func (s *search) finish(batch []*Entry) {
	if s.err != nil {
		return
	}
	var full []*Entry
	for _, e := range batch {
		if e.Fate == Full {
			full = append(full, e)
		}
	}
	if s.err = s.settle(s.ctx, full); s.err == nil {
		s.finished = append(s.finished, full...)
	}
}

// nearestOfNone runs the mix that must leave the least work undone, where bounds ruled out all
// mixes: the answer is then how far it is from the limits.
func (s *search) nearestOfNone() {
	if len(s.finished) > 0 {
		return
	}
	var least *Entry
	for _, e := range s.tried {
		if e == nil || e.Fate != ByBound || s.overLimit(e) || !s.starved(e) {
			continue
		}
		if least == nil || cmp.Or(cmp.Compare(e.leastUndone(), least.leastUndone()), byFloor(e, least)) < 0 {
			least = e
		}
	}
	if least != nil {
		least.Fate = Full
		s.run([]*Entry{least})
	}
}

// leastUndone is a lower bound on the share of the work that a mix leaves undone, on the mean over the runs.
func (e *Entry) leastUndone() float64 {
	sum, all := 0.0, int64(0)
	for i, f := range e.Floors {
		sum, all = sum+f.Undone*float64(e.weight(i)), all+e.weight(i)
	}
	return sum / float64(max(1, all))
}
