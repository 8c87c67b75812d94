package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// Reach is how far from its past the forecast of a series may go; the zero value is without
// bounds. Means and ends of intervals may lie beyond the observed range by nine times its
// width; over a horizon longer than the past, that times the horizon over the length of
// the past; and where the series grows by a steady factor, up to twice as far as that
// factor leads. Figures beyond come from an explosive fit.
type Reach struct {
	lo, hi, span float64
	growth       float64 // factor a step, 1 where there is none
	n            int
}

// beyond is how many ranges outside of what was seen is believed.
const beyond = 9

// ReachOf measures the known values of a series; a series of equal values, or of
// none, has no reach to keep to.
func ReachOf(y []float64) Reach {
	v := slices.DeleteFunc(slices.Clone(y), func(x float64) bool { return !model.IsFinite(x) })
	if len(v) == 0 {
		return Reach{}
	}
	r := Reach{lo: slices.Min(v), hi: slices.Max(v), growth: 1, n: len(v)}
	// A middle of each end: a spike is no growth.
	if third := len(v) / 3; r.lo > 0 && third > 0 {
		from, to := model.Median(v[:third]), model.Median(v[len(v)-third:])
		r.growth = math.Max(1, math.Pow(to/from, 1/float64(len(v)-third)))
	}
	if span := r.hi - r.lo; model.IsFinite(span) {
		r.span = span
	}
	return r
}

// Clamp returns a value forecast for step k, which counts from 1, kept within reach.
func (r Reach) Clamp(k int, v float64) float64 {
	if r.span == 0 {
		return v
	}
	far := beyond * r.span * math.Max(1, float64(k)/float64(r.n))
	top := r.hi + far
	if r.growth > 1 {
		top = math.Max(top, math.Min(math.MaxFloat64, 2*r.hi*math.Pow(r.growth, float64(k))))
	}
	return math.Max(r.lo-far, math.Min(top, v))
}

// Keep clamps a whole forecast and reports whether any value was out of reach.
func (r Reach) Keep(f model.Forecast) bool {
	held := r.Path(f.Mean)
	for _, iv := range f.Intervals {
		lo, hi := r.Path(iv.Lo), r.Path(iv.Hi)
		held = held || lo || hi
	}
	return held
}

// Path clamps values from the first step on and reports whether any was out of reach.
func (r Reach) Path(path []float64) bool {
	held := false
	for i, v := range path {
		path[i] = r.Clamp(i+1, v)
		held = held || path[i] != v
	}
	return held
}
