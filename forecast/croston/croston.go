// Package croston forecasts intermittent demand, whose values are mostly zero, by Croston's
// method, its unbiased form (SBA) and TSB, in which the probability of demand decays.
package croston

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/forecast/model"
)

// Model is demand with many zeros: a size z and either an interval p between demands (Croston
// 1972) or a probability of demand (TSB 2011), both smoothed exponentially. The rate is z/p,
// times 1 - beta/2 for SBA (Syntetos & Boylan 2005), or the probability times z. Each step of a
// future has a demand with that probability, of a gamma distributed size with the coefficient of
// variation of the observed sizes. Intervals are the quantiles of that mixture.
type Model struct {
	Name        string  // for messages and Info
	Alpha, Beta float64 // smoothing of sizes; of intervals or of the probability
	Unbiased    bool    // SBA
	Fading      bool    // TSB: the probability of demand decays
}

// Fit smooths the series. It needs at least one value, none missing and none negative.
func (m Model) Fit(y capcli.Series) (model.Fitted, error) {
	if err := model.CheckPresent(y.Values); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if len(y.Values) == 0 {
		return nil, fmt.Errorf("%s: no values: %w", m.Name, model.ErrTooShort)
	}
	var sizes []float64
	for i, v := range y.Values {
		if v < 0 {
			return nil, fmt.Errorf("%s: value %d is below zero: %w", m.Name, i+1, model.ErrUnfit)
		}
		if v > 0 {
			sizes = append(sizes, v)
		}
	}
	f := &mixture{info: model.Info{Method: m.Name, LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN()}}
	f.info.Params = []model.Param{{Name: "alpha", Value: m.Alpha}, {Name: "beta", Value: m.Beta}}
	f.info.Fitted = model.NaNs(len(y.Values))
	if len(sizes) == 0 {
		for i := range f.info.Fitted[1:] {
			f.info.Fitted[i+1] = 0
		}
		f.info.Notes = append(f.info.Notes, "no demand at all")
		return f, nil
	}
	if m.Fading {
		m.fade(y.Values, sizes[0], f)
	} else {
		m.space(y.Values, f)
	}
	f.size, f.spread = model.Mean(sizes), 0
	for i := range sizes {
		sizes[i] -= f.size
	}
	if len(sizes) > 1 {
		f.spread = model.RMS(sizes) / f.size * math.Sqrt(float64(len(sizes))/float64(len(sizes)-1))
	}
	f.size = f.rate / f.chance
	sum := make([]float64, 0, len(y.Values))
	for i, v := range y.Values {
		if w := f.info.Fitted[i]; model.IsFinite(w) {
			sum = append(sum, v-w)
		}
	}
	f.info.Sigma2 = model.RMS(sum) * model.RMS(sum)
	return f, nil
}

// space smooths sizes and intervals (Croston). The first interval counts from the step before
// the first value.
func (m Model) space(y []float64, f *mixture) {
	size, gap, since := 0.0, 0.0, 1
	debias := 1.0
	if m.Unbiased {
		debias = 1 - m.Beta/2
	}
	for i, v := range y {
		if gap > 0 {
			f.info.Fitted[i] = debias * size / gap
		} else if i > 0 {
			f.info.Fitted[i] = 0
		}
		if v == 0 {
			since++
			continue
		}
		if gap == 0 {
			size, gap = v, float64(since)
		} else {
			size += m.Alpha * (v - size)
			gap += m.Beta * (float64(since) - gap)
		}
		since = 1
	}
	f.rate, f.chance = debias*size/gap, math.Min(1, 1/gap)
}

// fade smooths sizes and the probability of demand (TSB), which falls at every step without
// demand.
func (m Model) fade(y []float64, size float64, f *mixture) {
	n := 0
	for _, v := range y {
		if v > 0 {
			n++
		}
	}
	chance := float64(n) / float64(len(y))
	for i, v := range y {
		if i > 0 {
			f.info.Fitted[i] = chance * size
		}
		if v > 0 {
			size += m.Alpha * (v - size)
			chance += m.Beta * (1 - chance)
		} else {
			chance -= m.Beta * chance
		}
	}
	f.rate, f.chance = chance*size, chance
}

// mixture is demand that occurs with a probability (chance) and then has a gamma distributed
// size.
type mixture struct {
	info               model.Info
	rate, chance, size float64 // mean per step; probability of demand; mean size
	spread             float64 // coefficient of variation of the sizes
}

// narrowSizes is the coefficient of variation below which the quantile comes from an
// approximation: the search for the quantile of so narrow a gamma distribution fails.
const narrowSizes = 1e-4

// Quantile returns the quantile p of the demand of one step.
func (m *mixture) Quantile(p float64) float64 {
	if m.chance <= 0 || p <= 1-m.chance {
		return 0
	}
	shape := 1 / (m.spread * m.spread)
	q := (p - (1 - m.chance)) / m.chance
	if m.spread < narrowSizes {
		// Wilson & Hilferty (1931), which is exact to the last digits of a float for so large a
		// shape.
		at := distuv.UnitNormal.Quantile(math.Max(1e-12, math.Min(q, 1-1e-12)))
		root := 1 - m.spread*m.spread/9 + at*m.spread/3
		return m.size * root * root * root
	}
	v := distuv.Gamma{Alpha: shape, Beta: shape}.Quantile(math.Min(q, 1-1e-12)) * m.size
	if !model.IsFinite(v) {
		return m.size
	}
	return v
}

// Forecast returns the rate at every step. Where demand is rare most steps have none, and all
// quantiles of a step may lie below its mean: a range then extends to the mean, and holds more
// than its level.
func (m *mixture) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := model.CheckRequest(h, levels); err != nil {
		return model.Forecast{}, err
	}
	f := model.Forecast{Mean: make([]float64, h), Intervals: make([]model.Interval, len(levels))}
	for i := range f.Mean {
		f.Mean[i] = m.rate
	}
	for k, level := range levels {
		lo, hi := min(m.Quantile(0.5-level/200), m.rate), max(m.Quantile(0.5+level/200), m.rate)
		iv := model.Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)}
		for i := range h {
			iv.Lo[i], iv.Hi[i] = lo, hi
		}
		f.Intervals[k] = iv
	}
	f.Bound()
	return f, nil
}

// Path draws the demand of each step.
func (m *mixture) Path(h int, rng model.Noise) []float64 {
	if h < 1 {
		return nil
	}
	out := make([]float64, h)
	for i := range out {
		out[i] = m.Quantile(model.Probability(rng, i))
	}
	return out
}

// Info describes the fit.
func (m *mixture) Info() model.Info { return m.info }
