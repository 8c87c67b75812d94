package forecast

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// trial holds the weights and the calibration that backtests of one series give.
type trial struct {
	weights [][]float64 // by step ahead, then by member; the last row is for all further steps
	cal     calibration
	miss    float64 // sum of the absolute errors of the combination at the origins, on the scale of the series
	off     float64 // the same on the scale of the members
	ahead   float64 // sum of the steps ahead of these errors
}

// horizon returns the number of steps ahead that the backtests forecast, for n values.
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

// origins returns the number of backtest origins and the number of steps between them. The
// origins lie at the end of the series, at most one horizon apart, and leave the first half of
// the series, and enough values, for the fit.
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

// trial backtests each member from the last origins and returns the weights and the calibration.
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
		// Many series run in parallel already, so the origins run in order here.
		o, err := Backtest(m.model, y, 1, BacktestOptions{Horizon: h, Origins: count, Every: every, Least: 4, InOrder: true, Levels: []float64{spreadLevel}})
		if err != nil {
			return t
		}
		tests[k] = o
	}
	t.weigh(members, tests)
	t.calibrate(tests, y.Values, firstSeason(n, a.Seasons), a.logs)
	return t
}

// weigh sets the weight of each member from its mean absolute error over all origins, relative
// to the best member's. A member that failed at any origin has weight 0. From a horizon of day
// on there are weights for each step: see byStep.
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

// scoreWeights returns the prior weights times a power of best score over own score, normalised
// to sum 1. Lower scores are better, and scores come from the given number of origins. A score
// above three times the best has weight 0.
func scoreWeights(prior, score []float64, origins int) []float64 {
	out, best, total := slices.Clone(prior), slices.Min(score), 0.0
	// The power is 4/3 with one origin and 3.2 with eight, the most.
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

// Constants of byStep. A step is scored by the errors of the steps near it: a step at a distance
// d counts exp(-d^2/2), d being the difference of the logarithms of the two step numbers over
// stepKernel, so that a step seven times as far counts six tenths. The errors of one step are
// few, so the errors of all steps make up the rest of the score. At the first steps naive has up to
// three times its weight, for a series with or without a season, and the median of the members
// counts more than their mean: demand often does not change from one step to the next, and a
// mean never forecasts that. All constants were tuned on ends of training data only.
const (
	stepKernel = 2.0
	stepShare  = 0.3 // share of the nearby steps in a member's score
	stepFirst  = 2.0 // number of steps over which the extra weights of the first steps fall to 1/e
)

// byStep sets weights for each step ahead: the best member two days ahead may be a poor one an
// hour ahead. Errors are divided by the median member's error at the same step, so that the
// large errors of far steps do not decide the weights of near ones.
func (t *trial) byStep(members []member, tests [][]Origin, score []float64) {
	errs := make([][]float64, len(tests)) // by member and step; nil for a member that failed
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
				own[k] *= 1 + 2*decayFirst(i)
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

// medianErrors returns, for each step, the median over the members of their summed errors, and
// the sum of these medians.
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

// stepWeightsNear returns the weight of the error at each step in the score of step i. Each
// weight is divided by the unit of its step.
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

// weightPower is the power of the error by which a member's weight falls, in the limit of many
// origins: twice the error of the best member then means a sixteenth of its weight.
const weightPower = 4.0

// mostOrigins is the largest number of backtest origins.
const mostOrigins = 8

// weightedMembers returns the indices of the members with a weight above 0 at any step.
func (t *trial) weightedMembers() []int {
	var out []int
	for k := range t.weights[0] {
		if slices.ContainsFunc(t.weights, func(row []float64) bool { return row[k] > 0 }) {
			out = append(out, k)
		}
	}
	return out
}

// weightsOf returns the weights of the given members. At a step where all of them are 0, all
// become 1.
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

// calibrate records the errors of the combination at the origins, over held spreads where the
// errors bear that out. logs says that the series are logarithms.
func (t *trial) calibrate(tests [][]Origin, y []float64, period int, logs bool) {
	held := calibration{held: true}
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
		held.add(tests[0][i].Actual, mean, hold(spread, y[:tests[0][i].At], period))
		for k, v := range tests[0][i].Actual {
			t.off += math.Abs(v - mean[k])
			t.ahead += float64(k + 1)
			if logs {
				t.miss += math.Abs(math.Exp(v) - math.Exp(mean[k]))
			} else {
				t.miss += math.Abs(v - mean[k])
			}
		}
	}
	if held.bearsHolding() {
		t.cal = held
	}
}

// stepWeights are weights by step ahead, then by member; the last row is for all further steps.
type stepWeights [][]float64

// mean returns the weight of each member, averaged over the steps.
func (w stepWeights) mean() []float64 {
	out := make([]float64, len(w[0]))
	for _, row := range w {
		for k, v := range row {
			out[k] += v / float64(len(w))
		}
	}
	return out
}

// blend combines the means and the spreads (half widths of the first interval) of the members.
// It treats the members as a mixture: the variance is the mean of their variances plus the
// variance of their means (law of total variance; Draper 1995, "Assessment and propagation of
// model uncertainty"), so disagreement widens it.
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

// fan multiplies the spread at step k by sqrt(1 + k/n), in place: a trend estimated from n
// values has a standard error that acts at every step, and models take the trend for known. For
// a random walk with drift this is exact.
func fan(spread []float64, n int) []float64 {
	for i := range spread {
		spread[i] *= math.Sqrt(1 + float64(i+1)/float64(max(1, n)))
	}
	return spread
}

func sumOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}
