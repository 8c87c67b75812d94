package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// spreadLevel is the level, in percent, of the interval whose half width is one standard
// deviation of a normal distribution.
const spreadLevel = 68.26894921370859

// halfWidth returns half of the width of an interval at each step.
func halfWidth(iv model.Interval) []float64 {
	out := make([]float64, len(iv.Lo))
	for i := range out {
		out[i] = iv.Hi[i]/2 - iv.Lo[i]/2
	}
	return out
}

// calibration holds the errors of a backtest relative to the model's own spread. Intervals are
// calibrated by split conformal prediction (Vovk, Gammerman & Shafer 2005) over rolling origins
// (Stankeviciute, Alaa & van der Schaar 2021). Errors are divided by the spread at their step
// ahead, so that intervals keep their shape, and one factor for each level serves all steps.
type calibration struct {
	ratios  []float64 // |error| over spread, in no order
	origins int
	held    bool // the spreads are held: see hold
	still   bool // the series seldom moves: see narrowing
}

// add records the errors of one origin.
func (c *calibration) add(actual, mean, spread []float64) {
	before := len(c.ratios)
	for i, y := range actual {
		if r := math.Abs(y-mean[i]) / spread[i]; model.IsFinite(r) {
			c.ratios = append(c.ratios, r)
		} else if y == mean[i] {
			c.ratios = append(c.ratios, 0)
		}
	}
	if len(c.ratios) > before {
		c.origins++
	}
}

// factor returns the half width of the interval of a level, in spreads. It pulls prior, the half
// width before any evidence, towards the conformal quantile, the more the more origins there are:
// the errors of one origin count as little more than one observation.
func (c *calibration) factor(level, prior float64) float64 {
	if len(c.ratios) == 0 {
		return prior
	}
	q := model.ConformalQuantile(slices.Clone(c.ratios), level/100)
	if q <= 0 {
		return prior
	}
	// A factor beyond four times the prior one, either way, is an accident of a short past.
	pull := math.Max(-math.Log(4), math.Min(math.Log(4), math.Log(q/prior)))
	if pull < 0 {
		pull *= c.narrowing(level)
	}
	trust := float64(c.origins) / (float64(c.origins) + 6)
	return prior * math.Exp(trust*pull)
}

// narrowing returns the weight of errors that were smaller than expected, from 0 to 1. Where a
// series seldom moves, a few origins without a move tell of the range of 80 %, and nothing of that
// of 95 % and more, which is for the moves; in between the weight falls in a straight line.
func (c *calibration) narrowing(level float64) float64 {
	if !c.still {
		return 1
	}
	return math.Max(0, math.Min(1, (95-level)/15))
}
