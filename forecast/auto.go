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

// Auto forecasts with a weighted combination of models. It backtests each model on the series'
// own past (rolling origin), weights it by its errors there, and makes the intervals as wide as
// the errors of the combination. The M4 competition showed that a combination of plain methods
// is hard to beat (Makridakis, Spiliotis & Assimakopoulos 2020). Weights by past errors follow
// Bates & Granger (1969), and are pulled towards equal weights where the past is short. The
// combined forecast is the mean of the members' weighted mean and weighted median. The choice of
// candidates for each kind of series was tuned on ends of training data that were held back,
// never on test data; for growth by shares see growing.
//
// Auto fills missing values by straight lines, and a note says how many. Where no value of the
// series is negative, no forecast is. No forecast leaves the Reach of the series.
type Auto struct {
	Options
	Horizon int // number of steps ahead to optimise for; 0: two seasons, or 8

	logs bool // the series are logarithms of one that grows: see growing
	line bool // and lie on a straight line: see onLine
}

var _ model.Model = Auto{}

// candidates returns the names in Models of the models to try on a series, cheap ones first.
// members skips names that are not in the catalogue.
func (a Auto) candidates(y []float64) []string {
	seasons := decompose.UsableSeasons(len(y), a.Seasons)
	zeros := 0
	for _, v := range y {
		if v == 0 {
			zeros++
		}
	}
	switch {
	case a.line && len(seasons) > 0:
		return []string{lineName, "ets", "mstl-ets"}
	case a.line:
		return []string{lineName, "ets", "holt"}
	case a.logs && len(seasons) > 0:
		return []string{"holt", "drift", "damped", "ets", "mstl-ets"}
	case a.logs:
		return []string{"holt", "drift", "damped", "ets"}
	case 2*zeros > len(y) && slices.Min(y) >= 0:
		return []string{"tsb", "sba", "mean", "naive", "snaive"}
	case len(seasons) == 0 && len(y) < short:
		return []string{"theta", "dot", "damped", "arima", "drift"} // too few values to choose a form of smoothing
	case len(seasons) == 0 && len(y) < long:
		// On a short past a straight line is as accurate as the other models.
		return []string{"naive", "theta", "dot", "ets-damped", "arima", "drift"}
	case len(seasons) == 0 && len(y) > 1000:
		return []string{"naive", "theta", "dot", "damped"} // the search for an ARIMA would take too long
	case len(seasons) == 0:
		return []string{"naive", "theta", "dot", "damped", "arima"}
	case seasons[len(seasons)-1] >= day:
		// The past shows the shape of a long season directly, and searching the smoothing models
		// for it would take too long.
		return []string{"naive", "snaive", "dot", "mstl-ets-damped", "seasonal-ar"}
	}
	names := []string{"theta", "damped", "mstl-dot", "mstl-ets-damped", "seasonal-ar", "ces"}
	if seasons[0] == week && 0 < a.Horizon && a.Horizon <= week {
		names = append(names, "naive") // levels by the day wander; two weeks ahead it loses on a cloud's demand
	}
	return names
}

// lineName is the member simple.Line, which is not in Models.
const lineName = "line"

// day is the season of hourly series, in steps. A season of day or more counts as long.
const day = 24

// week is the season of daily series, in steps.
const week = 7

// member is one model of the combination.
type member struct {
	name  string
	model model.Model
	prior float64 // weight before any evidence
}

// short is the number of values below which Auto does not choose among forms of smoothing.
const short = 20

// long is the number of values from which naive has prior weight 2 on a series without season:
// the series is taken for a random walk until another model does better. The regression on the
// values of a season ago (seasonal-ar) has prior weight 2 where the shortest season is long,
// since the other members are special cases of it. The straight line has it where the values lie on it.
const long = 60

// members returns the candidates with their models and prior weights. Each season after the
// shortest adds a seasonal naive of its own.
func (a Auto) members(y []float64) []member {
	var out []member
	names := a.candidates(y)
	seasons := decompose.UsableSeasons(len(y), a.Seasons)
	kept := ""
	if a.logs {
		kept = "logarithms "
	}
	for _, name := range names {
		made, err := Models.Get(name)
		if name == lineName {
			made, err = func(o Options) model.Model { return simple.Line{Period: o.Period()} }, nil
		}
		if err != nil {
			continue
		}
		prior := 1.0
		switch {
		case name == lineName,
			name == "naive" && len(y) >= long && len(seasons) == 0,
			name == "seasonal-ar" && len(seasons) > 0 && seasons[0] >= day:
			prior = 2
		}
		out = append(out, member{name, a.Memory.member(kept+name, seasons, made(Options{Seasons: seasons, Seed: a.Seed, Quick: len(seasons) > 0})), prior})
	}
	if len(seasons) > 1 {
		for _, p := range seasons[1:] {
			out = append(out, member{fmt.Sprintf("snaive%d", p), simple.SeasonalWalk{Period: p}, 1})
		}
	}
	return out
}

// Fit backtests the candidates, weights them and fits those with a weight. It needs one known
// value.
func (a Auto) Fit(y capcli.Series) (model.Fitted, error) {
	filled, gaps, err := fill(y.Values)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	y.Values = filled
	lo, hi := slices.Min(filled), slices.Max(filled)
	members := a.members(filled)
	still := shareUnchanged(filled)
	if len(filled) < 4 || lo == hi || still >= standsStill {
		members = []member{{"naive", simple.Walk{Name: "naive", Lag: 1}, 1}}
	}
	trial := a.trial(y, members)
	trial.cal.still = still >= mostlyStill
	if fit := a.growing(y, gaps, trial.miss); fit != nil {
		return fit, nil
	}
	fit, err := a.fit(y, members, trial, gaps)
	if f, ok := fit.(*autoFitted); ok && still >= standsStill && lo < hi {
		f.info.Notes = append(f.info.Notes, fmt.Sprintf("it stands still in %.0f%% of the steps: the last value is repeated", math.Floor(100*still)))
	}
	return fit, err
}

// standsStill is the share of steps without a change from which a series stands still but for moves
// that no model foresees. On ends of training parts of GPU demand lower shares lose.
const standsStill = 0.85

// shareUnchanged returns the share of the values that equal the one before; 0 for a series of mostly
// zeros, which is intermittent, and for one of a few values.
func shareUnchanged(y []float64) float64 {
	same, zeros := 0, 0
	for i, v := range y {
		if v == 0 {
			zeros++
		}
		if i > 0 && v == y[i-1] {
			same++
		}
	}
	if len(y) < 8 || 2*zeros > len(y) {
		return 0
	}
	return float64(same) / float64(len(y)-1)
}

// fit fits the members that have a weight.
func (a Auto) fit(y capcli.Series, members []member, trial trial, gaps int) (model.Fitted, error) {
	f := &autoFitted{reach: reachOf(y.Values), low: math.Inf(-1)}
	if slices.Min(y.Values) >= 0 && !a.logs {
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
	f.cal, f.prior, f.y, f.period = trial.cal, widening(len(y.Values)), y.Values, firstSeason(len(y.Values), a.Seasons)
	f.describe(y.Values, notes, gaps)
	if f.period == 1 {
		f.tails = tailsOf(y.Values, f.info.Fitted)
	}
	if a.logs {
		f.info.Method += " (in logarithms)"
	}
	return f, nil
}

// widening returns the factor by which intervals are widened before there is evidence from a
// backtest: fitted models take their parameters for known and themselves for true. It is sqrt(1
// + (20/n)^1.5) for n values: near 1 for many, sqrt 2 for twenty.
func widening(n int) float64 { return math.Sqrt(1 + math.Pow(20/float64(max(2, n)), 1.5)) }

// fill returns y with straight lines through missing values, and the nearest known value before
// the first and after the last known one. gaps is the number of missing values. It fails where a
// value is infinite or none is known.
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
