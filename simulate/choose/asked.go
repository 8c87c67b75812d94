package choose

import "capcli/simulate"

func init() {
	Catalog.Add("asked", "the number of GPUs and the model that the job asked for", func(Settings) simulate.Chooser { return nil })
}
