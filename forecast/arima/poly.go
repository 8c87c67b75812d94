package arima

import (
	"math"

	"capcli/forecast/model"
)

// Order is the order of one part of an ARIMA model.
type Order struct{ AR, Diff, MA int }

// arimaForm is the shape of a model: ARIMA(p,d,q)(P,D,Q)[m].
type arimaForm struct{ p, d, q, bigP, bigD, bigQ, m int }

func (f arimaForm) arma() int { return f.p + f.q + f.bigP + f.bigQ }

// lostValues returns the number of values that differencing loses.
func (f arimaForm) lostValues() int { return f.d + f.bigD*f.m }

// lags returns the highest lags of the multiplied polynomials.
func (f arimaForm) lags() (ar, ma int) { return f.p + f.bigP*f.m, f.q + f.bigQ*f.m }

// states returns the dimension of the stationary part in Harvey's form.
func (f arimaForm) states() int {
	ar, ma := f.lags()
	return max(ar, ma+1)
}

// expand multiplies out phi(B) Phi(B^m) and theta(B) Theta(B^m). par holds ar, ma, seasonal ar
// and seasonal ma; phi[j] and theta[j] belong to lag j+1.
func (f arimaForm) expand(par, phi, theta []float64) {
	clear(phi)
	clear(theta)
	copy(phi, par[:f.p])
	copy(theta, par[f.p:f.p+f.q])
	sar := par[f.p+f.q : f.p+f.q+f.bigP]
	sma := par[f.p+f.q+f.bigP : f.arma()]
	for j, s := range sar {
		at := (j+1)*f.m - 1
		phi[at] += s
		for i := range f.p {
			phi[at+i+1] -= s * par[i]
		}
	}
	for j, s := range sma {
		at := (j+1)*f.m - 1
		theta[at] += s
		for i := range f.q {
			theta[at+i+1] += s * par[f.p+i]
		}
	}
}

// differences returns the coefficients delta of y(t) = w(t) + sum delta(j) y(t-j), where w is
// the series differenced d times by one and D times by m. delta[j] belongs to lag j+1.
func (f arimaForm) differences() []float64 {
	poly := []float64{1}
	times := func(lag int) {
		next := make([]float64, len(poly)+lag)
		for i, v := range poly {
			next[i] += v
			next[i+lag] -= v
		}
		poly = next
	}
	for range f.d {
		times(1)
	}
	for range f.bigD {
		times(f.m)
	}
	delta := make([]float64, len(poly)-1)
	for j := range delta {
		delta[j] = -poly[j+1]
	}
	return delta
}

// difference returns x with the form's differences taken, without the values lost.
func (f arimaForm) difference(x []float64) []float64 {
	for range f.bigD {
		x = lagged(x, f.m)
	}
	for range f.d {
		x = lagged(x, 1)
	}
	return x
}

// lagged returns the differences x(t) - x(t-lag).
func lagged(x []float64, lag int) []float64 {
	out := make([]float64, max(0, len(x)-lag))
	for i := range out {
		out[i] = x[i+lag] - x[i]
	}
	return out
}

// fromPartial turns partial autocorrelations tanh(u) into the coefficients of a stationary
// autoregression (Monahan 1984; Jones 1980), in place.
func fromPartial(u []float64) {
	var last, next [32]float64
	for k := range u {
		a := math.Tanh(u[k])
		next[k] = a
		for j := range k {
			next[j] = last[j] - a*last[k-j-1]
		}
		copy(last[:k+1], next[:k+1])
	}
	copy(u, last[:len(u)])
}

// toPartial is the inverse of fromPartial. It returns false when phi is not stationary.
func toPartial(phi []float64) bool {
	work := append([]float64(nil), phi...)
	for k := len(phi) - 1; k >= 0; k-- {
		a := work[k]
		if !(math.Abs(a) < 1) {
			return false
		}
		phi[k] = math.Atanh(a)
		model.StepDown(work[:k+1], work[:k])
	}
	return true
}

// stationary reports whether all roots of 1 - sum phi(j) z^j lie outside the circle of the given
// radius.
func stationary(phi []float64, radius float64) bool {
	work := make([]float64, len(phi))
	r := 1.0
	for j, v := range phi {
		r *= radius
		work[j] = v * r
	}
	return model.IsStationary(work)
}

// clearOfUnit reports whether every root of the four polynomials is farther than nearUnit from
// the origin. Seasonal roots count by their m-th roots.
func (f arimaForm) clearOfUnit(par []float64) bool {
	const radius = nearUnit
	neg := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = -v
		}
		return out
	}
	seasonal := math.Pow(radius, float64(f.m))
	s := f.p + f.q
	return stationary(par[:f.p], radius) && stationary(neg(par[f.p:s]), radius) &&
		stationary(par[s:s+f.bigP], seasonal) && stationary(neg(par[s+f.bigP:f.arma()]), seasonal)
}
