package unconstrain

import (
	"math"

	"capcli/forecast/model"
)

const halfLog2Pi = 0.918938533204672741780329736405617639861397473637783412817

// upper returns the share of a standard normal above z.
func upper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// logUpper returns the logarithm of upper, to full precision in both tails.
func logUpper(z float64) float64 {
	if z < 8 {
		return math.Log(upper(z))
	}
	return -z*z/2 - halfLog2Pi - math.Log(mills(z))
}

// mills returns the density of a standard normal at z over its share above z. For large z, where
// the share has too few digits, it uses Laplace's continued fraction.
func mills(z float64) float64 {
	if z < 8 {
		return math.Exp(-z*z/2-halfLog2Pi) / upper(z)
	}
	f := z
	for k := 30; k >= 1; k-- {
		f = z + float64(k)/f
	}
	return f
}

// truncatedMean returns the mean of a normal variable with the given mean and standard
// deviation, given that it is above bound.
func truncatedMean(mean, sd, bound float64) float64 {
	if !(sd > 0) {
		return math.Max(mean, bound)
	}
	return math.Max(bound, mean+sd*mills((bound-mean)/sd))
}

// moments returns the mean and the standard deviation of v, with divisor n-1.
func moments(v []float64) (mean, sd float64) {
	mean = model.Mean(v)
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / math.Max(1, float64(len(v)-1)))
}
