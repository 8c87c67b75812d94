package reliability

import "math"

// Interval is how much work to do between two checkpoints, by four formulas. All times are seconds
// of work, without the checkpoint itself.
//
//	young        sqrt(2 C M)                               (Young, CACM 17:9, 1974)
//	daly, first  sqrt(2 C M) - C
//	daly         sqrt(2 C M) (1 + sqrt(C/2M)/3 + C/18M) - C for C < 2M, else M
//	exact        the tau > 0 with exp((tau + C)/M) (1 - tau/M) = 1,
//	             which is M (1 + W(-exp(-1 - C/M))) with Lambert's W
//
// C is the time that a checkpoint takes and M the mean time between failures of the whole job. The
// last three are of Daly, "A higher order estimate of the optimum checkpoint interval for restart
// dumps", FGCS 22:3, 2006.
type Interval struct {
	Young     float64 `json:"young_s"`
	DalyFirst float64 `json:"daly_first_s"`
	Daly      float64 `json:"daly_s"`
	Exact     float64 `json:"exact_s"`
	// Overhead at the exact interval and at Young's: see Overhead.
	OverheadExact float64 `json:"overhead_exact"`
	OverheadYoung float64 `json:"overhead_young"`
}

// BestInterval returns the best intervals for checkpoints of cost seconds and a mean time between
// failures of mtbf seconds. Both must be positive.
func BestInterval(cost, mtbf float64) Interval {
	young := math.Sqrt(2 * cost * mtbf)
	i := Interval{Young: young, DalyFirst: young - cost, Daly: mtbf, Exact: exactInterval(cost, mtbf)}
	if cost < 2*mtbf {
		half := cost / (2 * mtbf)
		i.Daly = young*(1+math.Sqrt(half)/3+half/9) - cost
	}
	i.OverheadExact = Overhead(i.Exact, cost, mtbf)
	i.OverheadYoung = Overhead(i.Young, cost, mtbf)
	return i
}

// Overhead returns the expected extra time per unit of work when a checkpoint of cost seconds
// follows each interval of work and a restart costs nothing: M (exp((tau + C)/M) - 1)/tau - 1.
func Overhead(interval, cost, mtbf float64) float64 {
	return mtbf*math.Expm1((interval+cost)/mtbf)/interval - 1
}

// exactInterval solves x + c + log(1 - x) = 0 for x = tau/M in (0, 1), with c = C/M. The function is
// concave and falls from c, so Newton's steps from a point right of the root approach it from the
// right.
func exactInterval(cost, mtbf float64) float64 {
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
