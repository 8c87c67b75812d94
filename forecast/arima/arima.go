// Package arima is seasonal ARIMA by exact likelihood, the choice of its order, and
// dynamic harmonic regression (DHR), with the filters, unit root tests and Box-Cox
// transformations that they need.
package arima

import (
	"fmt"
	"math"

	"capcli"
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

// ARIMA is the seasonal model of given order
//
//	phi(B) Phi(B^m) (1-B)^d (1-B^m)^D (y(t) - x(t)'b) = theta(B) Theta(B^m) e(t)
//
// (Box and Jenkins 1970), fitted by exact Gaussian likelihood. The series is differenced before
// the filter. The coefficients of the regressors (mean, drift and those given) are estimated
// jointly. With missing values the differences are part of the state instead, and their start is
// diffuse (Harvey and Pierse 1984; Durbin and Koopman 2012). The autoregressions are kept
// stationary, and moving averages are given in their invertible form.
type ARIMA struct {
	Order    Order
	Seasonal Order
	Period   int         // m; 1 or 0 means no season
	Mean     bool        // estimates a mean; ignored where the series is differenced
	Drift    bool        // estimates a linear trend; ignored with more than one difference
	Xreg     [][]float64 // regressors, each as long as the series plus the steps to forecast
	Lambda   *float64    // of the Box-Cox transformation; nil means none
	BiasAdj  bool        // point forecasts of a transformed series are means, not medians
	Method   Method
}

// form returns the shape of the model. It drops the season where Period is below 2.
func (a ARIMA) form() arimaForm {
	f := arimaForm{p: a.Order.AR, d: a.Order.Diff, q: a.Order.MA, m: 1}
	if a.Period > 1 {
		f.bigP, f.bigD, f.bigQ, f.m = a.Seasonal.AR, a.Seasonal.Diff, a.Seasonal.MA, a.Period
	}
	return f
}

// Fit implements model.Model. It fails with ErrTooShort when differencing leaves fewer values
// than coefficients plus two. It fails with ErrUnfit when the orders or the values are out of
// range or the regressors depend on each other.
func (a ARIMA) Fit(y capcli.Series) (model.Fitted, error) {
	fit, err := a.FitARIMA(y)
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// FitARIMA is Fit with the concrete type of the fit.
func (a ARIMA) FitARIMA(y capcli.Series) (*Fit, error) {
	if err := a.check(y.Values); err != nil {
		return nil, err
	}
	s, err := newArimaSeries(y.Values, a.Lambda)
	if err != nil {
		return nil, err
	}
	s.biasAdjust = a.BiasAdj
	s.given = a.Xreg
	return s.fit(a.form(), a.Mean, a.Drift, a.Method, true)
}

// check returns an error where an order, a value or a regressor is invalid.
func (a ARIMA) check(y []float64) error {
	for _, o := range []Order{a.Order, a.Seasonal} {
		if min(o.AR, o.Diff, o.MA) < 0 || max(o.AR, o.MA) > 30 || o.Diff > 3 {
			return fmt.Errorf("arima: order (%d,%d,%d), want autoregression and moving average of 0 to 30 and differences of 0 to 3: %w", o.AR, o.Diff, o.MA, model.ErrUnfit)
		}
	}
	if ar, ma := a.form().lags(); max(ar, ma)+a.form().lostValues() > 2000 {
		return fmt.Errorf("arima: the model reaches %d steps back, want 2,000 or less: a shorter season: %w", max(ar, ma)+a.form().lostValues(), model.ErrUnfit)
	}
	for i, v := range y {
		if math.IsInf(v, 0) {
			return fmt.Errorf("arima: value %d is infinite: %w", i+1, model.ErrUnfit)
		}
	}
	for j, x := range a.Xreg {
		if len(x) < len(y) {
			return fmt.Errorf("arima: regressor %d has %d values for a series of %d: %w", j+1, len(x), len(y), model.ErrUnfit)
		}
		for i, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("arima: regressor %d: value %d is not a finite number: %w", j+1, i+1, model.ErrUnfit)
			}
		}
	}
	return nil
}

// arimaSeries is a series prepared for fitting by several forms.
type arimaSeries struct {
	raw        []float64 // values given, from the first known one
	lead       int       // number of missing values before raw
	top        float64   // largest absolute value of raw
	y          []float64 // raw, transformed and scaled
	unit       float64   // what y was divided by
	lambda     *float64
	biasAdjust bool        // point forecasts are means, not medians
	given      [][]float64 // regressors of the caller, lead included
	// further returns given regressor j at any step t of y. It is nil where the regressors are
	// known only as far as given goes.
	further func(j, t int) float64
	spent   int // number of coefficients of a regression already subtracted from y
	notes   []string
}

// newArimaSeries prepares y: it drops missing values at the start, transforms the values and
// scales very large or very small ones near one, so that no square overflows. It fails with
// ErrTooShort where no value is known and with ErrUnfit where lambda does not suit a value.
func newArimaSeries(y []float64, lambda *float64) (*arimaSeries, error) {
	s := &arimaSeries{raw: y, lambda: lambda, unit: 1}
	for len(s.raw) > 0 && math.IsNaN(s.raw[0]) {
		s.raw = s.raw[1:]
		s.lead++
	}
	if len(s.raw) == 0 {
		return nil, fmt.Errorf("arima: no values: %w", model.ErrTooShort)
	}
	s.y, s.top = s.raw, finiteTop(s.raw)
	if lambda != nil {
		var err error
		if s.y, err = boxCox(s.raw, *lambda); err != nil {
			return nil, err
		}
	}
	if top := finiteTop(s.y); top > 0 && (top > 1e100 || top < 1e-100) {
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
