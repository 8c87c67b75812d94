package forecast

import (
	"math"

	"capcli"
)

// trial is what the past of a series says of the members of a combination.
type trial struct {
	weights []float64
	cal     calibration
}

// horizon is how far ahead the trial looks.
func (a Auto) horizon(n int) int {
	h := a.Horizon
	if h < 1 {
		h = 8
		if s := usable(n, a.Seasons); len(s) > 0 {
			h = min(2*s[0], 96)
		}
	}
	return max(1, min(h, n/4))
}

// origins are the places to forecast from: the last ones, a horizon apart at
// most, that leave the first half of the series, and enough of it, to learn from.
func (a Auto) origins(n int) (count, every int) {
	h := a.horizon(n)
	room := n - h - max(6, n/2)
	if s := usable(n, a.Seasons); len(s) > 0 {
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
	t := trial{weights: make([]float64, len(members))}
	for k := range t.weights {
		t.weights[k] = members[k].prior
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
		o, err := Backtest(m.model, y, 1, BacktestOptions{Horizon: h, Origins: count, Every: every, Least: 4, Workers: 1, Levels: []float64{spreadLevel}})
		if err != nil {
			return t
		}
		tests[k] = o
	}
	t.weigh(tests)
	t.calibrate(tests)
	return t
}

// weigh sets each member's weight from its mean absolute error relative to the
// best one's, over the origins together. A member that failed anywhere is out.
func (t *trial) weigh(tests [][]Origin) {
	score := make([]float64, len(tests))
	best := math.Inf(1)
	for k, origins := range tests {
		for _, o := range origins {
			if o.Err != nil {
				score[k] = math.Inf(1)
				break
			}
			score[k] += MAE(o.Actual, o.Forecast.Mean)
		}
		if !known(score[k]) {
			score[k] = math.Inf(1)
		}
		best = math.Min(best, score[k])
	}
	if math.IsInf(best, 1) {
		return
	}
	// Evidence: with one origin weights go with the error, with many with its cube.
	power := weightPower * float64(len(tests[0])) / (float64(len(tests[0])) + 2)
	total := 0.0
	for k, s := range score {
		switch {
		case best == 0 && s > 0, s > 3*best, math.IsInf(s, 1):
			t.weights[k] = 0
		case best == 0:
		default:
			t.weights[k] *= math.Pow(best/s, power)
		}
		total += t.weights[k]
	}
	for k := range t.weights {
		t.weights[k] /= total
	}
}

// weightPower is how fast a member's weight falls with its error: a member with
// twice the error of the best has a sixteenth of its weight, given many origins.
const weightPower = 4.0

// mostOrigins is the number of places in the past to forecast from, at most.
const mostOrigins = 8

// calibrate measures the combination's own errors at the origins.
func (t *trial) calibrate(tests [][]Origin) {
	for i := range tests[0] {
		var parts []Forecast
		var weights []float64
		for k := range tests {
			if t.weights[k] > 0 && tests[k][i].Err == nil {
				parts = append(parts, tests[k][i].Forecast)
				weights = append(weights, t.weights[k])
			}
		}
		if len(parts) == 0 {
			continue
		}
		mean, spread := blend(parts, weights)
		spread = fan(spread, tests[0][i].At)
		t.cal.add(tests[0][i].Actual, mean, spread)
	}
}

// blend pools means and spreads (half widths of the first interval). The members
// are taken for a mixture: its variance is the mean of their variances, and the
// variance of their means (law of total variance; Draper 1995, "Assessment and
// propagation of model uncertainty"), so that members that disagree widen it.
func blend(parts []Forecast, weights []float64) (mean, spread []float64) {
	h := len(parts[0].Mean)
	mean, spread = make([]float64, h), make([]float64, h)
	row := make([]float64, len(parts))
	byMean, byMedian := combined{weights: weights, mean: true}, combined{weights: weights}
	for i := range h {
		for k := range parts {
			row[k] = parts[k].Mean[i]
		}
		middle := byMean.pool(row)
		mean[i] = middle/2 + byMedian.pool(row)/2
		apart := byMean.away(row, middle)
		for k := range parts {
			row[k] = parts[k].Intervals[0].Hi[i]/2 - parts[k].Intervals[0].Lo[i]/2
		}
		spread[i] = math.Hypot(byMean.pool(row), apart)
	}
	return mean, spread
}

// away is the weighted root mean square distance of one figure of each member from middle.
func (c *combined) away(row []float64, middle float64) float64 {
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
