package decompose

import (
	"math"

	"capcli/forecast/model"
)

// Autocorrelations returns the sample autocorrelations at lags 0..lags. Those of a constant
// series are zero after lag 0.
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

// Multiplicative returns the multiplicative season of m steps of a classical decomposition: the
// mean ratio to the centred moving average by phase, normalised to mean 1.
func Multiplicative(y []float64, m int) []float64 {
	trend := make([]float64, len(y))
	CentredAverage(y, m, trend)
	sum, count := make([]float64, m), make([]float64, m)
	for i, t := range trend {
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

// CentredAverage writes the centred moving average over a season of m steps to out, with half
// weight at both ends where m is even. It is NaN within half a season of the ends of y.
func CentredAverage(y []float64, m int, out []float64) {
	half := m / 2
	sum := 0.0
	for i := range out {
		out[i] = math.NaN()
	}
	for i, v := range y {
		sum += v
		if i >= 2*half+1 {
			sum -= y[i-2*half-1]
		}
		if i < 2*half {
			continue
		}
		total := sum
		if m%2 == 0 {
			total -= (v + y[i-2*half]) / 2
		}
		out[i-half] = total / float64(m)
	}
}
