package mix

import (
	"cmp"
	"slices"

	"capcli"
)

// How much a search by a coarse grid does to close what it passed over: it weighs
// so many runs of mixes by their lower bounds, and of the mixes that may be better
// than the best it runs, least bound first, as many as have so many jobs in all, or
// half of the simulations that it made before.
const (
	weighedMost = 100_000
	closingJobs = 3_000_000
)

// close weighs the mixes that a search by a coarse grid passed over by their lower
// bounds, and runs those that may be better than the best, as many as the budget
// allows. It counts those that are left, with the most that they may save.
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
		s.Loss = best.Cost() - open[0].floor()
	}
}

// closingRuns is how many simulations have closingJobs jobs.
func (s *search) closingRuns() int {
	jobs, err := s.Problem.Jobs(0)
	if err != nil {
		return 0
	}
	return closingJobs / max(1, len(jobs))
}

// passedOver are the mixes that were not tried and may be better than the best, least
// floor first.
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

// mayBeBetter takes out of entries those of which a bound proves that they are no
// better than the best, or break a limit.
func (s *search) mayBeBetter(entries []*Entry) []*Entry {
	best := capcli.USD(-1)
	if e := s.bestSoFar(); e != nil {
		best = e.Cost()
	}
	return slices.DeleteFunc(entries, func(e *Entry) bool {
		out := s.overLimit(e) || s.starved(e) || best >= 0 && e.floor() >= best
		if out {
			s.Closed++
		}
		return out
	})
}

// bestSoFar is the best of the mixes that were run in full so far.
func (s *search) bestSoFar() *Entry {
	var best *Entry
	for _, e := range s.finished {
		if e.holds(s.Hold) && (best == nil || byCost(e, best) < 0) {
			best = e
		}
	}
	return best
}

// run races a batch and notes those that had all their runs.
func (s *search) run(batch []*Entry) {
	s.race(batch)
	for _, e := range batch {
		if e.Fate == Full && s.err == nil {
			s.finished = append(s.finished, e)
		}
	}
}

// nearestOfNone runs the mix that has to leave the least undone, where bounds ruled
// out all of them: how far it is from the limits is what is asked then.
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

// leastUndone is the largest lower bound on the share of the work that a run leaves undone.
func (e *Entry) leastUndone() float64 {
	most := 0.0
	for _, f := range e.Floors {
		most = max(most, f.Undone)
	}
	return most
}
