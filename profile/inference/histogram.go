package inference

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Buckets are the counts of a histogram by upper bound, cumulative as Prometheus has them, in order.
type Buckets struct {
	Bounds []float64 // the last may be infinite
	Counts []float64 // at or below each bound
	Sum    float64   // of all values; NaN is unknown
}

// bucketsOf returns the buckets of counts by the label le.
func bucketsOf(counts map[string]float64, unit float64) Buckets {
	type bucket struct{ le, n float64 }
	var list []bucket
	for le, n := range counts {
		if v, err := strconv.ParseFloat(le, 64); err == nil && !math.IsNaN(v) && !math.IsNaN(n) {
			list = append(list, bucket{v, max(0, n)})
		}
	}
	slices.SortFunc(list, func(a, b bucket) int { return cmp.Or(cmp.Compare(a.le, b.le), cmp.Compare(a.n, b.n)) })
	out := Buckets{Sum: math.NaN()}
	most := 0.0
	for _, b := range list {
		most = max(most, b.n) // increases of single buckets are estimates, and may not rise
		out.Bounds, out.Counts = append(out.Bounds, b.le*unit), append(out.Counts, most)
	}
	return out
}

// Total returns the number of values.
func (b *Buckets) Total() float64 {
	if len(b.Counts) == 0 {
		return 0
	}
	return b.Counts[len(b.Counts)-1]
}

// Quantile returns an estimate of a quantile as histogram_quantile of Prometheus does: values are spread
// evenly within a bucket, the first bucket begins at 0 if its bound is above, and beyond the last finite
// bound it is that bound. It returns NaN without a value or a finite bound.
func (b *Buckets) Quantile(q float64) float64 {
	n := b.Total()
	if !(n > 0) {
		return math.NaN()
	}
	rank := q * n
	i, _ := slices.BinarySearchFunc(b.Counts, rank, cmp.Compare[float64])
	i = min(i, len(b.Counts)-1)
	if math.IsInf(b.Bounds[i], 1) {
		if i == 0 {
			return math.NaN()
		}
		return b.Bounds[i-1]
	}
	from, before := 0.0, 0.0
	if i > 0 {
		from, before = b.Bounds[i-1], b.Counts[i-1]
	} else if b.Bounds[0] <= 0 {
		return b.Bounds[0]
	}
	in := b.Counts[i] - before
	if in <= 0 {
		return b.Bounds[i]
	}
	return from + (b.Bounds[i]-from)*(rank-before)/in
}

// isBeyond reports whether a quantile lies beyond the last finite bound, so that it is more than Quantile
// says.
func (b *Buckets) isBeyond(q float64) bool {
	n := b.Total()
	i, _ := slices.BinarySearchFunc(b.Counts, q*n, cmp.Compare[float64])
	return n > 0 && i < len(b.Bounds) && math.IsInf(b.Bounds[i], 1)
}
