package forecast

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
	"capcli/forecast/simple"
)

// Auto forecasts with a combination of models, each weighted by what it made of
// the series' own past (rolling origin), and with intervals as wide as the
// combination's errors there say. The M4 competition's lesson is that a
// combination of plain methods is hard to beat (Makridakis, Spiliotis &
// Assimakopoulos 2020); weights by past errors follow Bates & Granger (1969), and
// are pulled towards equal ones where the past is short. The pooled figure is the
// mean of the members' weighted mean and median. Which models are tried on which
// series was settled on ends of the past that were held back, never on what came.
//
// Missing values are filled by straight lines, and a note says how many. Where no
// value is below zero no forecast is; none goes out of Reach.
type Auto struct {
	Options
	Horizon int // steps ahead that matter most; 0: two seasons, or 8
}

var _ model.Model = Auto{}

// candidates are the members to try on a series, by their names in Models, cheap
// ones first; names that are not in the catalogue are passed over.
func (a Auto) candidates(y []float64) []string {
	seasons := decompose.UsableSeasons(len(y), a.Seasons)
	zeros := 0
	for _, v := range y {
		if v == 0 {
			zeros++
		}
	}
	switch {
	case 2*zeros > len(y) && slices.Min(y) >= 0:
		return []string{"tsb", "sba", "mean", "naive", "snaive"}
	case len(seasons) == 0 && len(y) < short:
		return []string{"theta", "dot", "damped", "arima", "drift"} // too few values to choose a form by
	case len(seasons) == 0 && len(y) < long:
		// Over a short past a straight line says as much as anything.
		return []string{"naive", "theta", "dot", "ets-damped", "arima", "drift"}
	case len(seasons) == 0 && len(y) > 1000:
		return []string{"naive", "theta", "dot", "damped"} // the search for an ARIMA would take too long
	case len(seasons) == 0:
		return []string{"naive", "theta", "dot", "damped", "arima"}
	case seasons[len(seasons)-1] >= day:
		// Of a long season the past tells the shape by itself, and a search over
		// smoothed ones would take long.
		return []string{"naive", "snaive", "dot", "mstl-ets-damped", "seasonal-ar"}
	}
	return []string{"theta", "damped", "mstl-dot", "mstl-ets-damped", "seasonal-ar", "ces"}
}

// day is the season of hours, the shortest that counts as long.
const day = 24

// member is one model of the combination.
type member struct {
	name  string
	model model.Model
	prior float64 // weight before any evidence
}

// short is the length below which no form of smoothing is chosen.
const short = 20

// long is the length from which a series without season is held for a random walk
// until another model does better: the walk counts twice. So does the regression
// on what came a long season ago, of which the other members are special cases.
const long = 60

// members are the candidates with their models; every longer season has its own
// seasonal naive.
func (a Auto) members(y []float64) []member {
	var out []member
	names := a.candidates(y)
	seasons := decompose.UsableSeasons(len(y), a.Seasons)
	for _, name := range names {
		made, err := Models.Get(name)
		if err != nil {
			continue
		}
		prior := 1.0
		switch {
		case name == "naive" && len(y) >= long && len(seasons) == 0,
			name == "seasonal-ar" && len(seasons) > 0 && seasons[0] >= day:
			prior = 2
		}
		out = append(out, member{name, a.Memory.member(name, seasons, made(Options{Seasons: seasons, Seed: a.Seed, Quick: len(seasons) > 0})), prior})
	}
	if len(seasons) > 1 {
		for _, p := range seasons[1:] {
			out = append(out, member{fmt.Sprintf("snaive%d", p), simple.SeasonalWalk{Period: p}, 1})
		}
	}
	return out
}

// Fit backtests the candidates, weighs and fits them; it needs one known value.
func (a Auto) Fit(y capcli.Series) (model.Fitted, error) {
	filled, gaps, err := fill(y.Values)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	y.Values = filled
	lo, hi := slices.Min(filled), slices.Max(filled)
	members := a.members(filled)
	if len(filled) < 4 || lo == hi {
		members = []member{{"naive", simple.Walk{Name: "naive", Lag: 1}, 1}}
	}
	trial := a.trial(y, members)
	f := &autoFitted{reach: ReachOf(filled), low: math.Inf(-1)}
	if lo >= 0 {
		f.low = 0
	}
	var notes []string
	for _, k := range trial.weightedMembers() {
		fit, err := members[k].model.Fit(y)
		if err != nil {
			continue
		}
		f.pool.members, f.pool.slots = append(f.pool.members, fit), append(f.pool.slots, k)
	}
	f.weights = trial.weightsOf(f.pool.slots)
	if len(f.pool.members) == 0 {
		fit, err := simple.Walk{Name: "naive", Lag: 1}.Fit(y)
		if err != nil {
			return nil, fmt.Errorf("auto: %w", err)
		}
		f.pool.members, f.weights, notes = []model.Fitted{fit}, stepWeights{{1}}, []string{"naive 1.00"}
	}
	f.pool.weights = f.weights.mean()
	for i, k := range f.pool.slots {
		notes = append(notes, fmt.Sprintf("%s %.2f", members[k].name, f.pool.weights[i]))
	}
	f.cal, f.prior, f.n = trial.cal, widening(len(filled)), len(filled)
	f.describe(filled, notes, gaps)
	return f, nil
}

// widening is how much wider than fitted models say an interval must be before
// any backtest: parameters fitted to n values are not known, and no model is the
// true one. It goes from 1 for many values to sqrt 2 for twenty.
func widening(n int) float64 { return math.Sqrt(1 + math.Pow(20/float64(max(2, n)), 1.5)) }

// fill puts straight lines through missing values, and the nearest known value
// beyond the first and the last.
func fill(y []float64) (out []float64, gaps int, err error) {
	out = slices.Clone(y)
	last := -1
	for i, v := range y {
		if math.IsInf(v, 0) {
			return nil, 0, fmt.Errorf("value %d is infinite: %w", i+1, model.ErrUnfit)
		}
		if math.IsNaN(v) {
			gaps++
			continue
		}
		for j := last + 1; j < i; j++ {
			if last < 0 {
				out[j] = v
			} else {
				w := float64(j-last) / float64(i-last)
				out[j] = y[last]*(1-w) + v*w
			}
		}
		last = i
	}
	if last < 0 {
		return nil, gaps, fmt.Errorf("%d values, none known: %w", len(y), model.ErrTooShort)
	}
	for j := last + 1; j < len(y); j++ {
		out[j] = y[last]
	}
	return out, gaps, nil
}
