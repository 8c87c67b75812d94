package decompose

import (
	"math"

	"capcli/forecast/model"
)

// Autocorrelations is the sample autocorrelation at lags 0..lags; zeros after lag 0 of a constant.
func Autocorrelations(y []float64, lags int) []float64 {
	out := make([]float64, lags+1)
	out[0] = 1
	mu := model.Mean(y)
	top := 0.0
	d := make([]float64, len(y))
	for i, v := range y {
		d[i] = v - mu
		top = math.Max(top, math.Abs(d[i]))
	}
	if top == 0 {
		return out
	}
	for i := range d {
		d[i] /= top
	}
	all := model.Dot(d, d)
	for k := 1; k <= lags && k < len(y); k++ {
		out[k] = model.Dot(d[k:], d) / all
	}
	return out
}

// Multiplicative is the multiplicative season of a classical decomposition: the mean
// ratio to the centred moving average by phase, normalised to mean 1.
func Multiplicative(y []float64, m int) []float64 {
	n := len(y)
	trend := make([]float64, n)
	average(y, m, trend)
	shift := m / 2
	sum, count := make([]float64, m), make([]float64, m)
	for i := shift; i+shift < n; i++ {
		t := trend[i-shift]
		if m%2 == 0 {
			t = (t + trend[i-shift+1]) / 2
		}
		if r := y[i] / t; model.IsFinite(r) {
			sum[i%m] += r
			count[i%m]++
		}
	}
	for j := range sum {
		sum[j] /= count[j]
	}
	mu := model.Mean(sum)
	for j := range sum {
		sum[j] /= mu
	}
	return sum
}
