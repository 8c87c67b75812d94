package choose

import (
	"cmp"

	"capcli/simulate"
)

func init() {
	Catalog.Add("soonest", "the earliest end; of equal ones the fewest GPUs", func(s Settings) simulate.Chooser {
		return ranked(s, func(a, b *option) int {
			return cmp.Or(cmp.Compare(a.takes, b.takes), cmp.Compare(a.gpus, b.gpus))
		})
	})
}
