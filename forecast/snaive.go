package forecast

import (
	"capcli"
	"capcli/forecast/model"
)

// seasonalWalk is the random walk from season to season: y_t = y_(t-m) + e_t. On a
// series shorter than one season it is the plain walk, and says so.
type seasonalWalk struct{ period int }

// Fit fits the walk; it needs one known value.
func (s seasonalWalk) Fit(y capcli.Series) (model.Fitted, error) {
	if s.period > 1 && len(y.Values) <= s.period {
		f, err := walk{name: "snaive", lag: 1}.Fit(y)
		if g, ok := f.(*model.Gaussian); ok && err == nil {
			g.Fit.Notes = append(g.Fit.Notes, "the series is no longer than a season: the plain walk instead")
		}
		return f, err
	}
	return walk{name: "snaive", lag: max(1, s.period)}.Fit(y)
}
