package simple

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/forecast/model"
)

// Mean models every value as an independent draw from one normal distribution: y_t = mu + e_t.
// The intervals are those of Student's t with n - 1 degrees of freedom and the standard
// deviation s sqrt(1 + 1/n). Missing values are left out.
type Mean struct{}

// Fit estimates the mean. It needs two known values.
func (Mean) Fit(y capcli.Series) (model.Fitted, error) {
	var v []float64
	for _, x := range y.Values {
		if model.IsFinite(x) {
			v = append(v, x)
		}
	}
	n := float64(len(v))
	if n < 2 {
		return nil, fmt.Errorf("mean: %d known values, want 2 or more: %w", len(v), model.ErrTooShort)
	}
	mu := model.Mean(v)
	for i := range v {
		v[i] -= mu
	}
	s := model.RMS(v) * math.Sqrt(n/(n-1))
	fitted := make([]float64, len(y.Values))
	for i := range fitted {
		fitted[i] = mu
	}
	return &model.Gaussian{
		Fit: model.Info{
			Method: "Mean", Params: []model.Param{{Name: "mu", Value: mu}, {Name: "mu.se", Value: s / math.Sqrt(n)}}, Sigma2: s * s, Fitted: fitted,
			LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
		},
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := make([]float64, h), make([]float64, h)
			for i := range mean {
				mean[i], sd[i] = mu, s*math.Sqrt(1+1/n)
			}
			return mean, sd
		},
		Quantile: distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile,
	}, nil
}
