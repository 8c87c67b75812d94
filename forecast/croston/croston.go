// Package croston forecasts intermittent demand, most of whose values are zero: Croston,
// its unbiased form (SBA) and the one whose chance of demand fades (TSB).
package croston

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/forecast/model"
)

// Model is demand with many zeros: a size z and either an interval p
// between demands (Croston 1972) or a chance of demand (TSB 2011), both smoothed
// exponentially. The rate is z/p, times 1 - beta/2 for SBA (Syntetos & Boylan
// 2005), or chance times z. The future is drawn as in the model: each step has a
// demand with that chance, of a gamma distributed size with the mean and variance
// of the sizes seen; intervals are the quantiles of that mixture.
type Model struct {
	Name        string
	Alpha, Beta float64 // of sizes; of intervals or of the chance
	Unbiased    bool
	Fading      bool
}

// Fit smooths; it needs one known value, none below zero.
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

// space is Croston's: the first interval counts from before the first value.
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

// fade is TSB's: the chance falls at every step without demand.
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

// mixture is a demand that comes with a chance, and is gamma distributed when it comes.
type mixture struct {
	info               model.Info
	rate, chance, size float64
	spread             float64 // coefficient of variation of the sizes
}

// narrowSizes is the coefficient of variation below which the quantiles of the gamma
// distribution are not searched for, which fails beside a spread so small.
const narrowSizes = 1e-4

// quantile of one step's demand.
func (m *mixture) Quantile(p float64) float64 {
	if m.chance <= 0 || p <= 1-m.chance {
		return 0
	}
	shape := 1 / (m.spread * m.spread)
	q := (p - (1 - m.chance)) / m.chance
	if m.spread < narrowSizes {
		// Wilson & Hilferty (1931): for such shapes exact to the last digits of a float.
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

// Forecast gives the rate at every step. Of demand that seldom comes most steps have
// none, and the quantiles of a step may all lie below its mean: a range then reaches
// to the mean, and holds more than its level.
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

// Path draws demand and size at each step.
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

// Info says what was fitted.
func (m *mixture) Info() model.Info { return m.info }
