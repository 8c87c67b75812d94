package outcome

import (
	"cmp"
	"slices"

	"capcli"
)

// Spread is a figure over replications: the mean and the range of 90% of them (nearest rank). A
// figure of it is a lower bound if it is computed from one.
type Spread struct {
	Runs         int
	Mean, Lo, Hi Figure
}

// run is anything with the figures of an outcome.
type run interface {
	// Figure returns a metric by its name. It reports false if it is unknown.
	Figure(metric string) (Figure, bool)
}

// SpreadOf returns the spread of a metric over the runs that have it. It reports false if none has.
func SpreadOf[R run](runs []R, metric string) (Spread, bool) {
	var all []Figure
	for _, r := range runs {
		if v, ok := r.Figure(metric); ok {
			all = append(all, v)
		}
	}
	return SpreadOver(all)
}

// SpreadOver returns the spread of figures, one a run. It sorts them. It reports false if there are
// none.
func SpreadOver(all []Figure) (Spread, bool) {
	n := len(all)
	if n == 0 {
		return Spread{}, false
	}
	s := Spread{Runs: n}
	for _, x := range all {
		s.Mean.Value += x.Value
		s.Mean.AtLeast = s.Mean.AtLeast || x.AtLeast
	}
	s.Mean.Value /= float64(n)
	slices.SortStableFunc(all, func(a, b Figure) int { return cmp.Compare(a.Value, b.Value) })
	rank := func(k int) Figure {
		return Figure{all[k-1].Value, slices.ContainsFunc(all[:k], func(x Figure) bool { return x.AtLeast })}
	}
	lo, hi := capcli.RangeRanks(n)
	s.Lo, s.Hi = rank(lo), rank(hi)
	return s, true
}

// Mean returns the mean of a metric over the runs that have it or a lower bound of it; 0 if none
// has.
func Mean[R run](runs []R, metric string) float64 {
	s, _ := SpreadOf(runs, metric)
	return s.Mean.Value
}

// ByKey groups the parts of several runs by key. It returns the keys in order of first appearance,
// and the parts of each key.
func ByKey[P any, K comparable](runs [][]P, key func(*P) K) (keys []K, parts map[K][]*P) {
	parts = map[K][]*P{}
	for _, all := range runs {
		for i := range all {
			k := key(&all[i])
			if parts[k] == nil {
				keys = append(keys, k)
			}
			parts[k] = append(parts[k], &all[i])
		}
	}
	return keys, parts
}
