package arima

import "capcli"

// ARIMA is the seasonal model of given order.
type ARIMA struct {
	Order    Order
	Seasonal Order
	Period   int         // m; 1 or 0 means no season
	Mean     bool        // estimates a mean; ignored where the series is differenced
	Drift    bool        // estimates a linear trend; ignored with more than one difference
	Xreg     [][]float64 // regressors, each as long as the series plus the steps to forecast
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

// FitARIMA fits the model.
func (a ARIMA) FitARIMA(y capcli.Series) (*Fit, error) {
	s, err := newArimaSeries(y.Values)
	if err != nil {
		return nil, err
	}
	s.given = a.Xreg
	return s.fit(a.form(), a.Mean, a.Drift, a.Method, true)
}
