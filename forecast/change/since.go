package change

import (
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// SinceChange wraps a model and fits it to the values since the last move of the level. It fits
// all values where the move's Gain is below sinceGain, or too few known values follow the move:
// fewer than 24, or than two strong seasons (of the shortest requested season where none is
// strong).
type SinceChange struct {
	Model   model.Model
	Seasons []int
}

var _ model.Model = SinceChange{}

const (
	sinceLeast = 24  // least number of values to fit
	sinceGain  = 3.0 // Changepoint.Gain from which the values before the move are left out
)

// Fit fits the model. The fitted values of its Info cover the whole given series.
func (m SinceChange) Fit(y capcli.Series) (model.Fitted, error) {
	from := m.firstValue(y)
	if from == 0 {
		return m.Model.Fit(y)
	}
	y.Values = y.Values[from:]
	y.Start = y.At(from)
	fit, err := m.Model.Fit(y)
	if err != nil {
		return nil, err
	}
	return &sinceChange{fit, from}, nil
}

// firstValue returns the index of the first value to fit.
func (m SinceChange) firstValue(y capcli.Series) int {
	one, err := strongSeason(y.Values, m.Seasons)
	if err != nil {
		return 0
	}
	moves, err := findChangepoints(y, one)
	if err != nil || len(moves) == 0 {
		return 0
	}
	least := sinceLeast
	switch {
	case len(one) > 0:
		least = max(least, 2*one[0])
	case len(m.Seasons) > 0:
		least = max(least, 2*slices.Min(m.Seasons))
	}
	last := moves[len(moves)-1]
	if last.Gain < sinceGain || len(model.Observed(y.Values[last.Index:])) < least {
		return 0
	}
	return last.Index
}

type sinceChange struct {
	model.Fitted
	from int
}

// Info describes the fit. Fitted values before the move are NaN.
func (s *sinceChange) Info() model.Info {
	info := s.Fitted.Info()
	if info.Fitted != nil {
		info.Fitted = append(model.NaNs(s.from), info.Fitted...)
	}
	return info
}

// FirstLearnt returns the index of the first value that a fit of SinceChange used, 0 for
// any other fit. It looks inside one fit that wraps another.
func FirstLearnt(fit model.Fitted) int {
	if outer, ok := fit.(interface{ Unwrap() model.Fitted }); ok {
		fit = outer.Unwrap()
	}
	if s, ok := fit.(*sinceChange); ok {
		return s.from
	}
	return 0
}
