package choose

import (
	"cmp"

	"capcli/simulate"
)

func init() {
	Catalog.Add("widest", "the most GPUs; of equal ones the earliest end", func(s Settings) simulate.Chooser {
		return ranked(s, func(a, b *option) int {
			return cmp.Or(cmp.Compare(b.gpus, a.gpus), cmp.Compare(a.takes, b.takes))
		})
	})
}
