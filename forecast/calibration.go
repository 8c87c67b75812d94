package forecast

import (
	"math"
	"slices"

	"capcli/forecast/model"
)

// spreadLevel is the level whose half width is one standard deviation of a normal.
const spreadLevel = 68.26894921370859

// halfWidth is half of the width of an interval at each step.
func halfWidth(iv model.Interval) []float64 {
	out := make([]float64, len(iv.Lo))
	for i := range out {
		out[i] = iv.Hi[i]/2 - iv.Lo[i]/2
	}
	return out
}

// calibration is what a backtest said of a model's spread: split conformal prediction
// (Vovk, Gammerman & Shafer 2005) over rolling origins (Stankeviciute, Alaa & van der
// Schaar 2021). Errors are divided by the model's own spread at their step ahead, so
// that intervals keep its shape, and one factor for each level fits all steps.
type calibration struct {
	ratios  []float64 // |error| over spread; sorted on use
	origins int
}

// add takes the errors of one origin.
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

// factor is how many spreads the interval of a level goes to each side. The
// conformal quantile is pulled towards a normal one, widened by prior, as much as
// the backtest is short: the errors of one origin are nearly one observation.
func (c *calibration) factor(level, prior float64) float64 {
	normal := model.ZScore(level) * prior
	if len(c.ratios) == 0 {
		return normal
	}
	q := model.ConformalQuantile(slices.Clone(c.ratios), level/100)
	if q <= 0 {
		return normal
	}
	// Beyond four times either way it is an accident of a short past.
	pull := math.Max(-math.Log(4), math.Min(math.Log(4), math.Log(q/normal)))
	trust := float64(c.origins) / (float64(c.origins) + 6)
	return normal * math.Exp(trust*pull)
}
