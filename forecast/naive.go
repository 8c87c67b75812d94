package forecast

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// walk is the family of random walks: y_t = y_(t-lag) + c + e_t, with c = 0
// without drift (Hyndman & Athanasopoulos, "Forecasting: Principles and
// Practice", 3rd ed., sections 5.2 and 5.5). Missing values are passed over: the
// forecast starts from the last known value of each phase, and the spread comes
// from the differences that are known.
type walk struct {
	name  string
	lag   int
	drift bool
}

// Fit fits the walk; it needs one known value, and two where there is a drift.
func (w walk) Fit(y capcli.Series) (model.Fitted, error) {
	v := y.Values
	from, ok := tail(v, w.lag)
	if !ok {
		return nil, fmt.Errorf("%s: no value is known: %w", w.name, model.ErrTooShort)
	}
	info := model.Info{Method: w.method(), Fitted: model.NaNs(len(v)), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN()}
	slope, slopeSE := 0.0, 0.0
	steps := differences(v, w.lag)
	if w.drift {
		if len(steps) == 0 {
			return nil, fmt.Errorf("%s: %d values, want 2 or more in a row: %w", w.name, len(v), model.ErrTooShort)
		}
		slope = model.Mean(steps)
		for i := range steps {
			steps[i] -= slope
		}
	}
	sigma := model.RMS(steps)
	if w.drift {
		n := float64(len(steps))
		sigma *= math.Sqrt(n / math.Max(1, n-1))
		slopeSE = sigma / math.Sqrt(n)
		info.Params = []model.Param{{Name: "drift", Value: slope}, {Name: "drift.se", Value: slopeSE}}
	}
	info.Sigma2 = sigma * sigma
	for i := w.lag; i < len(v); i++ {
		info.Fitted[i] = v[i-w.lag] + slope
	}
	if len(steps) == 0 {
		info.Notes = append(info.Notes, "no two values to tell the spread from: the intervals have no width")
	}
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := make([]float64, h), make([]float64, h)
			for i := range mean {
				k := float64(i/w.lag + 1)
				mean[i] = from[i%w.lag] + slope*k
				sd[i] = math.Hypot(sigma*math.Sqrt(k), slopeSE*k)
			}
			return mean, sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			at, c := append([]float64(nil), from...), slope+slopeSE*rng.NormFloat64()
			out := make([]float64, h)
			for i := range out {
				at[i%w.lag] += c + sigma*model.Innovation(rng, i)
				out[i] = at[i%w.lag]
			}
			return out
		},
	}, nil
}

func (w walk) method() string {
	switch {
	case w.drift:
		return "Random walk with drift"
	case w.lag > 1:
		return fmt.Sprintf("Seasonal naive [%d]", w.lag)
	}
	return "Naive"
}

// tail is the last known value of each of the last lag phases; where a phase has
// none, the last known value of all.
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

// differences are from each known value to the last known one of its phase.
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
