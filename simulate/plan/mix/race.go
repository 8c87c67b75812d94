package mix

import (
	"math"
	"slices"

	"capcli/simulate/plan"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// looks are the numbers of runs after which a race looks: 4, 8, 16, … and all.
func looks(runs int) []int {
	var out []int
	for n := 4; n < runs; n *= 2 {
		out = append(out, n)
	}
	return append(out, runs)
}

// overZero is the chance that paired differences with this mean over their
// standard error, or more, are seen where the true mean is 0 or less: Student's
// one-sided test, with the differences taken to be about normal. It is 0 where
// all differences are the same and above 0.
func overZero(d []float64) float64 {
	n := float64(len(d))
	mean, square := 0.0, 0.0
	for _, x := range d {
		mean += x / n
	}
	for _, x := range d {
		square += (x - mean) * (x - mean)
	}
	switch {
	case mean <= 0:
		return 1
	case square == 0:
		return 0
	case n < 2:
		return 1
	}
	t2 := mean * mean * n * (n - 1) / square
	return mathext.RegIncBeta((n-1)/2, 0.5, (n-1)/(n-1+t2)) / 2
}

// tooSeldom is the chance of at most held of n runs holding a limit that holds
// in at least the given share of runs: the exact binomial test.
func tooSeldom(held, n int, share float64) float64 {
	if held >= n {
		return 1
	}
	return distuv.Binomial{N: float64(n), P: share}.CDF(float64(held))
}

// level is the chance of error that one test may have, so that all tests of a
// race together are wrong with at most 1 - confidence (Bonferroni): at each look
// every candidate meets every other in cost and in wait, and the limits.
func level(confidence float64, candidates, looks int) float64 {
	n := float64(candidates)
	return (1 - confidence) / (float64(looks) * n * (2*max(1, n-1) + 1))
}

// beats tells whether rival rules e out, seen over the first n runs of both:
// it costs less, waits no longer (where waits matter) and has held the limits
// in each run in which e did, those on work left undone among them.
func (s *Search) beats(rival, e *Entry, n int, alpha float64) bool {
	cost, wait := make([]float64, n), make([]float64, n)
	longer := true // in no run is e's wait the shorter
	for k := range n {
		if e.held[k] && !rival.held[k] || rival.broken[k] && !e.broken[k] {
			return false
		}
		a, b := &e.Outcomes[k], &rival.Outcomes[k]
		cost[k] = (a.Cost - b.Cost).Float()
		wait[k] = float64(a.WaitP95 - b.WaitP95)
		longer = longer && wait[k] == 0
	}
	if overZero(cost) > alpha {
		return false
	}
	return s.Goal == cheapest || longer || overZero(wait) <= alpha
}

// race runs a batch as often as asked, and drops on the way what is ruled out.
func (s *search) race(batch []*Entry) {
	alpha := 0.0
	steps := []int{s.Problem.Runs}
	if s.Confidence > 0 && s.Problem.Runs > 4 && s.Risk.Kind == plan.Mean {
		steps = looks(s.Problem.Runs)
		alpha = level(s.Confidence, s.Size, len(steps))
	}
	active := batch
	for _, n := range steps {
		if active = s.runTo(active, n); s.err != nil || n == s.Problem.Runs || alpha == 0 {
			return
		}
		active = s.drop(active, n, alpha)
	}
}

// drop takes out of active what is ruled out after n runs.
func (s *search) drop(active []*Entry, n int, alpha float64) []*Entry {
	rivals := append(append([]*Entry(nil), active...), s.finished...)
	found := slices.ContainsFunc(s.finished, func(e *Entry) bool { return e.holds(s.Hold) })
	var kept []*Entry
	for _, e := range active {
		// A limit of each run that is broken once is broken; while no mix holds all
		// limits, how far those are that break them is still asked.
		rival, out := -1, found && !e.Serves() || tooSeldom(e.heldRuns(), n, math.Min(s.Hold, 0.5)) <= alpha
		for _, r := range rivals {
			if out {
				break
			}
			if r != e && r.Fate != ByRace && s.beats(r, e, n, alpha) {
				rival, out = r.Index, true
			}
		}
		if out {
			e.Fate, e.Rival = ByRace, rival
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
