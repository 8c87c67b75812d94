// Package tbats is the model of De Livera, Hyndman & Snyder (2011): a Box-Cox transform, a
// damped trend, trigonometric seasons and ARMA errors. AICc chooses the form.
package tbats

import (
	"fmt"
	"math"
	"slices"

	"capcli/forecast/minimise"
)

// tbatsForm is one form of the model of De Livera, Hyndman & Snyder (2011, "Forecasting time
// series with complex seasonal patterns using exponential smoothing", JASA 106):
//
//	y_t^(w) = l + p b + sum s_j + d_t,    d_t = sum a_i d_(t-i) + sum c_i e_(t-i) + e_t
//	l' = l + p b + A d_t,   b' = p b + B d_t
//	s_j' = s_j cos q_j + s*_j sin q_j + G1 d_t,  s*_j' = s*_j cos q_j - s_j sin q_j + G2 d_t
//
// Here q_j = 2 pi j / m, y^(w) is the Box-Cox transform, l the level, b the slope, p the
// damping, s_j and s*_j the two states of harmonic j, d_t the ARMA error and e_t the innovation.
type tbatsForm struct {
	seasons, harmonics  []int // season lengths in steps, and how many harmonics each has
	boxCox, trend, damp bool
	ar, ma              int // orders of the ARMA errors d
}

// String returns the form, for example "TBATS(Box-Cox, {1,0}, damped trend, <24,3>)".
func (f tbatsForm) String() string {
	s := "TBATS("
	if f.boxCox {
		s += "Box-Cox, "
	}
	s += fmt.Sprintf("{%d,%d}, ", f.ar, f.ma)
	switch {
	case f.damp:
		s += "damped trend"
	case f.trend:
		s += "trend"
	default:
		s += "level"
	}
	for k, m := range f.seasons {
		s += fmt.Sprintf(", <%d,%d>", m, f.harmonics[k])
	}
	return s + ")"
}

func (f tbatsForm) places() int {
	n := 1 + f.ar + f.ma
	if f.trend {
		n++
	}
	for _, k := range f.harmonics {
		n += 2 * k
	}
	return n
}

// parameterCount returns the number of parameters that a search varies. Seed states do not
// count.
func (f tbatsForm) parameterCount() int {
	n := 1 + f.ar + f.ma + 2*len(f.seasons)
	for _, more := range []bool{f.trend, f.damp, f.boxCox} {
		if more {
			n++
		}
	}
	return n
}

// cloneWith returns a deep copy of f with the change applied.
func (f tbatsForm) cloneWith(change func(*tbatsForm)) tbatsForm {
	f.harmonics = slices.Clone(f.harmonics)
	change(&f)
	return f
}

// tbatsParams are the parameters of a form. A part that the form lacks has a neutral value: beta
// is 0, phi is 1 and lambda is 1.
type tbatsParams struct {
	alpha, beta, phi, lambda float64
	g1, g2                   []float64 // gains of each season on its two states
	ar, ma                   []float64 // coefficients of the ARMA errors, by lag
}

// tbatsFirst returns parameters to start a search from. Seasonal gains and ARMA coefficients are
// absent; encode fills them in.
func tbatsFirst(alpha float64) tbatsParams {
	return tbatsParams{alpha: alpha, beta: 0.005, phi: 0.97, lambda: 0.3}
}

// tbatsPhi is the lower bound of the damping; the upper bound is 1. gammaScale is the unit in
// which seasonal gains are searched: they are by nature smaller than the gain of the level.
const (
	tbatsPhi   = 0.8
	gammaScale = 0.1
)

// encode writes the parameters of p that the form has into x. The damping and lambda become
// angles, so that a search over them has no bounds.
func (f tbatsForm) encode(p tbatsParams, x []float64) {
	put := func(v float64) { x[0] = v; x = x[1:] }
	put(p.alpha)
	if f.trend {
		put(p.beta)
	}
	if f.damp {
		put(minimise.AngleOf(p.phi, tbatsPhi, 1))
	}
	for k := range f.seasons {
		g1, g2 := 0.001, 0.001
		if k < len(p.g1) {
			g1, g2 = p.g1[k], p.g2[k]
		}
		put(g1 / gammaScale)
		put(g2 / gammaScale)
	}
	for i := range f.ar {
		put(valueOrZero(p.ar, i))
	}
	for i := range f.ma {
		put(valueOrZero(p.ma, i))
	}
	if f.boxCox {
		put(minimise.AngleOf(p.lambda, 0, 1))
	}
}

// valueOrZero returns v[i], or 0 past the end of v.
func valueOrZero(v []float64, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// decode is the inverse of encode: it reads x into p. The slices of p must have the lengths of
// the form.
func (f tbatsForm) decode(x []float64, p *tbatsParams) {
	take := func() float64 {
		v := x[0]
		x = x[1:]
		return v
	}
	p.alpha, p.beta, p.phi, p.lambda = take(), 0, 1, 1
	if f.trend {
		p.beta = take()
	}
	if f.damp {
		p.phi = minimise.FromAngle(take(), tbatsPhi, 1)
	}
	for k := range f.seasons {
		p.g1[k], p.g2[k] = gammaScale*take(), gammaScale*take()
	}
	for i := range p.ar {
		p.ar[i] = take()
	}
	for i := range p.ma {
		p.ma[i] = take()
	}
	if f.boxCox {
		p.lambda = minimise.FromAngle(take(), 0, 1)
	}
}

// boxcox returns the Box-Cox transform of v. At lambda 1 it returns v, not v - 1.
func boxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Log(v)
	}
	return (math.Pow(v, lambda) - 1) / lambda
}

// boxcoxSlope returns the derivative of boxcox(v, lambda) by lambda, given z = boxcox(v,
// lambda).
func boxcoxSlope(v, z, lambda float64) float64 {
	log := math.Log(v)
	if lambda < 1e-4 {
		return log * log / 2
	}
	return ((lambda*z+1)*log - z) / lambda
}

// unboxcox is the inverse of boxcox. It returns 0 where no value has the transform v.
func unboxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Exp(v)
	}
	return math.Pow(math.Max(0, lambda*v+1), 1/lambda)
}
