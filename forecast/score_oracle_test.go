package forecast

import (
	"math"
	"slices"
)

// MAPE is the mean absolute error in percent of the actual values; it is
// infinite where one of them is 0 and was not met.
func MAPE(actual, mean []float64) float64 {
	return averageOf(actual, mean, func(y, f float64) float64 {
		if y == f {
			return 0
		}
		return 100 * math.Abs((y-f)/y)
	})
}

// SampleCRPS is the score of one actual value against draws from its forecast:
// E|X-y| - E|X-X'|/2 (Gneiting & Raftery 2007), exact for the draws' own
// distribution. It is NaN of no draw.
func SampleCRPS(actual float64, draws []float64) float64 {
	x := slices.Clone(draws)
	slices.Sort(x)
	n := float64(len(x))
	away, apart := 0.0, 0.0
	for i, v := range x {
		away += math.Abs(v - actual)
		apart += (2*float64(i) + 1 - n) * v
	}
	return away/n - apart/(n*n)
}
