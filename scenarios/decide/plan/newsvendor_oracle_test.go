package plan

import (
	"slices"

	"capcli/simulate/exact"

	"capcli"
)

// Newsvendor is the best single commitment for the whole of a demand: the level
// that is wanted in more than rate/onDemand of the steps, the (1-ρ)-quantile.
// Where a level is wanted exactly that often, to commit or not costs the same,
// and it does not. A level of 0 means that nothing is worth committing to.
func Newsvendor(demand []float64, rate, onDemand capcli.Rate) float64 {
	sorted := slices.Clone(demand)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	// The j-th highest demand is wanted in at least j steps: the first j of
	// which j·p > r·steps is the answer.
	for j, d := range sorted {
		if exact.Product(int64(j+1), int64(onDemand)).Cmp(exact.Product(int64(len(sorted)), int64(rate))) > 0 {
			return max(0, d)
		}
	}
	return 0
}

// OneLevel is what a commitment to one level costs: r·k·H + p·Σ(D-k)+, in
// dollars for steps of an hour.
func OneLevel(demand []float64, level float64, rate, onDemand capcli.Rate) float64 {
	over := 0.0
	for _, d := range demand {
		over += max(0, d-level)
	}
	return rate.Float()*level*float64(len(demand)) + onDemand.Float()*over
}
