package profile

import "math"

// distributionBins is how finely a Distribution divides its range.
const distributionBins = 128

// Distribution is how long a figure stood where, over time. It takes the same
// memory whatever it is shown.
type Distribution struct {
	Top  float64 // end of the range; what lies above counts in the last bin
	bins []int64 // microseconds in each part of the range; made when the first value comes
	time int64   // microseconds in all
	sum  float64 // of value x microseconds
	max  float64
}

// Add counts a value that stood for some microseconds.
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

// Merge adds what o has seen; both must have the same range.
func (d *Distribution) Merge(o *Distribution) {
	if d.bins == nil && o.bins != nil {
		d.bins = make([]int64, distributionBins)
	}
	for i, n := range o.bins {
		d.bins[i] += n
	}
	d.time, d.sum, d.max = d.time+o.time, d.sum+o.sum, max(d.max, o.max)
}

// Time is how long values were there, in microseconds.
func (d *Distribution) Time() int64 { return d.time }

// Mean is the mean over time; NaN where nothing was seen.
func (d *Distribution) Mean() float64 { return d.sum / float64(d.time) }

// Quantile is the value that the figure was at or under for the share q of the
// time, from 0 to 1, to 1/128 of the range; NaN where nothing was seen.
func (d *Distribution) Quantile(q float64) float64 {
	if d.time == 0 {
		return math.NaN()
	}
	left := q * float64(d.time)
	for i, n := range d.bins {
		if left -= float64(n); left <= 0 && n > 0 {
			// A bin's end, unless nothing was that high.
			return min(d.max, float64(i+1)*d.Top/distributionBins)
		}
	}
	return d.max
}

// Average is the mean of a figure over time.
type Average struct {
	time int64
	sum  float64
}

// Add counts a value that stood for some microseconds.
func (a *Average) Add(v float64, micros int64) {
	a.time, a.sum = a.time+micros, a.sum+v*float64(micros)
}

// Merge adds what o has seen.
func (a *Average) Merge(o *Average) { a.time, a.sum = a.time+o.time, a.sum+o.sum }

// Mean is the mean over time; NaN where nothing was seen.
func (a *Average) Mean() float64 { return a.sum / float64(a.time) }
