package supply_test

import "math"

// secondsOfDay is the length of a day in seconds.
const secondsOfDay = 86400

// Gang is a set of nodes that a job needs all at once. Nodes fail independently.
type Gang struct {
	Nodes, Spares    int
	MeanUp, MeanDown float64 // of one node, seconds
}

// GangUp is how often a gang can run.
type GangUp struct {
	NodeAvailability float64 `json:"node_availability"`
	All              float64 `json:"p_all"`         // all nodes are up, without spares
	WithSpares       float64 `json:"p_with_spares"` // as many as the gang needs are up
	MTBF             float64 `json:"mtbf_gang_s"`   // between failures of one of the gang's nodes
	FailuresPerDay   float64 `json:"failures_per_day"`
}

// Availability returns how often the gang can run: with a = up/(up + down), all n nodes are up with
// probability a^n, and the gang fails at n times the rate of a node.
func (g Gang) Availability() GangUp {
	a := g.MeanUp / (g.MeanUp + g.MeanDown)
	mtbf := g.MeanUp / float64(g.Nodes)
	return GangUp{
		NodeAvailability: a,
		All:              math.Pow(a, float64(g.Nodes)),
		WithSpares:       atLeast(g.Nodes+g.Spares, g.Nodes, a),
		MTBF:             mtbf,
		FailuresPerDay:   secondsOfDay / mtbf,
	}
}

// binomial returns the probability of exactly k successes in n tries of probability p.
func binomial(n, k int, p float64) float64 {
	switch {
	case p <= 0 && k == 0, p >= 1 && k == n:
		return 1
	case p <= 0, p >= 1:
		return 0
	}
	ln := logFactorial(n) - logFactorial(k) - logFactorial(n-k)
	return math.Exp(ln + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// atLeast returns the probability of at least k successes in n tries of probability p. It sums the
// shorter tail's complement only when that is the smaller sum, so small results stay exact.
func atLeast(n, k int, p float64) float64 {
	if float64(k) > float64(n)*p { // the upper tail is the small one
		sum := 0.0
		for i := n; i >= k; i-- {
			sum += binomial(n, i, p)
		}
		return min(sum, 1)
	}
	sum := 0.0
	for i := range k {
		sum += binomial(n, i, p)
	}
	return 1 - sum
}
