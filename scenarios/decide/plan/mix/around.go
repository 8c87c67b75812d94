package mix

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// lookAround runs in full, around the best mix, what no proof rules out: its sizes up and down by the steps of the
// marginal table, and mixes that a test dropped after few runs although they are about as cheap. It goes on
// while that finds a better one.
func (s *search) lookAround() {
	for s.err == nil {
		best := s.bestSoFar()
		if best == nil {
			return
		}
		back := append(s.nearSizes(best), s.doubtful(best)...)
		slices.SortFunc(back, func(a, b *Entry) int { return cmp.Compare(a.Index, b.Index) })
		back = slices.Compact(back)
		if len(back) == 0 {
			return
		}
		for _, e := range back {
			e.Fate, e.Rival = Full, -1
			s.tried[e.Index] = e
		}
		for _, list := range byRuns(back) {
			s.raceOn(list, []int{s.Problem.Runs}, 0)
		}
		s.finish(back)
	}
}

// nearSteps is how many steps either way the marginal table goes.
const nearSteps = 3

// nearSizes returns the mixes that differ from one in the size on one axis, by the steps of the marginal table, and
// that were neither run in full nor ruled out by proof.
func (s *search) nearSizes(best *Entry) []*Entry {
	var out []*Entry
	at := s.Problem.Space.places(best.Index)
	for a := range s.Problem.Space.Axes {
		axis := &s.Problem.Space.Axes[a]
		own, err := strconv.Atoi(axis.Values[at[a]])
		if !axis.Ordered || err != nil {
			continue
		}
		step := max(1, own/20)
		for k, v := range axis.Values {
			size, err := strconv.Atoi(v)
			if off := size - own; err != nil || off == 0 || off%step != 0 || off/step < -nearSteps || off/step > nearSteps {
				continue
			}
			to := slices.Clone(at)
			to[a] = k
			e := s.considered(s.Problem.Space.index(to))
			if s.err != nil {
				return nil
			}
			if e != nil && (e.Fate == ByRace || e.Fate == Full && len(e.Outcomes) < s.Problem.Runs) {
				out = append(out, e)
			}
		}
	}
	return out
}

// considered returns mix i, with the fate of one that proof rules out where it was not tried before; nil where
// it is no valid mix.
func (s *search) considered(i int) *Entry {
	e, tried := s.tried[i]
	if tried {
		return e
	}
	if e = s.entryOf(i); s.err != nil {
		return nil
	}
	if s.tried[i] = e; e != nil {
		if _, out := s.ruledOut(e); out {
			e.Fate = ByBound
		}
	}
	return e
}

// doubtful returns mixes that a test dropped for their cost, and whose mean over their runs is above that of the best
// over the same runs by less than the standard error of a difference of two independent means: a few runs that
// differ by about the same amount say little of the runs to come where some cost far more than others. It returns
// the nearest, at most those of one batch.
func (s *search) doubtful(best *Entry) []*Entry {
	n := float64(len(best.Outcomes))
	mean, square := 0.0, 0.0
	for i := range best.Outcomes {
		mean += best.Outcomes[i].Cost.Float() / n
	}
	for i := range best.Outcomes {
		square += math.Pow(best.Outcomes[i].Cost.Float()-mean, 2)
	}
	if n < 2 || square == 0 {
		return nil
	}
	noise := math.Sqrt(2 * square / (n - 1) / n)
	above := map[*Entry]float64{}
	var out []*Entry
	for _, e := range s.tried {
		if e == nil || e.Fate != ByRace || e.Rival < 0 {
			continue
		}
		for i := range e.Outcomes {
			above[e] += (e.Outcomes[i].costWithWaits() - best.Outcomes[i].costWithWaits()).Float() / float64(len(e.Outcomes))
		}
		if above[e] < noise {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *Entry) int { return cmp.Or(cmp.Compare(above[a], above[b]), cmp.Compare(a.Index, b.Index)) })
	return out[:min(len(out), batchKeys)]
}
