package arima

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// boxCox returns the transformation (sign(y)|y|^lambda - 1)/lambda, or log y for lambda 0 (Box
// and Cox 1964; Bickel and Doksum 1981 for negative values). Missing values stay. It fails with
// ErrUnfit for values of zero or less where lambda is not positive, and where a result is
// infinite.
func boxCox(y []float64, lambda float64) ([]float64, error) {
	out := make([]float64, len(y))
	for i, v := range y {
		if v <= 0 && lambda <= 0 {
			return nil, fmt.Errorf("box-cox: value %d is %g, want values over 0 for lambda %g: %w", i+1, v, lambda, model.ErrUnfit)
		}
		if lambda == 0 {
			out[i] = math.Log(v)
		} else {
			out[i] = (math.Copysign(math.Pow(math.Abs(v), lambda), v) - 1) / lambda
		}
		if math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("box-cox: value %d is %g, too large for lambda %g: %w", i+1, v, lambda, model.ErrUnfit)
		}
	}
	return out, nil
}

// unBoxCox is the inverse of boxCox. It returns +Inf beyond the values that the transformation
// can reach.
func unBoxCox(x, lambda float64) float64 {
	if lambda == 0 {
		return math.Exp(x)
	}
	v := x*lambda + 1
	if lambda < 0 && v <= 0 {
		return math.Inf(1)
	}
	return math.Copysign(math.Pow(math.Abs(v), 1/lambda), v)
}

// unBoxCoxMean returns the mean of a value whose transformation has mean x and the variance
// given, to second order (Hyndman and Athanasopoulos 2021, section 5.6).
func unBoxCoxMean(x, variance, lambda float64) float64 {
	m := unBoxCox(x, lambda)
	if lambda == 0 {
		return m * (1 + variance/2)
	}
	v := x*lambda + 1
	return m * (1 + variance*(1-lambda)/(2*v*v))
}
