package forecast

import (
	"math"
)

const halfLog2Pi = 0.918938533204672741780329736405617639861397473637783412817

// upper is the share of a standard normal above z.
func upper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// logUpper is the logarithm of upper, to full precision in both tails.
func logUpper(z float64) float64 {
	if z < 8 {
		return math.Log(upper(z))
	}
	return -z*z/2 - halfLog2Pi - math.Log(mills(z))
}

// mills is the density of a standard normal at z over the share above z. Far out
// it is Laplace's continued fraction, since the share itself runs out of digits.
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

// truncatedMoments returns the mean and variance of a normal, given that it lies above
// bound.
func truncatedMoments(mean, sd, bound float64) (expected, variance float64) {
	if !(sd > 0) {
		return math.Max(mean, bound), 0
	}
	z := (bound - mean) / sd
	m := mills(z)
	return math.Max(bound, mean+sd*m), sd * sd * math.Max(0, 1-m*(m-z))
}
