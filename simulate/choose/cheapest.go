package choose

import (
	"cmp"

	"capcli/simulate"
)

// The cost of a way is the pool's price of a GPU for an hour, times the GPUs, times the time that the rest
// of the job takes. Committed capacity counts at its price too, although it is paid whether held or not. A
// job without a deadline is on time in every way, so it takes its cheapest.
func init() {
	Catalog.Add("cheapest", "the least cost that meets the deadline; without a deadline the least; if none meets it, the earliest end", func(s Settings) simulate.Chooser {
		return ranked(s, onTime(func(a, b *option) int {
			return cmp.Or(cmp.Compare(a.cost[0], b.cost[0]), cmp.Compare(a.cost[1], b.cost[1]), cmp.Compare(a.takes, b.takes), cmp.Compare(a.gpus, b.gpus))
		}))
	})
}
