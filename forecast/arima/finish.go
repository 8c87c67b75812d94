package arima

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// finish prepares a fit for forecasts: it sets the named coefficients, their standard errors,
// the fitted values and the state at the end.
func (fit *Fit) finish() {
	f, unit := fit.form, fit.src.unit
	fit.Coef, fit.StdErr = nil, make([]float64, 0, len(fit.par)+len(fit.beta))
	var variances []float64
	exact := math.IsNaN(fit.loglik)
	if variances = fit.variance; !exact && variances == nil {
		variances = fit.variances()
	}
	add := func(name string, v, scale float64) {
		sd := math.NaN()
		if i := len(fit.Coef); variances != nil {
			sd = math.Sqrt(variances[i]) * scale
		}
		fit.Coef = append(fit.Coef, model.Param{Name: name, Value: v * scale})
		fit.StdErr = append(fit.StdErr, sd)
	}
	at := 0
	for _, part := range []struct {
		name string
		n    int
	}{{"ar", f.p}, {"ma", f.q}, {"sar", f.bigP}, {"sma", f.bigQ}} {
		for i := range part.n {
			add(part.name+digits(i+1), fit.par[at], 1)
			at++
		}
	}
	for j, name := range fit.names {
		add(name, fit.beta[j], unit)
	}
	if !exact {
		fit.settle() // the curvature's steps moved the filter
	}
	rest := fit.subtractRegression()
	var fitted []float64
	if fit.like.gaps {
		fitted = fit.runFull(rest)
	} else {
		fitted = fit.runDifferenced(rest)
	}
	fit.describe(fitted)
	fit.like = nil
}

func digits(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return digits(n/10) + digits(n%10)
}

// regression returns x'b at step t.
func (fit *Fit) regression(t int) float64 {
	sum := 0.0
	for j, b := range fit.beta {
		sum += b * fit.regressor(j, t)
	}
	return sum
}

// regressor returns column j at step t. Mean, drift and harmonics continue without end; other
// columns keep their last value.
func (fit *Fit) regressor(j, t int) float64 {
	switch fit.names[j] {
	case "intercept":
		return 1
	case "drift":
		return float64(t + 1)
	}
	if fit.src.further != nil {
		return fit.src.further(j-len(fit.x)+len(fit.src.given), t)
	}
	return fit.x[j][min(t, len(fit.x[j])-1)]
}

func (fit *Fit) subtractRegression() []float64 {
	out := slices.Clone(fit.src.y)
	for t := range out {
		out[t] -= fit.regression(t)
	}
	return out
}

// runDifferenced filters the differenced series, keeps the state at the end and returns the
// one-step forecasts of rest, NaN for the values lost by differencing.
func (fit *Fit) runDifferenced(rest []float64) []float64 {
	f, l := fit.form, fit.like
	w := f.difference(rest)
	n, r := len(w), f.states()
	f.expand(fit.par, l.phi, l.theta)
	fit.model = newSpace(f, l.phi, l.theta, 1)
	var states []float64
	if l.filter.start(l.phi, l.theta, r, n, 1) {
		cov := l.filter.covariance()
		l.filter.run([][]float64{w}, [][]float64{make([]float64, n)}, cov)
		states = l.filter.states[0]
		fit.model.place(cov)
	} else {
		states = fit.runConditional(w)
	}
	copy(fit.model.mean[0], states[n:n+r])
	for j := range f.lostValues() {
		fit.model.mean[0][r+j] = rest[len(rest)-1-j]
	}
	fitted := make([]float64, len(rest))
	for t := range fitted {
		fitted[t] = math.NaN()
		if t >= f.lostValues() {
			fitted[t] = rest[t] - (w[t-f.lostValues()] - states[t-f.lostValues()])
		}
	}
	return fitted
}

// runConditional filters w with an autoregression that is not stationary, which only CSS gives.
// The first residuals are unknown and set to zero. It returns the states by absolute time. The
// state at the end is known up to the next shock.
func (fit *Fit) runConditional(w []float64) []float64 {
	l, r := fit.like, fit.form.states()
	k := kalman{phi: make([]float64, r), theta: make([]float64, r)}
	copy(k.phi, l.phi)
	copy(k.theta, l.theta)
	for i := range r {
		k.sparse = append(k.sparse, i)
	}
	states := make([]float64, len(w)+r+1)
	from := min(len(l.phi), len(w))
	for t := range from {
		for i := range r {
			states[t+1+i] += k.phi[i] * w[t]
		}
	}
	k.runSteady(states, w, make([]float64, len(w)), from)
	cov := make([]float64, r*r)
	for i, a := range fit.model.shock {
		for j, b := range fit.model.shock {
			cov[i*r+j] = a * b
		}
	}
	fit.model.place(cov)
	return states
}

// runFull is runDifferenced for series with missing values.
func (fit *Fit) runFull(rest []float64) []float64 {
	l := fit.like
	fit.form.expand(fit.par, l.phi, l.theta)
	if fit.form.lostValues() > 0 {
		fit.shift = firstKnown(rest)
	}
	for t := range rest {
		rest[t] -= fit.shift
	}
	s := newSpace(fit.form, l.phi, l.theta, 1)
	var start []float64
	if l.filter.start(l.phi, l.theta, s.r, 1, 1) {
		start = l.filter.covariance()
	} else {
		start = make([]float64, s.r*s.r)
		for i := range s.r {
			start[i*s.r+i] = unknown
		}
	}
	expected := make([]float64, len(rest))
	l.gappy.start(fit.form, l.phi, l.theta, start, 1)
	l.gappy.run([][]float64{rest}, [][]float64{make([]float64, len(rest))}, expected)
	l.gappy.copyInto(s)
	for t := range expected {
		expected[t] += fit.shift
	}
	fit.model = s
	return expected
}

// describe sets the info from one-step forecasts of the series minus its regression.
func (fit *Fit) describe(fitted []float64) {
	s := fit.src
	full := make([]float64, s.lead+len(fitted))
	for i := range s.lead {
		full[i] = math.NaN()
	}
	for t, v := range fitted {
		full[s.lead+t] = fit.untransform(v + fit.regression(t))
	}
	aic, aicc, bic := fit.criteria()
	if fit.method == CSS {
		aic, aicc, bic = math.NaN(), math.NaN(), math.NaN()
	}
	fit.info = model.Info{
		Method: fit.title(), Params: slices.Clone(fit.Coef), LogLik: fit.loglik, AIC: aic, AICc: aicc, BIC: bic,
		Sigma2: fit.sigma2 * s.unit * s.unit, Fitted: full, Notes: slices.Clone(s.notes),
	}
}

// title returns R's name of the model.
func (fit *Fit) title() string {
	name := fit.form.title()
	switch {
	case len(fit.src.given) > 0:
		return "Regression with " + name + " errors"
	case slices.Contains(fit.names, "drift"):
		return name + " with drift"
	case slices.Contains(fit.names, "intercept"):
		return name + " with non-zero mean"
	case fit.form.lostValues() == 0:
		return name + " with zero mean"
	}
	return name
}

// untransform returns a value of the model on the series' own scale.
func (fit *Fit) untransform(v float64) float64 { return v * fit.src.unit }
