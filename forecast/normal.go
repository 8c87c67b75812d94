package forecast

import "gonum.org/v1/gonum/stat/distuv"

// z is the number of standard deviations on each side of the mean that hold
// level percent of a normal distribution.
func z(level float64) float64 { return distuv.UnitNormal.Quantile(0.5 + level/200) }

// normalIntervals are symmetric intervals around mean with standard deviations sd.
func normalIntervals(mean, sd []float64, levels []float64) []Interval {
	out := make([]Interval, len(levels))
	for k, level := range levels {
		q := z(level)
		iv := Interval{Level: level, Lo: make([]float64, len(mean)), Hi: make([]float64, len(mean))}
		for i := range mean {
			iv.Lo[i], iv.Hi[i] = mean[i]-q*sd[i], mean[i]+q*sd[i]
		}
		out[k] = iv
	}
	return out
}
