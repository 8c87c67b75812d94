package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"capcli/scenarios/figure"
)

// column is the width in pixels within which a thinned line keeps four points.
const column = 2

// thinned returns the indices of the points of a run that its picture needs: of each column of pixels
// the first, the lowest, the highest and the last. The line through these looks as that through all
// (U. Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation, VLDB 2014). The pixels
// xs do not fall; where they do, all points are kept.
func thinned(xs, ys []float64, width float64) []int {
	n := len(xs)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if float64(n) <= 4*width/column {
		return all
	}
	var out []int
	for first := 0; first < n; {
		col := math.Floor(xs[first] / column)
		lowest, highest, last := first, first, first
		for i := first; i < n && math.Floor(xs[i]/column) == col; i++ {
			if i > first && xs[i] < xs[i-1] {
				return all
			}
			if ys[i] < ys[lowest] {
				lowest = i
			}
			if ys[i] > ys[highest] {
				highest = i
			}
			last = i
		}
		out = appendIncreasing(out, first, min(lowest, highest), max(lowest, highest), last)
		first = last + 1
	}
	return out
}

// appendIncreasing appends those of indices that are larger than the last.
func appendIncreasing(out []int, indices ...int) []int {
	for _, i := range indices {
		if len(out) == 0 || i > out[len(out)-1] {
			out = append(out, i)
		}
	}
	return out
}

// runs calls each with the ranges of points that are known without a gap.
func runs(n int, known func(i int) bool, each func(from, to int)) {
	from := -1
	for i := 0; i <= n; i++ {
		switch {
		case i < n && known(i):
			if from < 0 {
				from = i
			}
		case from >= 0:
			each(from, i)
			from = -1
		}
	}
}

// xValues returns the values of series i along the axis X: its X, or the places of the names.
func (s *sketch) xValues(one *figure.Series) []figure.Number {
	if len(s.f.X.Names) == 0 {
		return one.X
	}
	out := make([]figure.Number, len(s.f.X.Names))
	for i := range out {
		out[i] = figure.Number(i)
	}
	return out
}

// xText returns the text of a value of the axis X.
func (s *sketch) xText(x figure.Number) string {
	if i := int(x); len(s.f.X.Names) > 0 && i >= 0 && i < len(s.f.X.Names) {
		return s.f.X.Names[i]
	}
	return s.f.X.Unit.Text(x)
}

// ordinal returns "2nd", "3rd" or "11th".
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// sortBy sorts indices by a key; equal keys keep their order.
func sortBy(indices []int, key func(i int) float64) {
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
}
