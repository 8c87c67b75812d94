// Package simple has the plain models that serve as benchmarks: random walks, the mean, M4's
// naive 2, and an autoregression on the last values and those of a season ago.
package simple

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// Walk is the family of random walks: y_t = y_(t-lag) + c + e_t, with c = 0 without drift
// (Hyndman & Athanasopoulos, "Forecasting: Principles and Practice", 3rd ed., sections 5.2 and
// 5.5). It skips missing values: the forecast starts from the last known value of each phase,
// and the spread comes from the differences between known values.
type Walk struct {
	Name  string // for error messages
	Lag   int    // in steps, 1 or more
	Drift bool   // with the constant c
}

// Fit fits the walk. It needs one known value, and two of one phase for a drift.
func (w Walk) Fit(y capcli.Series) (model.Fitted, error) {
	v := y.Values
	from, ok := tail(v, w.Lag)
	if !ok {
		return nil, fmt.Errorf("%s: no value is known: %w", w.Name, model.ErrTooShort)
	}
	info := model.Info{Method: w.method(), Fitted: model.NaNs(len(v)), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN()}
	slope, slopeSE := 0.0, 0.0
	steps := differences(v, w.Lag)
	if w.Drift {
		if len(steps) == 0 {
			return nil, fmt.Errorf("%s: %d values, want 2 or more in a row: %w", w.Name, len(v), model.ErrTooShort)
		}
		slope = model.Mean(steps)
		for i := range steps {
			steps[i] -= slope
		}
	}
	sigma := model.RMS(steps)
	if w.Drift {
		n := float64(len(steps))
		sigma *= math.Sqrt(n / math.Max(1, n-1))
		slopeSE = sigma / math.Sqrt(n)
		info.Params = []model.Param{{Name: "drift", Value: slope}, {Name: "drift.se", Value: slopeSE}}
	}
	info.Sigma2 = sigma * sigma
	for i := w.Lag; i < len(v); i++ {
		info.Fitted[i] = v[i-w.Lag] + slope
	}
	if len(steps) == 0 {
		info.Notes = append(info.Notes, "fewer than two values: the spread is unknown and the intervals have no width")
	}
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := make([]float64, h), make([]float64, h)
			for i := range mean {
				k := float64(i/w.Lag + 1)
				mean[i] = from[i%w.Lag] + slope*k
				sd[i] = math.Hypot(sigma*math.Sqrt(k), slopeSE*k)
			}
			return mean, sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			at, c := append([]float64(nil), from...), slope+slopeSE*rng.NormFloat64()
			out := make([]float64, h)
			for i := range out {
				at[i%w.Lag] += c + sigma*model.Innovation(rng, i)
				out[i] = at[i%w.Lag]
			}
			return out
		},
	}, nil
}

func (w Walk) method() string {
	switch {
	case w.Drift:
		return "Random walk with drift"
	case w.Lag > 1:
		return fmt.Sprintf("Seasonal naive [%d]", w.Lag)
	}
	return "Naive"
}

// tail returns the last known value of each of the last lag phases, or the last known value of
// all for a phase without one. It returns false where no value is known.
func tail(v []float64, lag int) ([]float64, bool) {
	out := model.NaNs(lag)
	last := math.NaN()
	for i := len(v) - 1; i >= 0; i-- {
		if !model.IsFinite(v[i]) {
			continue
		}
		if math.IsNaN(last) {
			last = v[i]
		}
		phase := ((i-len(v))%lag + lag) % lag
		if math.IsNaN(out[phase]) {
			out[phase] = v[i]
		}
	}
	for i := range out {
		if math.IsNaN(out[i]) {
			out[i] = last
		}
	}
	return out, model.IsFinite(last)
}

// differences returns, for each known value, its difference from the last known one of its
// phase.
func differences(v []float64, lag int) []float64 {
	last := model.NaNs(lag)
	var out []float64
	for i, x := range v {
		if !model.IsFinite(x) {
			continue
		}
		if before := last[i%lag]; model.IsFinite(before) {
			out = append(out, x-before)
		}
		last[i%lag] = x
	}
	return out
}

// SeasonalWalk is the random walk from season to season: y_t = y_(t-m) + e_t. On a series no
// longer than one season it is the plain walk, and a note says so.
type SeasonalWalk struct{ Period int }

// Fit fits the walk. It needs one known value.
func (s SeasonalWalk) Fit(y capcli.Series) (model.Fitted, error) {
	if s.Period > 1 && len(y.Values) <= s.Period {
		f, err := Walk{Name: "snaive", Lag: 1}.Fit(y)
		if g, ok := f.(*model.Gaussian); ok && err == nil {
			g.Fit.Notes = append(g.Fit.Notes, "the series is not longer than a season: the random walk is used instead")
		}
		return f, err
	}
	return Walk{Name: "snaive", Lag: max(1, s.Period)}.Fit(y)
}
