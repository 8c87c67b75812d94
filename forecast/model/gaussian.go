package model

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Gaussian is a fitted model whose future has a mean and a standard deviation at each step, and
// normal errors.
type Gaussian struct {
	Fit      Info
	Moments  func(h int) (mean, sd []float64) // means and standard deviations of the next h steps
	Draw     func(h int, rng Noise) []float64 // one future of h steps; nil: independent normal errors
	Quantile func(p float64) float64          // quantile of the standardised error; nil: normal
}

var _ Fitted = (*Gaussian)(nil)

// Forecast returns the means, and intervals that are symmetric around them.
func (g *Gaussian) Forecast(h int, levels ...float64) (Forecast, error) {
	if err := CheckRequest(h, levels); err != nil {
		return Forecast{}, err
	}
	mean, sd := g.Moments(h)
	f := Forecast{Mean: mean, Intervals: NormalIntervals(mean, sd, levels)}
	if g.Quantile != nil {
		for k, level := range levels {
			q := g.Quantile(0.5 + level/200)
			for i := range mean {
				f.Intervals[k].Lo[i], f.Intervals[k].Hi[i] = mean[i]-q*sd[i], mean[i]+q*sd[i]
			}
		}
	}
	f.Bound()
	return f, nil
}

// Path draws one future.
func (g *Gaussian) Path(h int, rng Noise) []float64 {
	if h < 1 {
		return nil
	}
	if g.Draw != nil {
		return g.Draw(h, rng)
	}
	mean, sd := g.Moments(h)
	for i := range mean {
		mean[i] += sd[i] * Innovation(rng, i)
	}
	return mean
}

// Info returns the description of the fit.
func (g *Gaussian) Info() Info { return g.Fit }

// CheckRequest returns an error where the horizon or the levels of a forecast are invalid.
func CheckRequest(h int, levels []float64) error {
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

// ZScore returns the number of standard deviations on each side of the mean that hold level
// percent of a normal distribution.
func ZScore(level float64) float64 { return distuv.UnitNormal.Quantile(0.5 + level/200) }

// TScore returns the distance on each side of zero that holds level percent of Student's law with
// nu degrees of freedom.
func TScore(level, nu float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(0.5 + level/200)
}

// NormalIntervals returns symmetric intervals around mean, one for each level, with standard
// deviations sd.
func NormalIntervals(mean, sd []float64, levels []float64) []Interval {
	out := make([]Interval, len(levels))
	for k, level := range levels {
		q := ZScore(level)
		iv := Interval{Level: level, Lo: make([]float64, len(mean)), Hi: make([]float64, len(mean))}
		for i := range mean {
			iv.Lo[i], iv.Hi[i] = mean[i]-q*sd[i], mean[i]+q*sd[i]
		}
		out[k] = iv
	}
	return out
}
