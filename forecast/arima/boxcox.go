package arima

import (
	"fmt"
	"math"

	"capcli/forecast/minimise"
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

// guerrero returns the lambda in [lower, upper] with which the spread of the series depends
// least on its level, over stretches of one season (Guerrero 1993, "Time-series analysis
// supported by power transformations", J. Forecasting 12). It returns 1 where the series is too
// short or not positive.
func guerrero(y []float64, period int, lower, upper float64) float64 {
	length := max(2, period)
	stretches := len(y) / length
	if stretches < 2 {
		return 1
	}
	y = y[len(y)-stretches*length:]
	var means, spreads []float64
	for s := range stretches {
		mean, sd, ok := stretch(y[s*length : (s+1)*length])
		if ok && !(mean > 0) {
			return 1
		}
		if ok {
			means, spreads = append(means, mean), append(spreads, sd)
		}
	}
	if len(means) < 2 {
		return 1
	}
	ratio := make([]float64, len(means))
	variation := func(lambda float64) float64 {
		for i := range means {
			ratio[i] = spreads[i] / math.Pow(means[i], 1-lambda)
		}
		mean, sd, _ := stretch(ratio)
		return sd / mean
	}
	if v := variation(1); math.IsNaN(v) || v == 0 {
		return 1
	}
	return minimise.Brent(variation, lower, upper, 0x1p-13)
}

// stretch returns the mean and standard deviation of the known values. ok is false for fewer
// than two.
func stretch(y []float64) (mean, sd float64, ok bool) {
	n := 0.0
	for _, v := range y {
		if v == v {
			mean += v
			n++
		}
	}
	if n < 2 {
		return 0, 0, false
	}
	mean /= n
	for _, v := range y {
		if v == v {
			sd += (v - mean) * (v - mean)
		}
	}
	return mean, math.Sqrt(sd / (n - 1)), true
}
