// Package arima is seasonal ARIMA by exact likelihood, the choice of its order, and
// dynamic harmonic regression (DHR), with the filters and unit root tests that they need. The model of an order is
//
//	phi(B) Phi(B^m) (1-B)^d (1-B^m)^D (y(t) - x(t)'b) = theta(B) Theta(B^m) e(t)
//
// (Box and Jenkins 1970), fitted by exact Gaussian likelihood. The series is differenced before
// the filter. The coefficients of the regressors (mean, drift and those given) are estimated
// jointly. With missing values the differences are part of the state instead, and their start is
// diffuse (Harvey and Pierse 1984; Durbin and Koopman 2012). The autoregressions are kept
// stationary, and moving averages are given in their invertible form.
package arima

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// Method is how an ARIMA model is fitted.
type Method int

// The methods of fitting.
const (
	CSSML Method = iota // exact likelihood, started at the CSS estimates
	ML                  // exact likelihood, started at zero
	CSS                 // conditional sum of squares
)

// checkValues returns an error where a value is infinite.
func checkValues(y []float64) error {
	for i, v := range y {
		if math.IsInf(v, 0) {
			return fmt.Errorf("arima: value %d is infinite: %w", i+1, model.ErrUnfit)
		}
	}
	return nil
}

// arimaSeries is a series prepared for fitting by several forms.
type arimaSeries struct {
	raw   []float64   // values given, from the first known one
	lead  int         // number of missing values before raw
	top   float64     // largest absolute value of raw
	y     []float64   // raw, scaled
	unit  float64     // what y was divided by
	given [][]float64 // regressors of the caller, lead included
	// further returns given regressor j at any step t of y. It is nil where the regressors are
	// known only as far as given goes.
	further func(j, t int) float64
	spent   int // number of coefficients of a regression already subtracted from y
	notes   []string
}

// newArimaSeries prepares y: it drops missing values at the start and scales very large
// or very small ones near one, so that no square overflows. It fails with ErrTooShort where no value is known.
func newArimaSeries(y []float64) (*arimaSeries, error) {
	s := &arimaSeries{raw: y, unit: 1}
	for len(s.raw) > 0 && math.IsNaN(s.raw[0]) {
		s.raw = s.raw[1:]
		s.lead++
	}
	if len(s.raw) == 0 {
		return nil, fmt.Errorf("arima: no values: %w", model.ErrTooShort)
	}
	s.y, s.top = s.raw, finiteTop(s.raw)
	if top := s.top; top > 0 && (top > 1e100 || top < 1e-100) {
		_, e := math.Frexp(top)
		s.unit = math.Ldexp(1, e)
		s.y = model.Scaled(s.y, 1/s.unit)
	}
	return s, nil
}

// finiteTop returns the largest absolute value among the finite ones.
func finiteTop(y []float64) float64 {
	top := 0.0
	for _, v := range y {
		if a := math.Abs(v); a > top {
			top = a
		}
	}
	return top
}

// regressors returns the columns of the model and their names. A given column is as long as the
// caller made it.
func (s *arimaSeries) regressors(f arimaForm, mean, drift bool) (x [][]float64, names []string) {
	n := len(s.y)
	if mean && f.lostValues() == 0 {
		x, names = append(x, filled(n, func(int) float64 { return 1 })), append(names, "intercept")
	}
	if drift && f.d+f.bigD <= 1 {
		x, names = append(x, filled(n, func(i int) float64 { return float64(i + 1) })), append(names, "drift")
	}
	for j, g := range s.given {
		x, names = append(x, g[s.lead:]), append(names, fmt.Sprintf("xreg%d", j+1))
	}
	return x, names
}

// filled returns f(0), …, f(n-1).
func filled(n int, f func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}
