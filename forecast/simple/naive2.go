package simple

import (
	"math"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// Naive2 is the benchmark of the M4 competition. Where the autocorrelation at the season is
// significant at 90 %, it adjusts the series by a classical multiplicative decomposition,
// forecasts the last adjusted value, and multiplies by the season again.
type Naive2 struct{ Period int }

// Fit adjusts the series and fits the walk.
func (m Naive2) Fit(y capcli.Series) (model.Fitted, error) {
	index := seasonalIndex(y.Values, m.Period)
	adjusted := y
	if index != nil {
		adjusted.Values = make([]float64, len(y.Values))
		for i, v := range y.Values {
			adjusted.Values[i] = v / index[i%m.Period]
		}
	}
	inner, err := Walk{Name: "naive2", Lag: 1}.Fit(adjusted)
	if err != nil || index == nil {
		return inner, err
	}
	return reseason(inner.(*model.Gaussian), index, len(y.Values), "Naive 2, seasonally adjusted"), nil
}

// reseason multiplies a model of the adjusted series of n values by the season again.
func reseason(g *model.Gaussian, index []float64, n int, method string) *model.Gaussian {
	info, m := g.Fit, len(index)
	info.Method = method
	info.Fitted = make([]float64, len(g.Fit.Fitted))
	for i, v := range g.Fit.Fitted {
		info.Fitted[i] = v * index[i%m]
	}
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := g.Moments(h)
			for i := range mean {
				mean[i] *= index[(n+i)%m]
				sd[i] *= math.Abs(index[(n+i)%m])
			}
			return mean, sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			out := g.Path(h, rng)
			for i := range out {
				out[i] *= index[(n+i)%m]
			}
			return out
		},
	}
}

// seasonalIndex returns the multiplicative season by phase; nil where the season is not
// significant or the series shorter than three seasons.
func seasonalIndex(y []float64, m int) []float64 {
	if m < 2 || len(y) < 3*m || model.CheckPresent(y) != nil || !seasonalACF(y, m) {
		return nil
	}
	index := decompose.Multiplicative(y, m)
	for _, v := range index {
		if !model.IsFinite(v) || v <= 0.01 {
			return nil
		}
	}
	return index
}

// seasonalACF reports whether the season m is significant by M4's test: |r_m| > 1.645 sqrt((1 +
// 2 sum r_i^2 for i < m) / n). It is false for m above 10 log10 n.
func seasonalACF(y []float64, m int) bool {
	n := len(y)
	if float64(m) > 10*math.Log10(float64(n)) {
		return false
	}
	r := decompose.Autocorrelations(y, m)
	sum := 1.0
	for _, v := range r[1:m] {
		sum += 2 * v * v
	}
	return math.Abs(r[m]) > 1.645*math.Sqrt(sum/float64(n))
}
