// Package model holds what every forecasting model is: Model, Fitted and what they give,
// Forecast, Interval and Info; the noise of drawn paths; and the arithmetic of values of
// which some may be missing. Families of models are packages beside it.
package model

import (
	"errors"
	"math"

	"capcli"
)

// Model is a way to forecast, not yet fitted to anything. Fit does not change
// it, nor the series; it fails with an error that wraps ErrTooShort, ErrMissing
// or ErrUnfit when the model cannot be fitted to this series, never with a panic.
type Model interface {
	Fit(y capcli.Series) (Fitted, error)
}

// Fitted is a model fitted to a series. It is safe for use by several
// goroutines at once.
type Fitted interface {
	// Forecast gives the next h values with an interval for each level, in
	// percent between 0 and 100, in the order asked for. All figures are
	// finite, and Lo <= Mean <= Hi; an interval of less than one percent is the
	// median, and may lie beside the mean.
	Forecast(h int, levels ...float64) (Forecast, error)
	// Path draws one possible future of h values: joint over time, so that
	// sums and peaks of it are possible ones. Futures of several series that
	// go together take their chance from Innovations.
	Path(h int, rng Noise) []float64
	// Info says what was fitted.
	Info() Info
}

// Forecast is what is expected after the end of a series.
type Forecast struct {
	Mean      []float64 // point forecast: mean or median, as the model says
	Intervals []Interval
}

// Interval holds the actual value with the stated probability, in percent.
type Interval struct {
	Level float64   `json:"level"`
	Lo    []float64 `json:"lo"`
	Hi    []float64 `json:"hi"`
}

// Info describes a fitted model: figures that are not known are NaN.
type Info struct {
	Method string // "ARIMA(2,1,1)(0,1,0)[12] with drift"
	Params []Param
	LogLik float64 // of the data under the model
	AIC    float64
	AICc   float64
	BIC    float64
	Sigma2 float64   // variance of the innovations
	Fitted []float64 // one-step fitted values, NaN where there are none; on the series' own scale
	Notes  []string  // what was assumed or fallen back to
}

// Param is a named parameter of a fitted model, in the order in which papers give them.
type Param struct {
	Name  string
	Value float64
}

// Why a model cannot be fitted.
var (
	ErrTooShort = errors.New("the series is too short for this model")
	ErrMissing  = errors.New("the series has missing values, which this model cannot take")
	ErrUnfit    = errors.New("the series does not suit this model")
)

// Figures are all figures of a forecast.
func (f *Forecast) Figures() [][]float64 {
	out := [][]float64{f.Mean}
	for _, iv := range f.Intervals {
		out = append(out, iv.Lo, iv.Hi)
	}
	return out
}

// Bound keeps figures that ran out of the range of a float inside it.
func (f *Forecast) Bound() {
	clip := func(v []float64) {
		for i, x := range v {
			v[i] = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, x))
		}
	}
	clip(f.Mean)
	for _, iv := range f.Intervals {
		clip(iv.Lo)
		clip(iv.Hi)
	}
}

// Contain lets each range reach to the mean. Where the future is skewed the mean may
// lie beyond the quantiles of a level: the range then holds more than its level.
// Ranges below medianLevel stay what they are.
func (f *Forecast) Contain() {
	for _, iv := range f.Intervals {
		if iv.Level < MedianLevel {
			continue
		}
		for i, m := range f.Mean {
			iv.Lo[i], iv.Hi[i] = min(iv.Lo[i], m), max(iv.Hi[i], m)
		}
	}
}

// MedianLevel is the level in percent below which a range stands for the median,
// which is asked for so.
const MedianLevel = 1.0
