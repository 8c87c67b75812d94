package forecast

import (
	"capcli"
	"capcli/forecast/model"
)

// Options are what a model is made with.
type Options struct {
	Seasons []int       // lengths of season in steps, shortest first; none is without season
	Seed    capcli.Seed // for models whose intervals are simulated
	Memory  *Memory     // of the fits of members to one series; nil keeps none
	Quick   bool        // fewer starts of searches for parameters, as the members of Auto have it
}

// Period is the first season, or 1.
func (o Options) Period() int {
	if len(o.Seasons) == 0 {
		return 1
	}
	return o.Seasons[0]
}

// Models are the forecasting models by name.
var Models = capcli.Catalog[func(o Options) model.Model]{Kind: "model"}
