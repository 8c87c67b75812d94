package profile

import "math"

// distributionBins is the number of bins of a Distribution.
const distributionBins = 128

// Distribution is a histogram of a value over time. Its memory does not grow with the values, and
// its fields are the same in whatever order values come.
type Distribution struct {
	Top    float64 // upper end of the range; higher values count in the last bin
	Bins   []int64 // microseconds in each bin; nil before the first value
	Micros int64   // microseconds in all bins
	Sum    Sum     // of value x microseconds, in eighths
	Max    float64 // highest value
}

// Add counts a value that held for some microseconds.
func (d *Distribution) Add(v float64, micros int64) {
	i := 0
	if d.Top > 0 {
		i = min(int(v/d.Top*distributionBins), distributionBins-1)
	}
	d.Make()[i] += micros
	d.Micros += micros
	d.Sum.AddProduct(eighths(v), uint64(micros))
	d.Max = max(d.Max, v)
}

// Merge adds the values of o, which must have the same range.
func (d *Distribution) Merge(o *Distribution) {
	if o.Micros == 0 {
		return
	}
	into := d.Make()[:len(o.Bins)]
	for i, n := range o.Bins {
		into[i] += n
	}
	d.Micros, d.Max = d.Micros+o.Micros, max(d.Max, o.Max)
	d.Sum.Merge(o.Sum)
}

// times returns d with every value counted n times.
func (d *Distribution) times(n int64) Distribution {
	out := Distribution{Top: d.Top, Micros: n * d.Micros, Sum: d.Sum.times(uint64(n)), Max: d.Max}
	for _, b := range d.Bins {
		out.Bins = append(out.Bins, n*b)
	}
	return out
}

// Make returns the bins, all 0 where there was no value.
func (d *Distribution) Make() []int64 {
	if d.Bins == nil {
		d.Bins = make([]int64, distributionBins)
	}
	return d.Bins
}

// Reset forgets all values and keeps the memory.
func (d *Distribution) Reset() {
	clear(d.Bins)
	d.Micros, d.Sum, d.Max = 0, Sum{}, 0
}

// Mean returns the mean over time, or NaN without values.
func (d *Distribution) Mean() float64 { return d.Sum.Float() / 8 / float64(d.Micros) }

// Quantile returns the value at or below which the value was for the share q of the time, from 0
// to 1. It is exact to 1/128 of the range, and NaN without values.
func (d *Distribution) Quantile(q float64) float64 {
	if d.Micros == 0 {
		return math.NaN()
	}
	left := q * float64(d.Micros)
	for i, n := range d.Bins {
		if left -= float64(n); left <= 0 && n > 0 {
			// The end of the bin, or the highest value if that is lower.
			return min(d.Max, float64(i+1)*d.Top/distributionBins)
		}
	}
	return d.Max
}

// Average is the mean of a value over time. Like a Distribution it is exact in any order.
type Average struct {
	Micros int64 // microseconds with values
	Sum    Sum   // of value x microseconds, in eighths
}

// Add counts a value that held for some microseconds.
func (a *Average) Add(v float64, micros int64) {
	a.Micros += micros
	a.Sum.AddProduct(eighths(v), uint64(micros))
}

// Merge adds the values of o.
func (a *Average) Merge(o *Average) {
	a.Micros += o.Micros
	a.Sum.Merge(o.Sum)
}

// times returns a with every value counted n times.
func (a *Average) times(n int64) Average { return Average{n * a.Micros, a.Sum.times(uint64(n))} }

// Mean returns the mean over time, or NaN without values.
func (a *Average) Mean() float64 { return a.Sum.Float() / 8 / float64(a.Micros) }
