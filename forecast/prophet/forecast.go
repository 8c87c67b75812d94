package prophet

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// fitted returns the fit as a forecasting model: it estimates the autocorrelation of the errors
// and the spread of future changes of slope. As in the paper, slopes are assumed to change in
// future at the rate of the places for a change, and by the mean size of the past changes. With
// changes of Laplace scale b at r places per history, the variance of the trend after a share u
// of a history is 2 b^2 r u^3 / 3.
func (f *pieces) fitted() *model.Gaussian {
	n := len(f.y)
	row, fit, left := make([]float64, f.width), make([]float64, n), model.NaNs(n)
	for i, y := range f.y {
		f.row(i, row)
		fit[i] = model.Dot(row, f.coef)
		if model.IsFinite(y) {
			left[i] = y/f.unit - fit[i]
		}
	}
	ar, last, own := f.errors(left)
	scale := 0.0
	for _, d := range f.coef[2 : 2+len(f.places)] {
		scale += math.Abs(d) / float64(len(f.places))
	}
	rate := float64(len(f.places))
	info := f.info(fit, left, scale, ar, own)
	at := func(h int) (mean, sd []float64) {
		mean, sd = make([]float64, h), make([]float64, h)
		columns := make([]float64, f.width)
		for i := range mean {
			f.row(n+i, columns)
			decay, u := math.Pow(ar, float64(i+1)), float64(i+1)/float64(n-1)
			mean[i] = (model.Dot(columns, f.coef) + decay*last) * f.unit
			noise := own * math.Sqrt((1-decay*decay)/(1-ar*ar))
			sd[i] = math.Hypot(noise, scale*math.Sqrt(2*rate*u*u*u/3)) * f.unit
		}
		return mean, sd
	}
	path := func(h int, rng model.Noise) []float64 {
		mean, _ := at(h)
		e, slope, trend := 0.0, 0.0, 0.0
		for i := range mean {
			if rng.Float64() < rate/float64(n-1) {
				change := scale * rng.ExpFloat64()
				if rng.Uint64()&1 == 0 {
					change = -change
				}
				slope += change
			}
			trend += slope / float64(n-1)
			e = ar*e + own*model.Innovation(rng, i)
			mean[i] += (trend + e) * f.unit
		}
		return mean
	}
	return &model.Gaussian{Fit: info, Moments: at, Draw: path}
}

// info describes the fit. Its one-step fitted values include the autoregression on the last
// error.
func (f *pieces) info(fit, left []float64, scale, ar, own float64) model.Info {
	n := len(f.y)
	info := model.Info{
		Method: fmt.Sprintf("Piecewise trend with %d places of change and %d seasons, AR(1) errors", len(f.places), len(f.waves)),
		Params: []model.Param{{Name: "level", Value: f.coef[0] * f.unit}, {Name: "slope", Value: f.coef[1] * f.unit / float64(n-1)}, {Name: "change.scale", Value: scale * f.unit}, {Name: "ar1", Value: ar}},
		LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
		Sigma2: own * own * f.unit * f.unit,
		Fitted: make([]float64, n),
	}
	for i := range fit {
		info.Fitted[i] = fit[i] * f.unit
		if i > 0 && model.IsFinite(left[i-1]) {
			info.Fitted[i] += ar * left[i-1] * f.unit
		}
	}
	return info
}

// errors returns the first autocorrelation of the errors, from 0 to 0.99; the error at the last
// step, as carried on from the last known one; and the standard deviation of the innovations.
func (f *pieces) errors(left []float64) (ar, last, own float64) {
	cross, square, sum, pairs, count := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, e := range left {
		if !model.IsFinite(e) {
			continue
		}
		sum += e * e
		count++
		if i > 0 && model.IsFinite(left[i-1]) {
			cross += e * left[i-1]
			square += left[i-1] * left[i-1]
			pairs++
		}
	}
	if pairs > 2 && square > 0 {
		ar = math.Max(0, math.Min(0.99, cross/square))
	}
	for i := len(left) - 1; i >= 0; i-- {
		if model.IsFinite(left[i]) {
			last = left[i] * math.Pow(ar, float64(len(left)-1-i))
			break
		}
	}
	free := math.Max(1, count-math.Min(count/2, float64(f.width-len(f.places))))
	return ar, last, math.Sqrt(sum / free * (1 - ar*ar))
}
