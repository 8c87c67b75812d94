package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// Reach bounds how far from its past the forecast of a series may go. The zero value has no
// bounds. Means and ends of intervals may lie outside the observed range by nine times its
// width. Over a horizon longer than the past, the nine times are multiplied by the horizon over
// the length of the past. Where the series grows by a steady factor, a value may lie up to twice
// as high as that factor leads. Values beyond come from an explosive fit.
type Reach struct {
	lo, hi, span float64 // least and greatest observed value, and their distance
	growth       float64 // growth factor per step, 1 where there is no growth
	n            int     // number of known values
}

// beyond is how many widths of the observed range a forecast may lie outside it.
const beyond = 9

// reachOf returns the reach of a series from its known values. A series of equal values, or
// without known values, has no bounds.
func reachOf(y []float64) Reach {
	v := slices.DeleteFunc(slices.Clone(y), func(x float64) bool { return !model.IsFinite(x) })
	if len(v) == 0 {
		return Reach{}
	}
	r := Reach{lo: slices.Min(v), hi: slices.Max(v), growth: 1, n: len(v)}
	// Growth is measured between medians of the first and the last third: a spike is no growth.
	if third := len(v) / 3; r.lo > 0 && third > 0 {
		from, to := model.Median(v[:third]), model.Median(v[len(v)-third:])
		r.growth = math.Max(1, math.Pow(to/from, 1/float64(len(v)-third)))
	}
	if span := r.hi - r.lo; model.IsFinite(span) {
		r.span = span
	}
	return r
}

// Clamp returns v, a value forecast for step k (from 1), within reach.
func (r Reach) Clamp(k int, v float64) float64 {
	if r.span == 0 {
		return v
	}
	far := beyond * r.span * math.Max(1, float64(k)/float64(r.n))
	low, top := r.lo-far, r.hi+far
	if low < v && v < top { // as most are; growth only raises the top
		return v
	}
	if r.growth > 1 {
		top = math.Max(top, math.Min(math.MaxFloat64, 2*r.hi*math.Pow(r.growth, float64(k))))
	}
	return math.Max(low, math.Min(top, v))
}

// Keep clamps all values of a forecast in place and reports whether any was out of reach.
func (r Reach) Keep(f model.Forecast) bool {
	held := r.Path(f.Mean)
	for _, iv := range f.Intervals {
		lo, hi := r.Path(iv.Lo), r.Path(iv.Hi)
		held = held || lo || hi
	}
	return held
}

// Path clamps the values of the steps from 1 on, in place, and reports whether any was out of
// reach.
func (r Reach) Path(path []float64) bool {
	held := false
	for i, v := range path {
		path[i] = r.Clamp(i+1, v)
		held = held || path[i] != v
	}
	return held
}
