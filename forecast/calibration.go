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

// factor returns the half width of the interval of a level, in spreads. It pulls the conformal
// quantile towards the normal one times prior, the more the fewer origins there are: the errors
// of one origin count as little more than one observation.
func (c *calibration) factor(level, prior float64) float64 {
	normal := model.ZScore(level) * prior
	if len(c.ratios) == 0 {
		return normal
	}
	q := model.ConformalQuantile(slices.Clone(c.ratios), level/100)
	if q <= 0 {
		return normal
	}
	// A factor beyond four times the normal one, either way, is an accident of a short past.
	pull := math.Max(-math.Log(4), math.Min(math.Log(4), math.Log(q/normal)))
	trust := float64(c.origins) / (float64(c.origins) + 6)
	return normal * math.Exp(trust*pull)
}
