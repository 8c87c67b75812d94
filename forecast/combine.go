package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// combined is a fitted combination of models: their weighted mean or median. It combines the
// ends of the intervals in the same way (quantile averaging: Lichtendahl, Grushka-Cockayne &
// Winkler 2013).
type combined struct {
	members []model.Fitted
	weights []float64
	slots   []int // index of each member among the models that were tried; nil: its index here
	mean    bool  // combine by the mean, not by the median
	info    model.Info
}

// fitted returns the combined one-step fitted values of n steps, NaN where a member has none.
func (c *combined) fitted(n int) []float64 {
	out := model.NaNs(n)
	row, own := make([]float64, len(c.members)), make([][]float64, len(c.members))
	for k, m := range c.members {
		own[k] = m.Info().Fitted
	}
	for i := range out {
		for k, v := range own {
			row[k] = math.NaN()
			if i < len(v) {
				row[k] = v[i]
			}
		}
		if !slices.ContainsFunc(row, math.IsNaN) {
			out[i] = c.pool(row)
		}
	}
	return out
}

// pool returns the weighted mean or median of one value of each member.
func (c *combined) pool(row []float64) float64 {
	if c.mean {
		sum, all := 0.0, 0.0
		for i, v := range row {
			all += c.weights[i]
			sum += (v - sum) * c.weights[i] / all
		}
		return sum
	}
	return weightedMedian(row, c.weights)
}

// weightedMedian returns the value, in order of size, at which half of the total weight is
// reached, or the mean of two adjacent values where half lies exactly between them.
func weightedMedian(v, weights []float64) float64 {
	type one struct{ v, w float64 }
	all := make([]one, len(v))
	total := 0.0
	for i := range v {
		all[i] = one{v[i], weights[i]}
		total += weights[i]
	}
	slices.SortFunc(all, func(a, b one) int {
		switch {
		case a.v < b.v || a.v == b.v && a.w < b.w:
			return -1
		case a.v == b.v && a.w == b.w:
			return 0
		}
		return 1
	})
	sum := 0.0
	for i, a := range all {
		sum += a.w
		if math.Abs(sum-total/2) <= 1e-9*total && i+1 < len(all) {
			return a.v/2 + all[i+1].v/2
		}
		if sum > total/2 {
			return a.v
		}
	}
	return all[len(all)-1].v
}

// Forecast returns the combined means and ends of the intervals.
func (c *combined) Forecast(h int, levels ...float64) (model.Forecast, error) {
	all := make([]model.Forecast, len(c.members))
	for i, m := range c.members {
		f, err := m.Forecast(h, levels...)
		if err != nil {
			return model.Forecast{}, err
		}
		all[i] = f
	}
	row := make([]float64, len(all))
	pooled := func(pick func(model.Forecast) []float64) []float64 {
		out := make([]float64, h)
		for i := range out {
			for k := range all {
				row[k] = pick(all[k])[i]
			}
			out[i] = c.pool(row)
		}
		return out
	}
	f := model.Forecast{Mean: pooled(func(f model.Forecast) []float64 { return f.Mean }), Intervals: make([]model.Interval, len(levels))}
	for k, level := range levels {
		f.Intervals[k] = model.Interval{
			Level: level,
			Lo:    pooled(func(f model.Forecast) []float64 { return f.Intervals[k].Lo }),
			Hi:    pooled(func(f model.Forecast) []float64 { return f.Intervals[k].Hi }),
		}
	}
	return f, nil
}

// Path draws a member by its weight and returns a path of it, shifted to the combined means.
func (c *combined) Path(h int, rng model.Noise) []float64 {
	at := c.draw(rng)
	out := c.members[at].Path(h, rng)
	own, err := c.members[at].Forecast(h)
	if err != nil {
		return out
	}
	all, err := c.Forecast(h)
	if err != nil {
		return out
	}
	for i := range out {
		out[i] += all.Mean[i] - own.Mean[i]
	}
	return out
}

// Info returns what was combined.
func (c *combined) Info() model.Info { return c.info }
