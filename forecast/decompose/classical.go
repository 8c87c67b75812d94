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

// superSpans are the spans of the super smoother's three running lines, as shares of the data.
var superSpans = [3]float64{0.05, 0.2, 0.5}

// SuperSmooth smooths values at regular times by the variable-span smoother of Friedman (1984,
// "A variable span smoother", SLAC PUB-3477). At each place it chooses, of three running lines,
// the span of the one with the least smoothed cross-validated error. It smooths these spans,
// interpolates between the lines accordingly, and smooths the result.
func SuperSmooth(y []float64) []float64 {
	n := len(y)
	var lines, errors [3][]float64
	for k, span := range superSpans {
		line, left := runningLine(y, span)
		lines[k] = line
		errors[k], _ = runningLine(left, superSpans[1])
	}
	best := make([]float64, n)
	for i := range best {
		least := math.Inf(1)
		for k := range superSpans {
			if errors[k][i] < least {
				least, best[i] = errors[k][i], superSpans[k]
			}
		}
	}
	spans, _ := runningLine(best, superSpans[1])
	mixed := make([]float64, n)
	for i, s := range spans {
		s = math.Min(superSpans[2], math.Max(superSpans[0], s))
		k := 0
		if s >= superSpans[1] {
			k = 1
		}
		f := (s - superSpans[k]) / (superSpans[k+1] - superSpans[k])
		mixed[i] = (1-f)*lines[k][i] + f*lines[k+1][i]
	}
	out, _ := runningLine(mixed, superSpans[0])
	return out
}

// runningLine fits a line around each value to a window of the given share of the data; at the
// ends it uses the nearest whole window. It returns the height of the line at the value, and the
// absolute error of the fit without that value.
func runningLine(y []float64, span float64) (line, left []float64) {
	n := len(y)
	half := max(2, int(0.5*span*float64(n)+0.5))
	size := min(n, 2*half+1)
	line, left = make([]float64, n), make([]float64, n)
	// Sums of values minus the first one lose no digits.
	sum, moment := 0.0, 0.0
	for i := range size {
		sum += y[i] - y[0]
		moment += float64(i) * (y[i] - y[0])
	}
	width := float64(size)
	spread := width * (width*width - 1) / 12
	from := 0
	for i := range y {
		if next := min(max(0, i-half), n-size); next > from {
			out, in := y[from]-y[0], y[from+size]-y[0]
			moment += -sum + out + (width-1)*in // each place is one nearer the start
			sum += in - out
			from = next
		}
		mean := sum / width
		slope := 0.0
		if spread > 0 {
			slope = (moment - (width-1)/2*sum) / spread
		}
		off := float64(i-from) - (width-1)/2
		line[i] = y[0] + mean + slope*off
		weight := 1 / width
		if spread > 0 {
			weight += off * off / spread
		}
		if weight < 1 {
			left[i] = math.Abs(y[i]-line[i]) / (1 - weight)
		}
	}
	return line, left
}
