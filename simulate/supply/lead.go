package supply

import (
	"math"
	"math/rand/v2"

	"capcli"
)

// z95 is the 95th percentile of the standard normal distribution.
const z95 = 1.6448536269514722

// LogNormalLead returns lead times with a median and a 95th percentile, log-normal in between. The n-th
// order has the same lead time whenever it is placed.
func LogNormalLead(median, p95 capcli.Seconds, rng *rand.Rand) func(n int64) capcli.Seconds {
	sigma := math.Log(float64(max(median, p95))/float64(max(1, median))) / z95
	numbered := numberedDraws(rng)
	return func(n int64) capcli.Seconds {
		t := math.Round(float64(max(1, median)) * math.Exp(sigma*numbered(n).NormFloat64()))
		return capcli.Seconds(min(max(1, t), float64(beyond)))
	}
}

// MeasuredLead returns lead times drawn from a list, each as likely as the others.
func MeasuredLead(list []capcli.Seconds, rng *rand.Rand) func(n int64) capcli.Seconds {
	numbered := numberedDraws(rng)
	return func(n int64) capcli.Seconds { return list[numbered(n).IntN(len(list))] }
}

// numberedDraws returns a function that returns the random numbers of number n, valid until its next call.
func numberedDraws(rng *rand.Rand) func(n int64) *rand.Rand {
	base := rng.Uint64()
	source := rand.NewPCG(base, 0)
	draws := rand.New(source)
	return func(n int64) *rand.Rand {
		source.Seed(base, uint64(n)*0xd1342543de82ef95+1)
		return draws
	}
}
