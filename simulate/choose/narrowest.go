package choose

import (
	"cmp"

	"capcli/simulate"
)

// A job without a deadline is on time in every way, so it takes its narrowest.
func init() {
	Catalog.Add("narrowest", "the fewest GPUs that meet the deadline; without a deadline the fewest; if none meets it, the earliest end", func(s Settings) simulate.Chooser {
		return ranked(s, onTime(func(a, b *option) int {
			return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.takes, b.takes))
		}))
	})
}

// onTime ranks options that meet the deadline by rank, before all others by their end.
func onTime(rank func(a, b *option) int) func(a, b *option) int {
	return func(a, b *option) int {
		switch {
		case a.late && b.late:
			return cmp.Or(cmp.Compare(a.takes, b.takes), cmp.Compare(a.gpus, b.gpus))
		case a.late:
			return 1
		case b.late:
			return -1
		}
		return rank(a, b)
	}
}
