// Package theta is the Theta method: the standard form, and the dynamic optimised model, which
// updates the trend with each value and estimates the weight of the second line.
package theta

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// Theta is the standard Theta method (Assimakopoulos & Nikolopoulos 2000) in the
// form of Hyndman & Billah (2003): simple exponential smoothing with half the
// slope of the least squares line as a drift. A series with a significant season
// (at 90 %, by its autocorrelation) is first adjusted by classical multiplicative
// decomposition. The variance h steps ahead is sigma^2 (1 + (h-1) alpha^2).
type Theta struct{ Period int }

// Fit estimates the smoothing. It needs three values.
func (m Theta) Fit(y capcli.Series) (model.Fitted, error) {
	v := y.Values
	n := len(v)
	if err := model.CheckPresent(v); err != nil {
		return nil, fmt.Errorf("theta: %w", err)
	}
	if n < 3 {
		return nil, fmt.Errorf("theta: %d values, want 3 or more: %w", n, model.ErrTooShort)
	}
	index := thetaSeason(v, m.Period)
	unit := math.Max(model.Largest(v), math.SmallestNonzeroFloat64/1e-16)
	x := adjustSeason(v, index, unit)
	s := smoothSimply(x)
	slope := lineSlope(x) / 2
	decay := (1 - math.Pow(1-s.alpha, float64(n))) / s.alpha
	season := func(i int) float64 {
		if index == nil {
			return unit
		}
		return unit * index[i%m.Period]
	}
	sigma := math.Sqrt(s.sse / math.Max(1, float64(n-2)))
	fitted := make([]float64, n)
	for i, level := range s.levels[:n] {
		fitted[i] = level * season(i)
	}
	info := model.Info{
		Method: "Theta", Params: []model.Param{{Name: "alpha", Value: s.alpha}, {Name: "l0", Value: s.levels[0] * unit}, {Name: "drift", Value: slope * unit}},
		Sigma2: sigma * sigma * unit * unit, Fitted: fitted,
		LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
	}
	info.Notes = seasonNote(index)
	mean := func(h int) []float64 {
		out := make([]float64, h)
		for i := range out {
			out[i] = (s.levels[n] + slope*(float64(i)+decay)) * season(n+i)
		}
		return out
	}
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			sd := make([]float64, h)
			for i := range sd {
				sd[i] = sigma * unit * math.Sqrt(1+float64(i)*s.alpha*s.alpha)
			}
			return mean(h), sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			out, level := mean(h), 0.0
			for i := range out {
				e := sigma * unit * model.Innovation(rng, i)
				out[i] += level + e
				level += s.alpha * e
			}
			return out
		},
	}, nil
}

func seasonNote(index []float64) []string {
	if index == nil {
		return nil
	}
	return []string{"seasonally adjusted"}
}

// adjustSeason returns v over unit, and over the season where index is not nil.
func adjustSeason(v, index []float64, unit float64) []float64 {
	x := make([]float64, len(v))
	for i := range v {
		x[i] = v[i] / unit
		if index != nil {
			x[i] /= index[i%len(index)]
		}
	}
	return x
}

// thetaSeason returns the multiplicative season by phase where the autocorrelation at the season
// is significant; nil otherwise. Unlike M4's test it requires only two seasons, and accepts any
// lag.
func thetaSeason(y []float64, m int) []float64 {
	n := len(y)
	if m < 2 || n <= 2*m {
		return nil
	}
	r := decompose.Autocorrelations(y, m)
	sum := 1.0
	for _, v := range r[1:m] {
		sum += 2 * v * v
	}
	if !(math.Abs(r[m]) > model.ZScore(90)*math.Sqrt(sum/float64(n))) {
		return nil
	}
	index := decompose.Multiplicative(y, m)
	for _, v := range index {
		if !model.IsFinite(v) || math.Abs(v) < 1e-4 {
			return nil
		}
	}
	return index
}

// lineSlope returns the slope of the least squares line.
func lineSlope(y []float64) float64 {
	centre := float64(len(y)-1) / 2
	up, down := 0.0, 0.0
	for i, v := range y {
		d := float64(i) - centre
		up += d * v
		down += d * d
	}
	return up / down
}

// simple is simple exponential smoothing with the parameters of least squares.
type simple struct {
	alpha  float64
	levels []float64 // levels[i] is the level before value i; one more than there are values
	sse    float64   // sum of squared one-step errors
}

// smoothSimply returns the smoothing with alpha in [0.0001, 0.9999] and the first level that
// have the least sum of squared one-step errors. For a given alpha the errors are linear in the
// first level, so it searches for alpha only: on a grid, then by golden section.
func smoothSimply(y []float64) simple {
	const low, high = 1e-4, 0.9999
	loss := func(alpha float64) float64 {
		sse, _ := smoothAt(y, alpha)
		return sse
	}
	best, at := math.Inf(1), low
	const grid = 24
	for i := 0; i <= grid; i++ {
		a := low + (high-low)*float64(i)/grid
		if v := loss(a); v < best {
			best, at = v, a
		}
	}
	step := (high - low) / grid
	alpha := minimise.GoldenSection(loss, math.Max(low, at-step), math.Min(high, at+step), 1e-9)
	if loss(alpha) > best {
		alpha = at
	}
	sse, first := smoothAt(y, alpha)
	s := simple{alpha: alpha, sse: sse, levels: make([]float64, len(y)+1)}
	s.levels[0] = first
	for i, v := range y {
		s.levels[i+1] = s.levels[i] + alpha*(v-s.levels[i])
	}
	return s
}

// smoothAt returns the least squares first level for alpha, and its sum of squared errors. With
// first level 0 the errors are a_t; a first level l subtracts l (1-alpha)^t from them.
func smoothAt(y []float64, alpha float64) (sse, first float64) {
	level, decay := 0.0, 1.0
	var ad, dd float64
	for _, v := range y {
		e := v - level
		level += alpha * e
		ad += e * decay
		dd += decay * decay
		decay *= 1 - alpha
	}
	first = ad / dd
	level = first
	for _, v := range y {
		e := v - level
		level += alpha * e
		sse += e * e
	}
	return sse, first
}
