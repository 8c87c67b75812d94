// Package model defines what all forecasting models share: the interfaces Model and Fitted,
// their results Forecast, Interval and Info, the noise of drawn paths, and arithmetic on values
// of which some may be missing. Families of models are packages beside it.
package model

import (
	"errors"
	"math"

	"capcli"
)

// Model is a forecasting method that is not yet fitted. Fit changes neither the model nor the
// series. Where the model cannot be fitted to the series, Fit returns an error that wraps
// ErrTooShort, ErrMissing or ErrUnfit; it never panics.
type Model interface {
	Fit(y capcli.Series) (Fitted, error)
}

// Fitted is a model fitted to a series. It is safe for concurrent use.
type Fitted interface {
	// Forecast returns the next h values with an interval for each level, in the order of
	// levels, which are percentages between 0 and 100. All figures are finite, and Lo <= Mean <=
	// Hi. An interval of less than one percent stands for the median, and may lie beside the
	// mean.
	Forecast(h int, levels ...float64) (Forecast, error)
	// Path draws one possible future of h values, joint over time, so that its sums and peaks
	// are possible ones. Innovations provides the noise for correlated futures of several
	// series.
	Path(h int, rng Noise) []float64
	// Info describes the fit.
	Info() Info
}

// Forecast holds the values that a model expects after the end of a series.
type Forecast struct {
	Mean      []float64  // point forecast: mean or median, depending on the model
	Intervals []Interval // in the order of the requested levels
}

// Interval holds the actual value of each step with a probability of Level percent.
type Interval struct {
	Level float64   `json:"level"`
	Lo    []float64 `json:"lo"`
	Hi    []float64 `json:"hi"`
}

// Info describes a fitted model. Figures that are not known are NaN.
type Info struct {
	Method string // such as "ARIMA(2,1,1)(0,1,0)[12] with drift"
	Params []Param
	LogLik float64 // log-likelihood of the data under the model
	AIC    float64
	AICc   float64
	BIC    float64
	Sigma2 float64   // variance of the innovations
	Fitted []float64 // one-step fitted values on the scale of the series, NaN where there are none
	Notes  []string  // assumptions and fallbacks
}

// Param is a named parameter of a fitted model. Info lists parameters in the order in which
// papers give them.
type Param struct {
	Name  string
	Value float64
}

// Reasons why a model cannot be fitted.
var (
	ErrTooShort = errors.New("the series is too short for this model")
	ErrMissing  = errors.New("the series has missing values, which this model cannot take")
	ErrUnfit    = errors.New("the series does not suit this model")
)

// Figures returns the mean and the ends of all intervals. They share memory with f.
func (f *Forecast) Figures() [][]float64 {
	out := [][]float64{f.Mean}
	for _, iv := range f.Intervals {
		out = append(out, iv.Lo, iv.Hi)
	}
	return out
}

// Bound clips infinite values to the largest finite ones.
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

// Contain widens each range so that it includes the mean. Where the future is skewed the mean
// may lie beyond the quantiles of a level: the range then holds more than its level. Ranges
// below MedianLevel do not change.
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

// MedianLevel is the level in percent below which a range stands for the median: callers ask for
// the median by such a level.
const MedianLevel = 1.0
