package timeline

import "math"

// Level is a figure over some time.
type Level struct {
	Hour  int64 // its begin, counted from 1970-01-01 UTC
	Value float64
}

// Change is a lasting change of a level.
type Change struct {
	Hour       int64 // the first of the new level
	From, To   float64
	Before, On int // levels on both sides of it
}

// Rules that decide whether a level has changed.
const (
	leastSide   = 3    // levels on each side
	leastFactor = 0.09 // change of the logarithm: 9.4 % more, or 8.6 % less
	leastScore  = 6.0  // change over its standard error
	mostChanges = 8
)

// Changes returns the lasting changes of levels in order of time, found by halving: the split that explains most of
// the variance of the logarithms, and then those of its two parts (binary segmentation, Scott and Knott 1974).
// Levels of 0 or less are left out.
func Changes(levels []Level) []Change {
	var xs []float64
	var hours []int64
	for _, l := range levels {
		if l.Value > 0 {
			xs, hours = append(xs, math.Log(l.Value)), append(hours, l.Hour)
		}
	}
	var cuts []int
	split(xs, 0, &cuts)
	var out []Change
	for i, c := range cuts {
		from, to := 0, len(xs)
		if i > 0 {
			from = cuts[i-1]
		}
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		out = append(out, Change{hours[c], math.Exp(mean(xs[from:c])), math.Exp(mean(xs[c:to])), c - from, to - c})
	}
	return out
}

// split appends the places at which xs changes, in order; first is the place of xs[0].
func split(xs []float64, first int, cuts *[]int) {
	at, score, size := 0, 0.0, 0.0
	for c := leastSide; c <= len(xs)-leastSide; c++ {
		a, b := mean(xs[:c]), mean(xs[c:])
		inner := (squares(xs[:c], a) + squares(xs[c:], b)) / float64(len(xs)-2)
		// A thousandth is how well a level is known at best.
		err := math.Sqrt((inner + 1e-6) * (1/float64(c) + 1/float64(len(xs)-c)))
		if s := math.Abs(b-a) / err; s > score {
			at, score, size = c, s, math.Abs(b-a)
		}
	}
	if at == 0 || score < leastScore || size < leastFactor || len(*cuts) >= mostChanges {
		return
	}
	split(xs[:at], first, cuts)
	*cuts = append(*cuts, first+at)
	split(xs[at:], first+at, cuts)
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

func squares(xs []float64, mean float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return sum
}
