// Package tbats is the model of De Livera, Hyndman & Snyder (2011): a Box-Cox transform,
// a damped trend, trigonometric seasons and ARMA errors, its form chosen by AIC.
package tbats

import (
	"fmt"
	"math"
	"slices"

	"capcli/forecast/minimise"
)

// tbatsForm is one form of the model of De Livera, Hyndman & Snyder (2011,
// "Forecasting time series with complex seasonal patterns using exponential
// smoothing", JASA 106):
//
//	y_t^(w) = l + p b + sum s_j + d_t,    d_t = sum a_i d_(t-i) + sum c_i e_(t-i) + e_t
//	l' = l + p b + A d_t,   b' = p b + B d_t
//	s_j' = s_j cos q_j + s*_j sin q_j + G1 d_t,  s*_j' = s*_j cos q_j - s_j sin q_j + G2 d_t
//
// with q_j = 2 pi j / m, and y^(w) the Box-Cox transform.
type tbatsForm struct {
	seasons, harmonics  []int
	boxCox, trend, damp bool
	ar, ma              int // orders of the errors d
}

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

// places is the number of states.
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

// parameterCount returns the number of parameters.
func (f tbatsForm) parameterCount() int {
	n := 1 + f.ar + f.ma + 2*len(f.seasons)
	for _, more := range []bool{f.trend, f.damp, f.boxCox} {
		if more {
			n++
		}
	}
	return n
}

// cloneWith returns a deep copy with the change applied.
func (f tbatsForm) cloneWith(change func(*tbatsForm)) tbatsForm {
	f.harmonics = slices.Clone(f.harmonics)
	change(&f)
	return f
}

// tbatsParams are the parameters of a form; what a form lacks is as if it were
// not there: no gain, no damping, no transform.
type tbatsParams struct {
	alpha, beta, phi, lambda float64
	g1, g2                   []float64 // of each season
	ar, ma                   []float64
}

// tbatsFirst are parameters from which a search may start.
func tbatsFirst(alpha float64) tbatsParams {
	return tbatsParams{alpha: alpha, beta: 0.005, phi: 0.97, lambda: 0.3}
}

// Bounds of the damping, and the gains in a season to those in the level: they
// are by nature smaller.
const (
	tbatsPhi   = 0.8
	gammaScale = 0.1
)

// encode writes what the form has of p into x: the damping and lambda as angles.
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

// decode reads x; p keeps its slices.
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

// boxcox is the transform of one value, which is itself, not one less, at 1.
func boxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Log(v)
	}
	return (math.Pow(v, lambda) - 1) / lambda
}

// boxcoxSlope is the derivative of boxcox by lambda, given the transform z.
func boxcoxSlope(v, z, lambda float64) float64 {
	log := math.Log(v)
	if lambda < 1e-4 {
		return log * log / 2
	}
	return ((lambda*z+1)*log - z) / lambda
}

// unboxcox inverts boxcox. It returns 0 where no value has the transform.
func unboxcox(v, lambda float64) float64 {
	switch {
	case lambda >= 1:
		return v
	case lambda < 1e-6:
		return math.Exp(v)
	}
	return math.Pow(math.Max(0, lambda*v+1), 1/lambda)
}
