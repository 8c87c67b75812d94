package reliability

import "math"

// BestInterval returns how much work to do between two checkpoints that take cost, where failures come mtbf
// apart in the mean: the tau > 0 with exp((tau + C)/M) (1 - tau/M) = 1, which is M (1 + W(-exp(-1 - C/M)))
// with Lambert's W (Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
// FGCS 22:3, 2006). All times are seconds; both arguments must be positive.
//
// It solves x + c + log(1 - x) = 0 for x = tau/M in (0, 1), with c = C/M. The function is
// concave and falls from c, so Newton's steps from a point right of the root approach it from the
// right.
func BestInterval(cost, mtbf float64) float64 {
	c := cost / mtbf
	x := 1 - math.Exp(-1-c) // right of the root: log(1 - x) = -1 - c < -x - c
	if c < 0.1 {
		x = min(x, math.Sqrt(2*c)) // also right of it: log(1 - x) < -x - x²/2
	}
	for range 100 {
		step := (logRest(x) + c) * (1 - x) / x
		next := x + step
		if next <= 0 || next >= 1 || math.Abs(step) <= 1e-16*x {
			break
		}
		x = next
	}
	return mtbf * x
}

// logRest returns x + log(1 - x). For small x it sums the series -x²/2 - x³/3 - …, because the two
// terms nearly cancel.
func logRest(x float64) float64 {
	if x > 0.05 {
		return x + math.Log1p(-x)
	}
	sum, power := 0.0, x
	for k := 2.0; k < 20; k++ {
		power *= x
		sum -= power / k
	}
	return sum
}
