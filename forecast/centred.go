package forecast

import "math"

// etsMoving is the centred average over a season of m, half weight at both
// ends where m is even; NaN near the ends of y.
func etsMoving(y []float64, m int, out []float64) {
	half := m / 2
	sum := 0.0
	for i := range out {
		out[i] = math.NaN()
	}
	for i := 0; i < len(y); i++ {
		sum += y[i]
		if i >= 2*half+1 {
			sum -= y[i-2*half-1]
		}
		if i < 2*half {
			continue
		}
		total := sum
		if m%2 == 0 {
			total -= (y[i] + y[i-2*half]) / 2
		}
		out[i-half] = total / float64(m)
	}
}
