package forecast

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// trial holds what backtests of one series say about the members of a combination.
type trial struct {
	weights [][]float64 // by step ahead, then by member; the last row holds beyond
	cal     calibration
}

// horizon is how far ahead the trial looks.
func (a Auto) horizon(n int) int {
	h := a.Horizon
	if h < 1 {
		h = 8
		if s := decompose.UsableSeasons(n, a.Seasons); len(s) > 0 {
			h = min(2*s[0], 96)
		}
	}
	return max(1, min(h, n/4))
}

// origins returns the places to forecast from. They are the last ones, at most one
// horizon apart, that leave the first half of the series, and enough values, for the
// fit.
func (a Auto) origins(n int) (count, every int) {
	h := a.horizon(n)
	room := n - h - max(6, n/2)
	if s := decompose.UsableSeasons(n, a.Seasons); len(s) > 0 {
		room = min(n-h-max(6, n/2), n-h-2*s[0]-2)
	}
	if room < 0 {
		return 1, h
	}
	every = max(1, min(h, room/2))
	return min(mostOrigins, room/every+1), every
}

// trial forecasts from the last origins with each member and weighs them.
func (a Auto) trial(y capcli.Series, members []member) trial {
	t := trial{weights: [][]float64{make([]float64, len(members))}}
	for k := range members {
		t.weights[0][k] = members[k].prior
	}
	n := len(y.Values)
	h := a.horizon(n)
	count, every := a.origins(n)
	if n < 8 || len(members) < 2 {
		return t
	}
	tests := make([][]Origin, len(members))
	for k, m := range members {
		// Series are many and run side by side: no goroutines here.
		o, err := Backtest(m.model, y, 1, BacktestOptions{Horizon: h, Origins: count, Every: every, Least: 4, InOrder: true, Levels: []float64{spreadLevel}})
		if err != nil {
			return t
		}
		tests[k] = o
	}
	t.weigh(members, tests)
	t.calibrate(tests)
	return t
}

// weigh sets each member's weight from its mean absolute error relative to the
// best one's, over the origins together. A member that failed anywhere is out. Far
// horizons have weights for each step: see byStep.
func (t *trial) weigh(members []member, tests [][]Origin) {
	score := make([]float64, len(tests))
	for k, origins := range tests {
		for _, o := range origins {
			if o.Err != nil {
				score[k] = math.Inf(1)
				break
			}
			score[k] += MAE(o.Actual, o.Forecast.Mean)
		}
		if !model.IsFinite(score[k]) {
			score[k] = math.Inf(1)
		}
	}
	switch {
	case math.IsInf(slices.Min(score), 1):
	case len(tests[0][0].Actual) < day:
		t.weights = [][]float64{scoreWeights(t.weights[0], score, len(tests[0]))}
	default:
		t.byStep(members, tests, score)
	}
}

// scoreWeights returns weights for scores from the given number of origins. Lower scores
// are better.
func scoreWeights(prior, score []float64, origins int) []float64 {
	out, best, total := slices.Clone(prior), slices.Min(score), 0.0
	// Evidence: with one origin weights go with the error, with many with its cube.
	power := weightPower * float64(origins) / (float64(origins) + 2)
	for k, s := range score {
		switch {
		case best == 0 && s > 0, s > 3*best, math.IsInf(s, 1):
			out[k] = 0
		case best == 0:
		default:
			out[k] *= math.Pow(best/s, power)
		}
		total += out[k]
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

// How steps are judged by those near them. What is near counts by the difference
// of the logarithms of the steps: one seven times as far counts six tenths. All
// of the steps together say the rest, for the errors of one step are few. At the
// first steps the last value counts twice, as it does for series without season,
// and the median of the members more than their mean: where demand mostly stays
// what it was, a mean never says so. All of it was settled on ends of training
// parts alone.
const (
	stepKernel = 2.0
	stepShare  = 0.3 // of the steps near by in a member's score
	stepFirst  = 2.0 // steps over which what holds for the first ones fades to 1/e
)

// byStep sets weights for each step ahead: a member that is best two days ahead may
// be a poor one in an hour, and the other way round. Errors are taken in units of
// the median member's at their step, so that far steps, with large errors, do not
// speak for near ones.
func (t *trial) byStep(members []member, tests [][]Origin, score []float64) {
	errs := make([][]float64, len(tests)) // by member and step; nil failed
	for k, origins := range tests {
		if !math.IsInf(score[k], 1) {
			errs[k] = absoluteErrors(origins)
		}
	}
	unit, sum := medianErrors(errs)
	prior, near := t.weights[0], slices.Clone(score)
	t.weights = make([][]float64, len(unit))
	for i := range unit {
		if i%max(1, i/day) != 0 { // far steps differ little from their neighbours
			t.weights[i] = t.weights[i-1]
			continue
		}
		counts, own := stepWeightsNear(unit, i), slices.Clone(prior)
		for k, e := range errs {
			if e != nil && sum > 0 {
				near[k] = stepShare*model.Dot(counts, e) + (1-stepShare)*sumOf(e)/sum
			}
		}
		for k, m := range members {
			if m.name == "naive" && m.prior == 1 {
				own[k] *= 1 + decayFirst(i)
			}
		}
		t.weights[i] = scoreWeights(own, near, len(tests[0]))
	}
}

// decayFirst returns 1 at the first step and decays to zero within a few steps.
func decayFirst(i int) float64 { return math.Exp(-float64(i) / stepFirst) }

// absoluteErrors returns the sums of the absolute errors by step.
func absoluteErrors(origins []Origin) []float64 {
	out := make([]float64, len(origins[0].Actual))
	for _, o := range origins {
		for i, v := range o.Actual {
			out[i] += math.Abs(v - o.Forecast.Mean[i])
		}
	}
	return out
}

// medianErrors returns the median over the members of their summed error at each step, and
// the sum of the medians.
func medianErrors(errs [][]float64) (out []float64, sum float64) {
	have := slices.DeleteFunc(slices.Clone(errs), func(e []float64) bool { return e == nil })
	out, row := make([]float64, len(have[0])), make([]float64, len(have))
	for i := range out {
		for k, e := range have {
			row[k] = e[i]
		}
		out[i] = model.Median(row)
	}
	return out, sumOf(out)
}

// stepWeightsNear returns the weights of the errors at all steps in the score of step i. Each
// is divided by the unit of its step.
func stepWeightsNear(unit []float64, i int) []float64 {
	out, all := make([]float64, len(unit)), 0.0
	for j, u := range unit {
		if u > 0 {
			d := math.Log(float64(j+1)/float64(i+1)) / stepKernel
			w := math.Exp(-d * d / 2)
			out[j] = w / u
			all += w
		}
	}
	for j := range out {
		out[j] /= all
	}
	return out
}

// weightPower is how fast a member's weight falls with its error: a member with
// twice the error of the best has a sixteenth of its weight, given many origins.
const weightPower = 4.0

// mostOrigins is the number of places in the past to forecast from, at most.
const mostOrigins = 8

// weightedMembers returns the members with a weight at any step.
func (t *trial) weightedMembers() []int {
	var out []int
	for k := range t.weights[0] {
		if slices.ContainsFunc(t.weights, func(row []float64) bool { return row[k] > 0 }) {
			out = append(out, k)
		}
	}
	return out
}

// weightsOf returns the weights of some of the members. Where none of them has a
// weight, all are equal.
func (t *trial) weightsOf(members []int) stepWeights {
	out := make(stepWeights, len(t.weights))
	for i, row := range t.weights {
		if i > 0 && &row[0] == &t.weights[i-1][0] {
			out[i] = out[i-1]
			continue
		}
		for _, k := range members {
			out[i] = append(out[i], row[k])
		}
		if sumOf(out[i]) == 0 {
			for k := range out[i] {
				out[i][k] = 1
			}
		}
	}
	return out
}

// calibrate measures the combination's own errors at the origins.
func (t *trial) calibrate(tests [][]Origin) {
	for i := range tests[0] {
		var parts []model.Forecast
		var members []int
		for _, k := range t.weightedMembers() {
			if tests[k][i].Err == nil {
				parts = append(parts, tests[k][i].Forecast)
				members = append(members, k)
			}
		}
		if len(parts) == 0 {
			continue
		}
		mean, spread := t.weightsOf(members).blend(parts)
		spread = fan(spread, tests[0][i].At)
		t.cal.add(tests[0][i].Actual, mean, spread)
	}
}

// stepWeights are weights of members by step ahead; the last row holds beyond.
type stepWeights [][]float64

// mean is the mean weight of each member.
func (w stepWeights) mean() []float64 {
	out := make([]float64, len(w[0]))
	for _, row := range w {
		for k, v := range row {
			out[k] += v / float64(len(w))
		}
	}
	return out
}

// blend pools means and spreads (half widths of the first interval). The members
// are taken for a mixture: its variance is the mean of their variances, and the
// variance of their means (law of total variance; Draper 1995, "Assessment and
// propagation of model uncertainty"), so that members that disagree widen it.
func (w stepWeights) blend(parts []model.Forecast) (mean, spread []float64) {
	h := len(parts[0].Mean)
	mean, spread = make([]float64, h), make([]float64, h)
	var means, spreads, weights []float64
	for i := range h {
		means, spreads, weights = means[:0], spreads[:0], weights[:0]
		for k, v := range w[min(i, len(w)-1)] {
			if v > 0 {
				iv := parts[k].Intervals[0]
				means, spreads, weights = append(means, parts[k].Mean[i]), append(spreads, iv.Hi[i]/2-iv.Lo[i]/2), append(weights, v)
			}
		}
		byMean, byMedian := combined{weights: weights, mean: true}, combined{weights: weights}
		middle, median := byMean.pool(means), byMedian.pool(means)
		mean[i] = middle/2 + median/2
		if len(w) > 1 {
			mean[i] += decayFirst(i) * (median - mean[i])
		}
		spread[i] = math.Hypot(byMean.pool(spreads), byMean.rmsDistance(means, middle))
	}
	return mean, spread
}

// rmsDistance returns the weighted root mean square distance of the members' values
// from middle.
func (c *combined) rmsDistance(row []float64, middle float64) float64 {
	all := 0.0
	for _, w := range c.weights {
		all += w
	}
	out := 0.0
	for k, v := range row {
		out = math.Hypot(out, (v-middle)*math.Sqrt(c.weights[k]/all))
	}
	return out
}

// fan widens spreads by sqrt(1 + k/n) at step k: what n values say of the trend is
// off by its standard error at every step, which models take for known. For a
// random walk with drift this is exact.
func fan(spread []float64, n int) []float64 {
	for i := range spread {
		spread[i] *= math.Sqrt(1 + float64(i+1)/float64(max(1, n)))
	}
	return spread
}

// sumOf is the sum.
func sumOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}
