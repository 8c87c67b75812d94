package forecast

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// Ranked is a model of the catalogue with what its backtest came to.
type Ranked struct {
	Name   string
	Score  Backtested
	Failed error // why it could not forecast from any origin; nil where it could from some
}

// Rank backtests the models of the catalogue that are named, and orders them by
// MASE, then by mean absolute error, then by name; those that could not forecast
// from every origin come after all others. A name that is in no catalogue is an error.
func Rank(names []string, y capcli.Series, with Options, o BacktestOptions) ([]Ranked, error) {
	out := make([]Ranked, 0, len(names))
	for _, name := range names {
		made, err := Models.Get(name)
		if err != nil {
			return nil, err
		}
		tests, err := Backtest(made(with), y, with.Period(), o)
		if err != nil {
			return nil, err
		}
		r := Ranked{Name: name, Score: Summarise(tests, o.Levels)}
		if r.Score.Failed == len(tests) {
			r.Failed = tests[0].Err
		}
		out = append(out, r)
	}
	last := func(v float64) float64 {
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(
			cmp.Compare(a.Score.Failed, b.Score.Failed),
			cmp.Compare(last(a.Score.MASE), last(b.Score.MASE)),
			cmp.Compare(last(a.Score.MAE), last(b.Score.MAE)),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}
