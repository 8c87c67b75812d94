package forecast

import (
	"fmt"
	"math"
)

// gaussian is a fitted model whose future has a mean and a standard deviation at
// each step, and normal errors.
type gaussian struct {
	info Info
	at   func(h int) (mean, sd []float64)
	path func(h int, rng Noise) []float64 // nil: independent normal errors
	t    func(p float64) float64          // quantile of the standardised error; nil: normal
}

var _ Fitted = (*gaussian)(nil)

// Forecast gives the means, and intervals that are symmetric around them.
func (g *gaussian) Forecast(h int, levels ...float64) (Forecast, error) {
	if err := checkAsked(h, levels); err != nil {
		return Forecast{}, err
	}
	mean, sd := g.at(h)
	f := Forecast{Mean: mean, Intervals: normalIntervals(mean, sd, levels)}
	if g.t != nil {
		for k, level := range levels {
			q := g.t(0.5 + level/200)
			for i := range mean {
				f.Intervals[k].Lo[i], f.Intervals[k].Hi[i] = mean[i]-q*sd[i], mean[i]+q*sd[i]
			}
		}
	}
	f.bound()
	return f, nil
}

// Path draws one future.
func (g *gaussian) Path(h int, rng Noise) []float64 {
	if h < 1 {
		return nil
	}
	if g.path != nil {
		return g.path(h, rng)
	}
	mean, sd := g.at(h)
	for i := range mean {
		mean[i] += sd[i] * innovation(rng, i)
	}
	return mean
}

// Info says what was fitted.
func (g *gaussian) Info() Info { return g.info }

// checkAsked returns an error where the horizon or the levels of a forecast are invalid.
func checkAsked(h int, levels []float64) error {
	if h < 1 {
		return fmt.Errorf("forecast of %d steps: want 1 or more", h)
	}
	for _, l := range levels {
		if !(l > 0 && l < 100) {
			return fmt.Errorf("interval of level %g: want a percentage between 0 and 100", l)
		}
	}
	return nil
}

// bound keeps figures that ran out of the range of a float inside it.
func (f *Forecast) bound() {
	clip := func(v []float64) {
		for i, x := range v {
			v[i] = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, x))
		}
	}
	clip(f.Mean)
	for _, iv := range f.Intervals {
		clip(iv.Lo)
		clip(iv.Hi)
	}
}

// medianLevel is the level in percent below which a range stands for the median,
// which is asked for so.
const medianLevel = 1.0

// contain lets each range reach to the mean. Where the future is skewed the mean may
// lie beyond the quantiles of a level: the range then holds more than its level.
// Ranges below medianLevel stay what they are.
func (f *Forecast) contain() {
	for _, iv := range f.Intervals {
		if iv.Level < medianLevel {
			continue
		}
		for i, m := range f.Mean {
			iv.Lo[i], iv.Hi[i] = min(iv.Lo[i], m), max(iv.Hi[i], m)
		}
	}
}
