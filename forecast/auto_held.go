package forecast

import (
	"math"
	"slices"

	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// Constants of plainErrors and hold, tuned on ends of training data only.
const (
	plainSeasons = 7    // number of seasons in a plain forecast
	plainValues  = 30   // number of values in it where there is no season
	plainLeast   = 100  // least number of its errors
	plainShare   = 12   // errors count that are at most the season over this from the time of the season
	heldAt       = 1.05 // largest spread, over the plain errors
	heldMost     = 1.6  // most that held 95 % ranges may miss by at the origins, over their half widths
)

// plainErrors returns, for each of h steps after y, the root mean square of the errors that a plain
// forecast made in the past as far ahead and about that time of the season: the mean of the last
// values at the same time of the season, or of the last values where period is below 2. It is +Inf
// where fewer than plainLeast errors are known.
func plainErrors(y []float64, period, h int) []float64 {
	m, last, n := max(1, period), plainSeasons, len(y)
	if m == 1 {
		last = plainValues
	}
	means := make([]float64, n)
	for t := (last - 1) * m; t < n; t++ {
		for j := range last {
			means[t] += y[t-j*m] / float64(last)
		}
	}
	out, squares, counts, before := make([]float64, h), make([]float64, m), make([]int, m), 0
	for i := range out {
		back := (i + m) / m * m // the whole seasons that hold i+1 steps
		if back != before && i%max(1, i/day) == 0 || before == 0 {
			clear(squares)
			clear(counts)
			for t := (last-1)*m + back; t < n; t++ {
				e := y[t] - means[t-back]
				squares[t%m] += e * e
				counts[t%m]++
			}
			before = back
		}
		sum, count, all := 0.0, 0, n-(last-1)*m-before
		for d := -m / plainShare; d <= m/plainShare; d++ {
			at := (n + i + d + m) % m
			sum, count = sum+squares[at], count+counts[at]
		}
		out[i] = math.Inf(1)
		if all >= plainLeast && count >= plainLeast/10 {
			out[i] = math.Sqrt(sum / float64(count))
		}
	}
	return out
}

// hold returns spread, at most heldAt times the errors of a plain forecast from the end of y. Models
// that take a level for a walk have ranges that grow with the steps ahead, also where demand returns to
// its level; then the whole past tells more of far steps than errors after a few origins do.
func hold(spread, y []float64, period int) []float64 {
	out := make([]float64, len(spread))
	for i, e := range plainErrors(y, period, len(spread)) {
		out[i] = spread[i]
		if e > 0 {
			out[i] = math.Min(spread[i], heldAt*e)
		}
	}
	return out
}

// bearsHolding reports whether errors over held spreads were about as large as held ranges have it:
// where they were much larger, the level moves.
func (c *calibration) bearsHolding() bool {
	return len(c.ratios) > 0 && model.ConformalQuantile(slices.Clone(c.ratios), 0.95) <= heldMost*model.ZScore(95)
}

// firstSeason returns the length of the shortest season that n values show, or 1.
func firstSeason(n int, seasons []int) int {
	if s := decompose.UsableSeasons(n, seasons); len(s) > 0 {
		return s[0]
	}
	return 1
}
