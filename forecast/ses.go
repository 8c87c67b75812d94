package forecast

import (
	"capcli"
	"capcli/forecast/model"
)

// SES is simple exponential smoothing, a level that follows the values and no
// more: the form ETS(A,N,N), level and weight by maximum likelihood, which is
// least squares here (Brown 1956; Hyndman et al. 2008, sec. 2.4).
type SES struct {
	Seed capcli.Seed
}

func init() {
	Models.Add("ses", "simple exponential smoothing", func(o Options) model.Model { return SES{Seed: o.Seed} })
}

// Fit finds the level and its weight.
func (s SES) Fit(y capcli.Series) (model.Fitted, error) {
	return ETS{Form: "ANN", Seed: s.Seed}.Fit(y)
}
