package mix

import (
	"cmp"
	"math"
	"slices"

	"capcli/scenarios/decide/plan"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// looks returns the numbers of runs after which a race tests its mixes: 4, 8, 16, … and runs.
func looks(runs int) []int {
	var out []int
	for n := 4; n < runs; n *= 2 {
		out = append(out, n)
	}
	return append(out, runs)
}

// overZero returns the p-value of Student's one-sided test on paired differences: the chance of a
// mean this far above 0, in standard errors, or further, where the true mean is 0 or less. The
// differences are taken to be about normal. It is 0 where all differences are equal and above 0,
// and 1 where their mean is 0 or less.
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

// tooSeldom returns the chance that a limit holds in at most held of n runs, where it truly holds
// in the given share of runs: the exact binomial test.
func tooSeldom(held, n int, share float64) float64 {
	if held >= n {
		return 1
	}
	return distuv.Binomial{N: float64(n), P: share}.CDF(float64(held))
}

// level returns the error rate allowed to one test, so that all tests of a race together err with
// at most 1 - confidence (Bonferroni). At each look every candidate is tested against every other
// in cost and in wait, and against the limits.
func level(confidence float64, candidates, looks int) float64 {
	n := float64(candidates)
	return (1 - confidence) / (float64(looks) * n * (2*max(1, n-1) + 1))
}

// beats reports whether rival rules e out by the first n runs of both. It does where it costs less with its waits
// priced, costs less without them and waits no longer (where the goal is the frontier), and holds the limits in each run in which e does.
func (s *Search) beats(rival, e *Entry, n int, alpha float64) bool {
	cost, priced, wait := make([]float64, n), make([]float64, n), make([]float64, n)
	longer := true // e's wait equals rival's in every run
	for k := range n {
		if e.held[k] && !rival.held[k] {
			return false
		}
		a, b := &e.Outcomes[k], &rival.Outcomes[k]
		cost[k] = (a.Cost - b.Cost).Float()
		priced[k] = (a.costWithWaits() - b.costWithWaits()).Float()
		wait[k] = float64(a.WaitP95 - b.WaitP95)
		longer = longer && wait[k] == 0
	}
	if overZero(priced) > alpha {
		return false
	}
	return s.Goal == cheapest || overZero(cost) <= alpha && (longer || overZero(wait) <= alpha)
}

// race runs a batch as often as the problem asks, and drops mixes on the way. It drops none by test
// where Confidence is 0, the runs are 4 or fewer or have weights, the risk is not the mean, or mixes have
// commitments: the best of those are known only for all runs together.
func (s *search) race(batch []*Entry) {
	alpha := 0.0
	steps := []int{s.Problem.Runs}
	if s.Confidence > 0 && s.Problem.Runs > 4 && s.Risk.Kind == plan.Mean && s.Problem.tariff == nil && s.Problem.Weights == nil {
		steps = looks(s.Problem.Runs)
		alpha = level(s.Confidence, s.Size, len(steps))
	}
	for back := batch; len(back) > 0 && s.err == nil; back = s.takeBack(batch) {
		for _, active := range byRuns(back) {
			s.raceOn(active, steps, alpha)
		}
	}
}

// raceOn goes on with the race of mixes that have had equally many runs.
func (s *search) raceOn(active []*Entry, steps []int, alpha float64) {
	had := len(active[0].Outcomes)
	for _, n := range steps {
		if n <= had {
			continue
		}
		active = s.runTo(active, n)
		s.tellBetter(active)
		if s.err != nil || n == s.Problem.Runs || alpha == 0 {
			return
		}
		active = s.drop(active, n, alpha)
	}
}

// takeBack returns the mixes of a batch that were dropped because of a rival that does not stand, as not dropped:
// after all its runs the rival breaks a limit, or it has no price, or it was dropped for that in its turn.
func (s *search) takeBack(batch []*Entry) []*Entry {
	if s.err != nil {
		return nil
	}
	by := map[int]*Entry{}
	for _, list := range [][]*Entry{batch, s.finished} {
		for _, e := range list {
			by[e.Index] = e
		}
	}
	var out []*Entry
	for _, e := range batch {
		if e.Fate == ByRace && e.Rival >= 0 && !s.stands(by, e.Rival) {
			out = append(out, e)
		}
	}
	for _, e := range out {
		e.Fate, e.Rival = Full, -1
	}
	return out
}

// stands reports whether a rival justifies that others were dropped for it: it holds the limits after all its
// runs, or it was itself dropped for one that does.
func (s *search) stands(by map[int]*Entry, rival int) bool {
	for range len(by) { // each rival beats the one before, so none comes twice but by chance
		r := by[rival]
		switch {
		case r == nil:
			return false
		case r.Fate == Full:
			return len(r.Outcomes) == s.Problem.Runs && r.holds(s.Hold)
		case r.Fate != ByRace || r.Rival < 0:
			return false
		}
		rival = r.Rival
	}
	return false
}

// byRuns divides mixes by how many runs they have had, fewest first.
func byRuns(entries []*Entry) [][]*Entry {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b *Entry) int { return cmp.Compare(len(a.Outcomes), len(b.Outcomes)) })
	var out [][]*Entry
	for i, e := range sorted {
		if i == 0 || len(e.Outcomes) != len(sorted[i-1].Outcomes) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

// drop marks the mixes of active that are ruled out after n runs and returns the others.
func (s *search) drop(active []*Entry, n int, alpha float64) []*Entry {
	rivals := slices.Clone(active)
	for _, r := range s.finished {
		if r.holds(s.Hold) { // one that breaks a limit rules nothing out
			rivals = append(rivals, r)
		}
	}
	var kept []*Entry
	for _, e := range active {
		rival, out := -1, tooSeldom(e.heldRuns(), n, math.Min(s.Hold, 0.5)) <= alpha
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
