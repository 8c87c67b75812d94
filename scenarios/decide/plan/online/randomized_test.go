package online

import "math"

// Alpha is the price of use under the lease over that on demand.
func (l *Lease) Alpha() float64 { return l.alpha() }

// DeterministicRatio is the most that the deterministic policy can pay over
// what hindsight would have: 2 - alpha, and no deterministic policy can promise
// less (Wang, Li and Liang, arXiv 1305.5608).
func DeterministicRatio(alpha float64) float64 { return 2 - alpha }

// RandomisedRatio is the same for the randomised policy, in the mean:
// e / (e - 1 + alpha), the least that any policy can promise.
func RandomisedRatio(alpha float64) float64 { return math.E / (math.E - 1 + alpha) }

// BreakEven is the on-demand spend, over the fee, from which having leased
// would have been cheaper: 1 / (1 - alpha).
func BreakEven(alpha float64) float64 { return breakEven(alpha) }

// PlayRandomized plays the randomised policy of the same paper without a past: the deterministic
// one with a break-even drawn once. In the mean it pays at most e / (e - 1 + alpha) times the
// least. u is the draw, from [0, 1).
func PlayRandomized(demand []int64, l Lease, u float64) (*Run, error) {
	return PlayAfter(demand, 0, l, u)
}

// RandomizedMean is the mean cost of the randomised policy over its draw, exactly:
// the draws that lead to the same number of periods cost the same. It plays
// the policy once for each such number.
func RandomizedMean(demand []int64, l Lease) (float64, error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	alpha := l.Alpha()
	var mean, below float64
	for n := int64(0); below < 1; n++ {
		upTo := 1.0
		if n < l.mostPeriods() {
			z := float64(n+1) * l.OnDemand.Float() / max(l.Fee.Float(), 1e-6)
			upTo = min(1, math.Expm1((1-alpha)*z)/(math.E-1+alpha))
		}
		r, err := l.run(demand, 0, n)
		if err != nil {
			return 0, err
		}
		mean += (upTo - below) * r.Cost.Float()
		below = upTo
	}
	return mean, nil
}
