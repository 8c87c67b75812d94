package profile

import "math"

// distributionBins is the number of bins of a Distribution.
const distributionBins = 128

// Distribution is a histogram of a value over time. Its memory does not grow with the values.
type Distribution struct {
	Top  float64 // upper end of the range; higher values count in the last bin
	bins []int64 // microseconds in each bin; nil before the first value
	time int64   // microseconds in all bins
	sum  float64 // sum of value x microseconds
	max  float64 // highest value
}

// Add counts a value that held for some microseconds.
func (d *Distribution) Add(v float64, micros int64) {
	i := 0
	if d.Top > 0 {
		i = min(int(v/d.Top*distributionBins), distributionBins-1)
	}
	if d.bins == nil {
		d.bins = make([]int64, distributionBins)
	}
	d.bins[i] += micros
	d.time += micros
	d.sum += v * float64(micros)
	d.max = max(d.max, v)
}

// Merge adds the values of o, which must have the same range.
func (d *Distribution) Merge(o *Distribution) {
	if d.bins == nil && o.bins != nil {
		d.bins = make([]int64, distributionBins)
	}
	for i, n := range o.bins {
		d.bins[i] += n
	}
	d.time, d.sum, d.max = d.time+o.time, d.sum+o.sum, max(d.max, o.max)
}

// Time returns the time with values, in microseconds.
func (d *Distribution) Time() int64 { return d.time }

// Mean returns the mean over time, or NaN without values.
func (d *Distribution) Mean() float64 { return d.sum / float64(d.time) }

// Quantile returns the value at or below which the value was for the share q of the time, from 0
// to 1. It is exact to 1/128 of the range, and NaN without values.
func (d *Distribution) Quantile(q float64) float64 {
	if d.time == 0 {
		return math.NaN()
	}
	left := q * float64(d.time)
	for i, n := range d.bins {
		if left -= float64(n); left <= 0 && n > 0 {
			// The end of the bin, or the highest value if that is lower.
			return min(d.max, float64(i+1)*d.Top/distributionBins)
		}
	}
	return d.max
}

// Average is the mean of a value over time.
type Average struct {
	time int64
	sum  float64
}

// Add counts a value that held for some microseconds.
func (a *Average) Add(v float64, micros int64) {
	a.time, a.sum = a.time+micros, a.sum+v*float64(micros)
}

// Merge adds the values of o.
func (a *Average) Merge(o *Average) { a.time, a.sum = a.time+o.time, a.sum+o.sum }

// Mean returns the mean over time, or NaN without values.
func (a *Average) Mean() float64 { return a.sum / float64(a.time) }
