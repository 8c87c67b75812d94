package placement

import (
	"math/rand/v2"

	"capcli/simulate"

	"capcli"
)

func init() {
	Catalog.Add("random", "any node with room, by chance; a gang that fits on a node is never split", func() simulate.Placement {
		return random{capcli.Seed(0).Stream("placement/random")}
	})
}

// random takes any node with room with equal probability: the baseline for other
// placements. Its draws are the same in every run.
type random struct{ rng *rand.Rand }

// Draws declares that each question takes random numbers.
func (random) Draws() {}

func (r random) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	return leastNode(c, l, pools, func(int) float64 { return r.rng.Float64() }, dst)
}
