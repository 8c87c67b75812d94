package smoothing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// HoltWinters is exponential smoothing with trend and season as Holt (1957) and Winters (1960)
// wrote it. The weights minimise the squared one-step errors after the first season. First
// states come from a classical decomposition of the first two seasons. With u = y - s (additive)
// or y/s (multiplicative)
//
//	l' = alpha u + (1 - alpha)(l + b)
//	b' = beta (l' - l) + (1 - beta) b
//	s' = gamma (y - l' or y/l') + (1 - gamma) s
//
// The level in s' is the new one, unlike in ETS(A,A,A).
type HoltWinters struct {
	Period int    // season in steps, at least 2
	Season string // "additive" or "multiplicative"; "" chooses the one with smaller errors
}

// holtWinters is a fit and, during the search, its objective. The vector x holds an angle for
// each of alpha, beta and gamma, whose sin² is the weight.
type holtWinters struct {
	y                  []float64
	m                  int       // season in steps
	mult               bool      // multiplicative season
	l, b               float64   // first states
	s                  []float64 // first seasonal states by phase
	alpha, beta, gamma float64
	sse                float64   // sum of squared one-step errors
	endL, endB         float64   // last states
	ring               []float64 // seasonal states; after finish [0] is the first forecast value's
	fitted             []float64 // NaN in the first season
	sigma2             float64   // variance of the one-step errors about their mean
	guard              etsGuard
}

// Fit fits the model. It fails with ErrTooShort below two seasons and two values, with
// ErrMissing for missing values and with ErrUnfit for values above 1e150, for a multiplicative
// season with values of zero or less, and for a Period below 2: SES and Holt are the models
// without season.
func (w HoltWinters) Fit(y capcli.Series) (model.Fitted, error) {
	low, _ := etsExtremes(y.Values)
	switch {
	case w.Period < 2:
		return nil, fmt.Errorf("fit Holt-Winters to %q: expected a season of at least 2 steps, found %d: %w", y.Name, w.Period, model.ErrUnfit)
	case y.Missing() > 0:
		return nil, fmt.Errorf("fit Holt-Winters to %q: %w", y.Name, model.ErrMissing)
	case len(y.Values) < 2*w.Period+2:
		return nil, fmt.Errorf("fit Holt-Winters to %q: expected more than two seasons of %d values, found %d: %w", y.Name, w.Period, len(y.Values), model.ErrTooShort)
	case w.Season == "multiplicative" && low <= 0:
		return nil, fmt.Errorf("fit multiplicative Holt-Winters to %q: expected positive values, found %g: %w", y.Name, low, model.ErrUnfit)
	}
	for _, v := range y.Values {
		if math.Abs(v) > 1e150 {
			return nil, fmt.Errorf("fit Holt-Winters to %q: found the value %g: %w", y.Name, v, model.ErrUnfit)
		}
	}
	var best *holtWinters
	for _, mult := range []bool{false, true} {
		if mult && (w.Season == "additive" || low <= 0) || !mult && w.Season == "multiplicative" {
			continue
		}
		if f := fitHoltWinters(y.Values, w.Period, mult); best == nil || f.sse < best.sse {
			best = f
		}
	}
	return best, nil
}

// newHoltWinters returns the objective for a season of m steps, with first states set.
func newHoltWinters(y []float64, m int, mult bool) *holtWinters {
	w := &holtWinters{y: y, m: m, mult: mult, ring: make([]float64, m), fitted: make([]float64, len(y)), guard: newETSGuard(y)}
	season, head := byte(etsAdd), y[:2*m]
	if mult {
		season = etsMul
	}
	trend := make([]float64, 2*m)
	decompose.CentredAverage(head, m, trend)
	w.l, w.b = etsLine(trend[m/2 : 2*m-m/2])
	w.s = etsPhases(season, m, head, trend)
	return w
}

// fitHoltWinters returns the best fit from several starting values of the weights.
func fitHoltWinters(y []float64, m int, mult bool) *holtWinters {
	w := newHoltWinters(y, m, mult)
	x, best, least := make([]float64, 3), make([]float64, 3), math.Inf(1)
	work, scale := minimise.NewBFGS(3), []float64{0.5, 0.5, 0.5}
	for _, g := range [][3]float64{{0.3, 0.1, 0.1}, {0.1, 0.01, 0.5}, {0.7, 0.05, 0.9}, {0.02, 0.6, 0.2}, {0.05, 0.95, 0.8}} {
		for i, v := range g {
			x[i] = minimise.AngleOf(v, 0, 1)
		}
		if v := work.Minimise(w, x, scale, 100, 1e-7); v < least {
			least = v
			copy(best, x)
		}
	}
	w.Value(best)
	w.finish()
	return w
}

// finish runs the weights once more. It sets the variance of the errors about their mean and
// puts the seasonal states in the order of the forecast values.
func (w *holtWinters) finish() {
	w.run()
	n, mean := float64(len(w.y)-w.m), 0.0
	for t := w.m; t < len(w.y); t++ {
		mean += (w.y[t] - w.fitted[t]) / n
	}
	w.sigma2 = max(w.sse-n*mean*mean, 0) / (n - 1)
	last := append([]float64(nil), w.ring...)
	for i := range last {
		w.ring[i] = last[(len(w.y)+i)%w.m]
	}
}

// run passes over the series with the current weights and sets the fitted values, the sum of
// squared errors and the last states.
func (w *holtWinters) run() {
	copy(w.ring, w.s)
	l, b, i := w.l, w.b, 0
	w.sse = 0
	for t := range w.m {
		w.fitted[t] = math.NaN()
	}
	for t := w.m; t < len(w.y); t++ {
		y, s := w.y[t], w.ring[i]
		f := w.join(l+b, s)
		w.fitted[t] = f
		w.sse += (y - f) * (y - f)
		l, b, w.ring[i] = w.follow(y, l, b, s)
		if i++; i == w.m {
			i = 0
		}
	}
	w.endL, w.endB = l, b
}

// join returns the forecast of a level and a seasonal state.
func (w *holtWinters) join(level, s float64) float64 {
	if w.mult {
		return level * s
	}
	return level + s
}

// follow returns the states after the value y. In a multiplicative season, y does not move the
// level where s is zero, nor the season where the new level is zero.
func (w *holtWinters) follow(y, l, b, s float64) (newL, newB, newS float64) {
	u := y - s
	if w.mult {
		if u = l + b; s != 0 {
			u = y / s
		}
	}
	newL = w.alpha*u + (1-w.alpha)*(l+b)
	newB = w.beta*(newL-l) + (1-w.beta)*b
	u = y - newL
	if w.mult {
		if u = s; newL != 0 {
			u = y / newL
		}
	}
	return newL, newB, w.gamma*u + (1-w.gamma)*s
}

// Value returns n times the log of the sum of squared errors, relative to the squared range of
// the series. It is 0 for a constant series and +Inf where it is not a number.
func (w *holtWinters) Value(x []float64) float64 {
	w.alpha, w.beta, w.gamma = minimise.FromAngle(x[0], 0, 1), minimise.FromAngle(x[1], 0, 1), minimise.FromAngle(x[2], 0, 1)
	w.run()
	span := w.guard.high - w.guard.low
	if span == 0 {
		return 0
	}
	n := float64(len(w.y))
	v := n * math.Log(w.sse/(span*span)+n*smallest)
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// Gradient sets g to central differences of Value.
func (w *holtWinters) Gradient(x, g []float64) {
	const h = 1e-5
	for i, keep := range x {
		x[i] = keep + h
		up := w.Value(x)
		x[i] = keep - h
		g[i] = (up - w.Value(x)) / (2 * h)
		x[i] = keep
		if math.IsNaN(g[i]) || math.IsInf(g[i], 0) {
			g[i] = 0
		}
	}
}

// Admits returns true: the angles keep the weights in their bounds.
func (w *holtWinters) Admits([]float64) bool { return true }

// Forecast returns means and the intervals of the linear form: the variance of the one-step
// errors times 1 + psi_1² + …, psi_j = alpha (1 + j beta) + gamma (1 - alpha) [m divides j]. An
// error in a multiplicative season is carried in proportion to the seasonal factors (Yar and
// Chatfield 1990). It fails when h is below 1 or a level is invalid.
func (w *holtWinters) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := etsAhead(h, levels); err != nil {
		return model.Forecast{}, err
	}
	mean, sd := make([]float64, h), make([]float64, h)
	for i := range h {
		mean[i] = w.join(w.endL+float64(i+1)*w.endB, w.ring[i%w.m])
		sum := 1.0
		for j := 1; j <= i; j++ {
			psi := w.alpha * (1 + float64(j)*w.beta)
			if j%w.m == 0 {
				psi += w.gamma * (1 - w.alpha)
			}
			if from := w.ring[(i-j)%w.m]; w.mult && from != 0 {
				psi *= w.ring[i%w.m] / from
			}
			sum += psi * psi
		}
		sd[i] = math.Sqrt(w.sigma2 * sum)
	}
	w.guard.bound(mean, w.mult)
	out := model.Forecast{Mean: mean, Intervals: model.NormalIntervals(mean, sd, levels)}
	for _, iv := range out.Intervals {
		for i, mu := range mean {
			iv.Lo[i], iv.Hi[i] = w.guard.ends(mu, iv.Lo[i], iv.Hi[i], w.mult)
		}
	}
	return out, nil
}

// Path draws one future of h values with normal one-step errors.
func (w *holtWinters) Path(h int, rng model.Noise) []float64 {
	out, s := make([]float64, max(h, 0)), append([]float64(nil), w.ring...)
	l, b, sd := w.endL, w.endB, math.Sqrt(w.sigma2)
	for t := range out {
		i := t % w.m
		y := w.join(l+b, s[i]) + sd*model.Innovation(rng, t)
		out[t], _ = w.guard.ends(w.guard.low, y, y, w.mult)
		l, b, s[i] = w.follow(out[t], l, b, s[i])
	}
	return out
}

// Info describes the fit. It has no likelihood: the errors have no distribution here. l, b, s0,
// s1, … are the last states: s0 is the seasonal state of the first forecast value.
func (w *holtWinters) Info() model.Info {
	kind := "additive"
	if w.mult {
		kind = "multiplicative"
	}
	nan := math.NaN()
	in := model.Info{
		Method: "Holt-Winters " + kind, LogLik: nan, AIC: nan, AICc: nan, BIC: nan,
		Sigma2: w.sigma2, Fitted: append([]float64(nil), w.fitted...),
		Params: []model.Param{{Name: "alpha", Value: w.alpha}, {Name: "beta", Value: w.beta}, {Name: "gamma", Value: w.gamma}, {Name: "l", Value: w.endL}, {Name: "b", Value: w.endB}},
	}
	for i, s := range w.ring {
		in.Params = append(in.Params, model.Param{Name: fmt.Sprintf("s%d", i), Value: s})
	}
	return in
}
