package forecast

import (
	"capcli"
	"capcli/forecast/model"
)

// Holt is exponential smoothing with a linear trend, damped if so asked: the
// forms ETS(A,A,N) and ETS(A,Ad,N) by maximum likelihood, which is least
// squares here (Holt 1957; Gardner and McKenzie 1985; Hyndman et al. 2008, sec. 2.4).
type Holt struct {
	Damped bool
	Quick  bool // as in ETS
	Seed   capcli.Seed
}

func init() {
	Models.Add("holt", "exponential smoothing with linear trend", func(o Options) model.Model { return Holt{Seed: o.Seed, Quick: o.Quick} })
	Models.Add("damped", "exponential smoothing with damped trend", func(o Options) model.Model {
		return Holt{Damped: true, Seed: o.Seed, Quick: o.Quick}
	})
}

// Fit finds level, slope, their weights and the damping.
func (h Holt) Fit(y capcli.Series) (model.Fitted, error) {
	form := "AAN"
	if h.Damped {
		form = "AAdN"
	}
	return ETS{Form: form, Seed: h.Seed, Quick: h.Quick}.Fit(y)
}
