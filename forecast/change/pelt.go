package change

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// stretches holds running sums, from which cost computes the squared error of any stretch about
// its mean.
type stretches struct{ sum, square []float64 }

func newStretches(v []float64) *stretches {
	s := &stretches{make([]float64, len(v)+1), make([]float64, len(v)+1)}
	centre := model.Mean(v)
	for i, x := range v {
		x -= centre
		s.sum[i+1] = s.sum[i] + x
		s.square[i+1] = s.square[i] + x*x
	}
	return s
}

func (s *stretches) cost(from, to int) float64 {
	sum := s.sum[to] - s.sum[from]
	return math.Max(0, s.square[to]-s.square[from]-sum*sum/float64(to-from))
}

// total returns the summed squared error of all stretches between cuts.
func (s *stretches) total(cuts []int) float64 {
	sum, from := 0.0, 0
	for _, at := range cuts {
		sum += s.cost(from, at)
		from = at
	}
	return sum + s.cost(from, len(s.sum)-1)
}

// line returns the squared error about one straight line through all values.
func (s *stretches) line() float64 {
	n := len(s.sum) - 1
	middle, cross := float64(n-1)/2, 0.0
	for i := range n {
		cross += (float64(i) - middle) * (s.sum[i+1] - s.sum[i])
	}
	spread := float64(n) * (float64(n)*float64(n) - 1) / 12
	if !(spread > 0) {
		return s.cost(0, n)
	}
	return math.Max(0, s.cost(0, n)-cross*cross/spread)
}

// place returns the index of the best single change between low and high in the stretch
// from..to.
func (s *stretches) place(low, high, from, to int) int {
	best, least := low, math.Inf(1)
	for at := max(low, from+1); at <= min(high, to-1); at++ {
		if c := s.cost(from, at) + s.cost(at, to); c < least {
			best, least = at, c
		}
	}
	return best
}

// pelt returns the changes of the best segmentation, in order. f(t), the least cost of the
// first t values, is the minimum over s of f(s) + cost(s, t) + penalty. A start s that
// is worse by more than the penalty at t stays worse, and is dropped.
func pelt(s *stretches, penalty float64, least int) []int {
	n := len(s.sum) - 1
	f, from := make([]float64, n+1), make([]int, n+1)
	for t := range f {
		f[t] = math.Inf(1)
	}
	f[0] = -penalty
	// The stretch from at may end up to until.
	type start struct{ at, until int }
	var starts []start
	for t := least; t <= n; t++ {
		if !math.IsInf(f[t-least], 1) {
			starts = append(starts, start{t - least, n})
		}
		for _, s0 := range starts {
			if c := f[s0.at] + s.cost(s0.at, t) + penalty; c < f[t] {
				f[t], from[t] = c, s0.at
			}
		}
		kept := starts[:0]
		for _, s0 := range starts {
			if f[s0.at]+s.cost(s0.at, t) > f[t] {
				s0.until = min(s0.until, t+least-1) // from there on a stretch from t is long enough to take its place
			}
			if s0.until > t {
				kept = append(kept, s0)
			}
		}
		starts = kept
	}
	var cuts []int
	for t := n; t > 0 && from[t] > 0; t = from[t] {
		cuts = append(cuts, from[t])
	}
	slices.Reverse(cuts)
	return cuts
}
