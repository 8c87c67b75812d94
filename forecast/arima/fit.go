package arima

import (
	"fmt"
	"math"
	"math/cmplx"
	"sync"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// Fit is a fitted ARIMA model.
type Fit struct {
	Coef   []model.Param // ar, ma, sar, sma, then intercept, drift and regressors
	StdErr []float64     // standard errors of Coef; NaN where the likelihood has no maximum
	info   model.Info

	form   arimaForm
	par    []float64 // coefficients of the ARMA part
	src    *arimaSeries
	x      [][]float64 // regressors, mean and drift first
	names  []string    // of the regressors
	beta   []float64   // coefficients of the regressors, on the scale of src.y
	sigma2 float64     // variance of the innovations, on the scale of src.y
	loglik float64     // of the transformed series before scaling; NaN for a fit without error
	method Method
	like   *arimaLikelihood // nil once the fit is finished
	best   []float64        // the searched values behind par; see exact

	variance []float64 // of the coefficients; nil until it is known

	shift float64 // what the filter subtracts from the series
	// grain is the relative rounding error of a fit without error. It is 0 for other fits and
	// where the fitted values are exact.
	grain float64
	model *space // the state after the last value

	root     []float64 // Cholesky factor of the covariance of the state
	rootOnce sync.Once
}

// fit fits one form. With polish it resumes a search that stopped early and prepares the fit for
// forecasts. It fails with ErrTooShort or ErrUnfit.
func (s *arimaSeries) fit(f arimaForm, mean, drift bool, method Method, polish bool) (*Fit, error) {
	fit := &Fit{form: f, src: s, method: method}
	fit.x, fit.names = s.regressors(f, mean, drift)
	var err error
	if fit.like, err = newArimaLikelihood(f, s.y, fit.x); err != nil {
		return nil, err
	}
	if fit.like.isResidualZero() {
		fit.fitWithoutError()
		return fit, nil
	}
	if !fit.search(polish) {
		return nil, fmt.Errorf("arima: no likelihood of %s near the start: %w", f.title(), model.ErrUnfit)
	}
	fit.settle()
	if polish {
		fit.finishFit()
	}
	return fit, nil
}

// finishFit resumes a search that stopped early and prepares the fit for forecasts.
func (fit *Fit) finishFit() {
	if fit.method != CSS && len(fit.best) > 0 {
		fit.polish(fit.like.exact(fit.best))
		fit.settle()
	}
	fit.finish()
}

// flatness is the size of residuals, in units of the series, below which they count as
// rounding error.
const flatness = 1e-13

// isResidualZero reports whether the regression leaves no residual of the differenced series.
func (l *arimaLikelihood) isResidualZero() bool { return finiteTop(l.series[0]) <= flatness*l.size }

// fitWithoutError fits a series that its regression, or its differences alone, reproduce
// without error. Where mean or drift is the only regressor, its value comes from the
// data directly, so that a constant stays exact.
func (fit *Fit) fitWithoutError() {
	l := fit.like
	fit.best, fit.par = make([]float64, fit.form.arma()), make([]float64, fit.form.arma())
	clear(l.beta)
	fit.beta = make([]float64, len(l.beta))
	for j := range fit.beta {
		fit.beta[j] = l.first[j] / l.length[j]
	}
	if len(fit.names) == 1 && len(fit.src.given) == 0 {
		fit.beta[0] = fit.constantStep()
	}
	fit.loglik = math.NaN()
	fit.finish()
	for t, v := range fit.info.Fitted[fit.src.lead:] {
		if model.IsFinite(v) && v != fit.src.raw[t] && !math.IsNaN(fit.src.raw[t]) {
			fit.grain = 4 * 0x1p-52
		}
	}
	fit.info.Notes = append(fit.info.Notes, "the model fits exactly: the intervals have no width")
}

// constantStep returns the mean of a constant series, or the step of a series that rises
// evenly.
func (fit *Fit) constantStep() float64 {
	y, f := fit.src.y, fit.form
	first, last := 0, len(y)-1
	for math.IsNaN(y[first]) {
		first++
	}
	for math.IsNaN(y[last]) {
		last--
	}
	if f.lostValues() == 0 && fit.names[0] == "intercept" {
		return y[first]
	}
	if f.bigD == 1 {
		last = first + (last-first)/f.m*f.m // whole seasons
		if math.IsNaN(y[last]) {
			return fit.beta[0]
		}
	}
	return (y[last] - y[first]) / float64(last-first)
}

// search finds the coefficients with the steps and the tolerance of R's arima, so that the
// estimates agree where the likelihood is flat. It returns false where it finds no finite
// likelihood.
func (fit *Fit) search(polish bool) bool {
	l, f := fit.like, fit.form
	par := make([]float64, f.arma())
	fit.best = par
	quick := minimise.Descent{Step: 1e-3, Tol: 1e-8, Most: 100}
	if fit.method != ML {
		v := quick.Minimise(l.conditional, par)
		if fit.method == CSS {
			return !math.IsInf(v, 0)
		}
		f.invert(par)
		if math.IsInf(v, 0) || !f.partial(par) {
			if !polish {
				return false // an order search passes over such a model, as R's does
			}
			clear(par)
		}
	}
	if !polish {
		// An order search rejects models near the unit circle, so this search ends early there.
		quick.Hopeless, quick.Slack = fit.nearUnit, 0.01/float64(l.used)
	}
	v := quick.Minimise(l.exact, par)
	if math.IsInf(v, 0) {
		clear(par)
		v = quick.Minimise(l.exact, par)
	}
	if math.IsInf(v, 0) && len(par) > 0 {
		v = minimise.NelderMead(l.exact, par, 400*len(par))
	}
	f.invert(par)
	return !math.IsInf(v, 0)
}

// nearUnit reports whether the searched coefficients have a root too near the unit
// circle for an order search.
func (fit *Fit) nearUnit(par []float64) bool {
	at := append([]float64(nil), par...)
	fit.form.stationarity(at)
	fit.form.invert(at)
	return !fit.form.clearOfUnit(at)
}

// polish resumes at value v with finer steps. It keeps the result when the
// log-likelihood gains more than a thousandth.
func (fit *Fit) polish(v float64) {
	l := fit.like
	par := append([]float64(nil), fit.best...)
	gained := v - minimise.Descent{Step: 1e-4, Tol: 1e-10, Most: 100}.Minimise(l.exact, par)
	if gained*float64(l.used) > 1e-3 {
		fit.form.invert(par)
		fit.best, fit.variance = par, nil
	}
}

// invert makes the moving averages invertible, in place.
func (f arimaForm) invert(par []float64) {
	invertible(par[f.p : f.p+f.q])
	invertible(par[f.p+f.q+f.bigP : f.arma()])
}

// objective returns the function that the search minimised.
func (fit *Fit) objective() func([]float64) float64 {
	if fit.method == CSS {
		return fit.like.conditional
	}
	return fit.like.exact
}

// settle sets the estimates, the log-likelihood and the variance from the likelihood at the best
// searched values.
func (fit *Fit) settle() {
	l := fit.like
	value := fit.objective()(fit.best)
	fit.par = append([]float64(nil), fit.best...)
	if fit.method != CSS {
		fit.form.stationarity(fit.par)
	}
	fit.beta = make([]float64, len(l.beta))
	for j := range fit.beta {
		fit.beta[j] = (l.first[j] + l.beta[j]) / l.length[j]
	}
	n := float64(l.used)
	fit.loglik = -0.5 * (2*n*value + n + n*math.Log(2*math.Pi))
	fit.loglik -= n * math.Log(fit.src.unit)
	k := float64(len(fit.par) + len(fit.beta))
	if fit.method == CSS {
		fit.sigma2 = l.ssq / (float64(l.counted+len(l.phi)) - k)
		return
	}
	fit.sigma2 = (l.ssq + l.openingShare()) / (n - k)
}

// criteria returns AIC, AICc and BIC. The variance counts as a parameter.
func (fit *Fit) criteria() (aic, aicc, bic float64) {
	n, k := float64(fit.like.used), float64(len(fit.par)+len(fit.beta)+fit.src.spent+1)
	aic = -2*fit.loglik + 2*k
	aicc = aic + 2*k*(k+1)/(n-k-1)
	if n-k-1 <= 0 {
		aicc = math.Inf(1)
	}
	return aic, aicc, aic + k*(math.Log(n)-2)
}

// variances returns the estimated variances of the coefficients: the inverse of the
// curvature. It returns nil where the curvature is not positive.
func (fit *Fit) variances() []float64 {
	l, f := fit.like, fit.form
	a, k := len(fit.best), len(fit.beta)
	if a+k == 0 {
		return []float64{}
	}
	objective := fit.objective()
	objective(fit.best)
	sd := fit.betaUnits()
	at := append([]float64(nil), l.beta...)
	joint := func(z []float64) float64 {
		if v := objective(z[:a]); k == 0 || math.IsInf(v, 0) {
			return v
		}
		return l.withBeta(at, sd, z[a:])
	}
	h := minimise.Hessian(joint, append(append([]float64(nil), fit.best...), make([]float64, k)...), 1e-3)
	var c mat.Cholesky
	for _, v := range h {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	if !c.Factorize(mat.NewSymDense(a+k, h)) {
		return nil
	}
	var inverse mat.SymDense
	if c.InverseTo(&inverse) != nil {
		return nil
	}
	out := make([]float64, a+k)
	jacobian := f.partialSlopes(fit.best, fit.method != CSS)
	for i := range a {
		for x := range a {
			for y := range a {
				out[i] += jacobian[i*a+x] * jacobian[i*a+y] * inverse.At(x, y)
			}
		}
	}
	for j := range k {
		scale := sd[j] / l.length[j]
		out[a+j] = inverse.At(a+j, a+j) * scale * scale
	}
	for i := range out {
		out[i] /= float64(l.used)
	}
	return out
}

// betaUnits returns step sizes for the regression coefficients, near their standard
// errors.
func (fit *Fit) betaUnits() []float64 {
	l := fit.like
	k := len(l.beta)
	sd := make([]float64, k)
	for j := range sd {
		// The pivot is the length of regressor j that the regressors before it leave
		// unexplained. All others leave at most as much.
		pivot := l.choleskyOf[j*k+j]
		sd[j] = math.Sqrt(l.ssq/float64(l.counted)) / pivot
	}
	return sd
}

// withBeta returns the last objective with the regression coefficients at + sd*by in
// place of the best ones.
func (l *arimaLikelihood) withBeta(at, sd, by []float64) float64 {
	k := len(at)
	ssq := l.syy
	for i := range k {
		bi := at[i] + sd[i]*by[i]
		ssq -= 2 * bi * l.sxy[i]
		for j := range i {
			ssq += 2 * bi * (at[j] + sd[j]*by[j]) * l.sxx[i*k+j]
		}
		ssq += bi * bi * l.sxx[i*k+i]
	}
	nu := float64(l.counted)
	return 0.5 * (math.Log(ssq/nu) + l.logs/nu)
}

// partialSlopes returns the derivatives of the coefficients by the searched values, row by row,
// from central differences.
func (f arimaForm) partialSlopes(par []float64, transformed bool) []float64 {
	a := len(par)
	out := make([]float64, a*a)
	const step = 1e-5
	for j := range a {
		up, down := append([]float64(nil), par...), append([]float64(nil), par...)
		up[j] += step
		down[j] -= step
		if transformed {
			f.stationarity(up)
			f.stationarity(down)
		}
		for i := range a {
			out[i*a+j] = (up[i] - down[i]) / (2 * step)
		}
	}
	return out
}

// title returns "ARIMA(p,d,q)(P,D,Q)[m]".
func (f arimaForm) title() string {
	s := fmt.Sprintf("ARIMA(%d,%d,%d)", f.p, f.d, f.q)
	if f.m > 1 && f.bigP+f.bigD+f.bigQ > 0 {
		s += fmt.Sprintf("(%d,%d,%d)[%d]", f.bigP, f.bigD, f.bigQ, f.m)
	}
	return s
}

// invertible replaces the roots of 1 + sum theta(j) z^j inside the unit circle by their
// inverses, in place. The autocorrelations stay the same. It leaves theta as it is where the
// roots cannot be computed.
func invertible(theta []float64) {
	q := len(theta)
	for q > 0 && theta[q-1] == 0 {
		q--
	}
	negative := make([]float64, q)
	for j := range negative {
		negative[j] = -theta[j]
	}
	if q == 0 || stationary(negative, 1) {
		return
	}
	companion := mat.NewDense(q, q, nil)
	for j := range q {
		companion.Set(0, j, -theta[j])
		if j > 0 {
			companion.Set(j, j-1, 1)
		}
	}
	var e mat.Eigen
	if !e.Factorize(companion, mat.EigenNone) {
		return
	}
	// The eigenvalues are the inverses of the roots.
	poly := make([]complex128, q+1)
	poly[0] = 1
	changed := false
	for k, v := range e.Values(nil) {
		if cmplx.Abs(v) > 1+1e-9 {
			v = 1 / v
			changed = true
		}
		for j := k + 1; j > 0; j-- {
			poly[j] -= v * poly[j-1]
		}
	}
	if changed {
		for j := range q {
			theta[j] = real(poly[j+1])
		}
	}
}
