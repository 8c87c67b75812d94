package arima

import (
	"fmt"
	"math"
	"slices"

	"capcli/forecast/model"
)

// arimaLikelihood is the likelihood of one form of model for one series. The coefficients of the
// regressors are not searched for. Given the others, they are those of generalised least
// squares, computed from the filtered regressors.
type arimaLikelihood struct {
	form   arimaForm
	gaps   bool
	used   int         // known values minus those lost by differencing
	length []float64   // divisor of each regressor
	size   float64     // largest absolute value of the series
	first  []float64   // least squares coefficients, whose regression is subtracted beforehand
	whole  [][]float64 // the series minus the first regression, then the scaled regressors
	series [][]float64 // whole, differenced
	out    [][]float64 // filtered series and regressors
	filter kalman
	gappy  gapFilter
	// pull holds, for each series, weights from its first values, and pulled the series minus
	// the means that they give it: see start.go. nil where the start is unknown.
	pull   [][]float64
	pulled [][]float64
	gamma  []float64 // autocovariances

	missed []bool // which conditional residuals need a missing value

	work, phi, theta []float64
	terms            []armaTerm // nonzero coefficients of phi, then of theta

	// Results of the last evaluation:
	beta       []float64 // scaled coefficients, on top of first
	syy        float64   // syy, sxy and sxx are sums of squares and products; see sums
	sxy, sxx   []float64
	ssq, logs  float64   // sum of squared innovations, and of the logs of their variances
	counted    int       // innovations that count
	choleskyOf []float64 // Cholesky factor of sxx
	solved     bool      // whether the regressors were independent
}

// newArimaLikelihood prepares the likelihood of a form for y and the regressors x. It fails with
// ErrTooShort for too few values and with ErrUnfit for regressors that are zero after
// differencing or depend on each other.
func newArimaLikelihood(form arimaForm, y []float64, x [][]float64) (*arimaLikelihood, error) {
	l := &arimaLikelihood{form: form, used: -form.lostValues(), whole: [][]float64{append([]float64(nil), y...)}}
	for _, v := range y {
		if math.IsNaN(v) {
			l.gaps = true
		} else {
			l.used++
		}
	}
	l.size = finiteTop(y)
	k := len(x)
	if l.used < form.arma()+k+2 {
		return nil, fmt.Errorf("arima: %d values after differencing for %d coefficients: %w", l.used, form.arma()+k, model.ErrTooShort)
	}
	l.beta, l.sxy, l.first, l.length = make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	l.sxx, l.choleskyOf = make([]float64, k*k), make([]float64, k*k)
	for j, column := range x {
		sum := 0.0
		for _, v := range form.difference(column[:len(y)]) {
			sum += v * v
		}
		l.length[j] = math.Sqrt(sum)
		if !(l.length[j] > 0) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("arima: regressor %d is nothing after differencing: %w", j+1, model.ErrUnfit)
		}
		l.whole = append(l.whole, model.Scaled(column[:len(y)], 1/l.length[j]))
	}
	for _, s := range l.whole {
		if form.lostValues() > 0 && l.gaps && l.isFarFromZero() {
			// A constant does not change the differences, but it changes the start of the
			// filter.
			at := firstKnown(s)
			for i := range s {
				s[i] -= at
			}
		}
		l.series = append(l.series, slices.Clone(form.difference(s)))
	}
	for i := range l.whole {
		n := len(l.series[i])
		if l.gaps {
			n = len(y) // the filter takes the differences as part of its state
		}
		l.out = append(l.out, make([]float64, n))
	}
	if !l.leastSquares() {
		return nil, fmt.Errorf("arima: the regressors depend on each other: %w", model.ErrUnfit)
	}
	if form.lostValues() > 0 && !l.gaps && !l.isFarFromZero() {
		l.findMeans()
	}
	ar, ma := form.lags()
	l.missed = make([]bool, len(y))
	l.work, l.phi, l.theta = make([]float64, form.arma()), make([]float64, ar), make([]float64, ma)
	return l, nil
}

// firstKnown returns the first known value, 0 where there is none.
func firstKnown(y []float64) float64 {
	for _, v := range y {
		if !math.IsNaN(v) {
			return v
		}
	}
	return 0
}

// leastSquares subtracts the least squares regression on the regressors from the series, whole
// and differenced. It returns false where the regression cannot be solved.
func (l *arimaLikelihood) leastSquares() bool {
	if len(l.first) == 0 {
		return true
	}
	l.sums(l.series, 0, len(l.series[0]))
	if !l.solve() && !l.pivots() {
		return false
	}
	copy(l.first, l.beta)
	for j, b := range l.first {
		for t, v := range l.whole[j+1] {
			l.whole[0][t] -= b * v
		}
		for t, v := range l.series[j+1] {
			l.series[0][t] -= b * v
		}
	}
	return true
}

// sums sets syy, sxy and sxx to the moments of the filtered series and regressors in steps from
// to to-1. It passes over missing values.
func (l *arimaLikelihood) sums(rows [][]float64, from, to int) {
	k := len(l.beta)
	l.syy = 0
	clear(l.sxy)
	clear(l.sxx)
	if k == 1 && !l.gaps {
		l.sumsOfTwo(rows[0][from:to], rows[1][from:to])
		return
	}
	for t := from; t < to; t++ {
		y := rows[0][t]
		if math.IsNaN(y) {
			continue
		}
		l.syy += y * y
		for i := range k {
			x := rows[i+1][t]
			l.sxy[i] += x * y
			for j := 0; j <= i; j++ {
				l.sxx[i*k+j] += x * rows[j+1][t]
			}
		}
	}
}

// sumsOfTwo is sums of a series without gaps and one regressor.
func (l *arimaLikelihood) sumsOfTwo(ys, xs []float64) {
	var yy, xy, xx float64
	xs = xs[:len(ys)]
	for t, y := range ys {
		x := xs[t]
		yy += y * y
		xy += x * y
		xx += x * x
	}
	l.syy, l.sxy[0], l.sxx[0] = yy, xy, xx
}

// squares returns the sum of squares, in four partial sums.
func squares(x []float64) float64 {
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * x[i]
		b += x[i+1] * x[i+1]
		c += x[i+2] * x[i+2]
		d += x[i+3] * x[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * x[i]
	}
	return a + b + c + d
}

// solve sets beta and the sum of squares that it leaves. It returns false where the regressors
// depend on each other or that sum is not positive.
func (l *arimaLikelihood) solve() bool {
	k := len(l.beta)
	c := l.choleskyOf
	for i := range k {
		for j := 0; j <= i; j++ {
			v := l.sxx[i*k+j]
			for a := range j {
				v -= c[i*k+a] * c[j*k+a]
			}
			if i > j {
				c[i*k+j] = v / c[j*k+j]
				continue
			}
			if !(v > 1e-11*l.sxx[i*k+i]) {
				l.solved = false
				return false
			}
			c[i*k+i] = math.Sqrt(v)
		}
	}
	l.solved = true
	l.ssq = l.syy
	for i := range k {
		v := l.sxy[i]
		for a := range i {
			v -= c[i*k+a] * l.beta[a]
		}
		l.beta[i] = v / c[i*k+i]
		l.ssq -= l.beta[i] * l.beta[i]
	}
	for i := k - 1; i >= 0; i-- {
		v := l.beta[i]
		for a := i + 1; a < k; a++ {
			v -= c[a*k+i] * l.beta[a]
		}
		l.beta[i] = v / c[i*k+i]
	}
	return l.ssq > 0
}

// pivots reports whether the regressors are independent. solve also refuses a sum of
// squares that is only rounding error.
func (l *arimaLikelihood) pivots() bool {
	for _, b := range l.beta {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return false
		}
	}
	return l.solved
}

// exact returns minus the exact log-likelihood over the number of values, less constants. par
// holds the autoregressions as the inverse tanh of their partial autocorrelations.
func (l *arimaLikelihood) exact(par []float64) float64 {
	copy(l.work, par)
	l.form.stationarity(l.work)
	return l.exactAt(l.work)
}

// stationarity turns the partial autocorrelations of par into coefficients, in place.
func (f arimaForm) stationarity(par []float64) {
	fromPartial(par[:f.p])
	fromPartial(par[f.p+f.q : f.p+f.q+f.bigP])
}

// partial is the inverse of stationarity. It returns false when par is not stationary.
func (f arimaForm) partial(par []float64) bool {
	return toPartial(par[:f.p]) && toPartial(par[f.p+f.q:f.p+f.q+f.bigP])
}

// exactAt is exact for plain coefficients. It returns +Inf when they are not stationary.
func (l *arimaLikelihood) exactAt(par []float64) float64 {
	l.form.expand(par, l.phi, l.theta)
	rows := l.series
	if l.gaps {
		rows = l.whole
	}
	n := len(rows[0])
	if !l.filter.start(l.phi, l.theta, l.form.states(), n, len(rows)) {
		return math.Inf(1)
	}
	if l.gaps {
		l.gappy.start(l.form, l.phi, l.theta, l.filter.covariance(), len(rows))
		l.logs, l.counted = l.gappy.run(rows, l.out, nil)
	} else {
		l.filter.run(l.withoutMeans(), l.out, nil)
		l.logs, l.counted = l.filter.logs, n
	}
	if len(l.beta) == 0 && !l.gaps {
		l.syy = squares(l.out[0][:n])
	} else {
		l.sums(l.out, 0, n)
	}
	return l.value()
}

// value returns the objective from the moments, +Inf where the regression has no solution.
func (l *arimaLikelihood) value() float64 {
	if l.counted == 0 || !l.solve() {
		return math.Inf(1)
	}
	nu := float64(l.counted)
	v := 0.5 * (math.Log(l.ssq/nu) + l.logs/nu)
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}
