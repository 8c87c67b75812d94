package arima

import (
	"math"
	"slices"

	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// addWaves returns the series with the waves as its given regressors.
func (s *arimaSeries) addWaves(waves []harmonic) *arimaSeries {
	out := *s
	out.given = nil
	type column struct {
		harmonic
		number int
	}
	var columns []column
	for _, h := range waves {
		for c := range h.columns() {
			columns = append(columns, column{h, c})
			out.given = append(out.given, filled(s.lead+len(s.y), func(t int) float64 { return h.valueAt(c, float64(t+1)) }))
		}
	}
	out.further = func(j, t int) float64 {
		return columns[j].valueAt(columns[j].number, float64(s.lead+t+1))
	}
	return &out
}

// withErrors fits the regression on the given regressors with ARIMA errors of d differences.
func (s *arimaSeries) withErrors(d int) (*Fit, error) {
	plain := arimaForm{d: d, m: 1}
	x, _ := s.regressors(plain, d == 0, d == 1)
	like, err := newArimaLikelihood(plain, s.y, x)
	if err != nil {
		return nil, err
	}
	if like.isResidualZero() {
		return s.fit(plain, d == 0, d == 1, CSSML, true)
	}
	rest := s.subtractRegressors(like.first, like.length, x)
	look := rest.lastValues(dhrLook)
	inner, err := look.errorsOf(d, false)
	if err != nil {
		return nil, err
	}
	if n := len(s.y); n > 150 && n <= dhrExact {
		if other, err := look.errorsOf(d, true); err == nil && other.info.AICc < inner.info.AICc {
			inner = other
		}
	}
	fit, err := s.alternate(inner)
	if err != nil {
		return nil, err
	}
	// The first regression assumes plain errors and can be far from the best: three short forms
	// of the errors may lead to a better one.
	for _, f := range []arimaForm{{p: 1, d: d, m: 1}, {d: d, q: 1, m: 1}, {p: 1, d: d, q: 1, m: 1}} {
		plain, err := look.fit(f, d == 0, false, CSSML, false)
		if err != nil {
			continue
		}
		if other, err := s.alternate(plain); err == nil && other.info.AICc < fit.info.AICc && other.form.clearOfUnit(other.par) {
			fit = other
		}
	}
	return fit, nil
}

// errorsOf chooses and fits an ARIMA of d differences. exact searches by exact likelihood.
func (s *arimaSeries) errorsOf(d int, exact bool) (*Fit, error) {
	search := newAutoSearch(AutoARIMA{Exact: exact}, s)
	search.d, search.constant = d, d <= 1
	return search.run()
}

// subtractRegressors returns the series minus the given regressors x with the coefficients
// b/length. Mean and drift, which come first in x, stay.
func (s *arimaSeries) subtractRegressors(b, length []float64, x [][]float64) *arimaSeries {
	out := *s
	out.y = slices.Clone(s.y)
	for j := len(x) - len(s.given); j < len(x); j++ {
		by := b[j] / length[j]
		for t, v := range x[j][:len(out.y)] {
			out.y[t] -= by * v
		}
	}
	out.raw, out.given, out.further, out.lead, out.spent = out.y, nil, nil, 0, len(s.given)
	return &out
}

// dhrRounds is the most rounds of regression and errors in turn. A round that gains less than
// dhrGain in log-likelihood is the last.
const (
	dhrRounds = 6
	dhrGain   = 1e-4
)

// alternate maximises the likelihood over the regression and the errors in turn. It starts from
// inner, the fit of the errors to the remainder of a first regression.
func (s *arimaSeries) alternate(inner *Fit) (*Fit, error) {
	drift := slices.Contains(inner.names, "drift")
	mean := slices.Contains(inner.names, "intercept")
	fit := &Fit{form: inner.form, src: s, method: CSSML, best: inner.best}
	fit.x, fit.names = s.regressors(fit.form, mean, drift)
	var err error
	if fit.like, err = newArimaLikelihood(fit.form, s.y, fit.x); err != nil {
		return nil, err
	}
	last := math.Inf(1)
	for range dhrRounds {
		value := fit.like.exact(fit.best)
		if !(last-value > dhrGain/float64(fit.like.used)) {
			break
		}
		last = value
		b := make([]float64, len(fit.like.beta))
		for j := range b {
			b[j] = fit.like.first[j] + fit.like.beta[j]
		}
		rest := s.subtractRegressors(b, fit.like.length, fit.x)
		inner = &Fit{form: fit.form, src: rest, method: CSSML, best: slices.Clone(fit.best)}
		inner.x, inner.names = rest.regressors(fit.form, mean, drift)
		if inner.like, err = newArimaLikelihood(fit.form, rest.y, inner.x); err != nil || inner.like.isResidualZero() {
			break
		}
		minimise.Descent{Step: 1e-3, Tol: 1e-9, Most: 50}.Minimise(inner.like.exact, inner.best)
		fit.form.invert(inner.best)
		if fit.like.exact(inner.best) < value {
			fit.best = slices.Clone(inner.best)
		}
	}
	fit.settle()
	if fit.variance = fit.blocks(inner); fit.variance == nil {
		fit.variance = model.NaNs(len(fit.par) + len(fit.beta))
	}
	fit.finish()
	return fit, nil
}

// blocks returns the variances of the coefficients: of the errors from inner, and of the
// regression given the errors. It returns nil where inner has none.
func (fit *Fit) blocks(inner *Fit) []float64 {
	if inner.like == nil || inner.like.isResidualZero() {
		return nil
	}
	inner.best = slices.Clone(fit.best)
	inner.settle()
	of := inner.variances()
	if of == nil {
		return nil
	}
	out := slices.Clone(of[:len(fit.best)])
	l := fit.like
	k := len(l.beta)
	u := make([]float64, k)
	for j := range k {
		// Column j of the inverse of the Cholesky factor.
		sum := 0.0
		for i := j; i < k; i++ {
			u[i] = 0
			if i == j {
				u[i] = 1
			}
			u[i] = (u[i] - model.Dot(l.choleskyOf[i*k+j:i*k+i], u[j:i])) / l.choleskyOf[i*k+i]
			sum += u[i] * u[i]
		}
		out = append(out, sum*l.ssq/float64(l.counted)/(l.length[j]*l.length[j]))
	}
	return out
}
