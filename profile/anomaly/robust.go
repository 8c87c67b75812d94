package anomaly

import (
	"cmp"
	"math"
	"slices"
)

// median returns the median of values, NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Clone(values)
	slices.Sort(s)
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// normal is the standard deviation of normal noise whose median absolute deviation is 1.
const normal = 1.4826

// spreadOf returns the spread of values around a centre: their median absolute deviation, scaled so that it is
// the standard deviation of normal noise (Hampel 1974).
func spreadOf(values []float64, centre float64) float64 {
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - centre)
	}
	return normal * median(off)
}

// ascending returns the indexes of values from the lowest value to the highest, of equal ones the first first.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// ranks returns the ranks of values from 1, the mean rank of equal ones.
func ranks(values []float64) []float64 {
	order := ascending(values)
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && values[order[k]] == values[order[i]] {
			k++
		}
		for _, at := range order[i:k] {
			out[at] = float64(i+k+1) / 2
		}
		i = k
	}
	return out
}

// pettitt returns where a series changes its level most probably, the index of the first value after the
// change, and the probability that a series without a change seems to change as much (Pettitt 1979, "A
// non-parametric approach to the change-point problem", equations 2 and 3). It looks at ranks alone, so that no
// outlier counts for more than one. The change leaves at least least values on each side.
func pettitt(values []float64, least int) (at int, p float64) {
	n := len(values)
	r := ranks(values)
	sum, most := 0.0, 0.0
	at = -1
	for t := 1; t < n; t++ {
		sum += r[t-1]
		u := math.Abs(2*sum - float64(t)*float64(n+1))
		if t >= least && n-t >= least && u > most {
			at, most = t, u
		}
	}
	if at < 0 {
		return -1, 1
	}
	k := float64(n)
	return at, min(1, 2*math.Exp(-6*most*most/(k*k*k+k*k)))
}

// slopeOf returns the median of the slopes of all pairs of values (Theil 1950, Sen 1968), a step of x apart.
func slopeOf(values []float64) float64 {
	slopes := make([]float64, 0, len(values)*(len(values)-1)/2)
	for i := range values {
		for k := i + 1; k < len(values); k++ {
			slopes = append(slopes, (values[k]-values[i])/float64(k-i))
		}
	}
	return median(slopes)
}

// rising returns Kendall's tau-a of values with time: 1 where each is over all before it, 0 without a trend. A
// series that rises in one step has 0.5 at most (Mann 1945).
func rising(values []float64) float64 {
	sum, pairs := 0, 0
	for i := range values {
		for k := i + 1; k < len(values); k++ {
			pairs++
			sum += cmp.Compare(values[k], values[i])
		}
	}
	if pairs == 0 {
		return 0
	}
	return float64(sum) / float64(pairs)
}

// near is how many values apart a pair is at most of which a line takes the slope.
const near = 8

// fitLine returns the line y = a + b x of values in order of time. The slope makes the sum of |Δy - b Δx| least over pairs
// that are at most eight values apart: it is the median of their slopes, weighted by |Δx|. A level that shifts once
// has part in few pairs, so that it does not bend the line.
func fitLine(x, y []float64) (a, b float64) {
	var slopes, weights []float64
	total := 0.0
	for i := range x {
		for k := i + 1; k < len(x) && k <= i+near; k++ {
			if dx := x[k] - x[i]; dx != 0 {
				slopes, weights = append(slopes, (y[k]-y[i])/dx), append(weights, math.Abs(dx))
				total += math.Abs(dx)
			}
		}
	}
	sum := 0.0
	for _, i := range ascending(slopes) {
		if sum += weights[i]; sum >= total/2 {
			b = slopes[i]
			break
		}
	}
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = y[i] - b*x[i]
	}
	return median(rest), b
}

// shift is a lasting change of the level of a series.
type shift struct {
	at            int // the first value after it
	before, after float64
	spread        float64 // of the values around the two levels
}

// threshold is what a shift must be to count.
type threshold struct {
	least  int     // values on each side
	size   float64 // absolute
	share  float64 // of the level before
	sigmas float64 // spreads
	p      float64 // Pettitt's probability
	abrupt bool    // half of it comes within three values: a slope is no shift
}

const abruptly = 3 // values

// shifts returns the lasting changes of level, in order. It splits where Pettitt's test finds a change, and
// where it finds none looks at halves and at the middle, since a series that returns to its level seems to have
// none (after the seeded intervals of Kovács et al. 2023).
func shifts(values []float64, t threshold) []shift {
	var cuts []int
	t.split(values, 0, len(values), true, &cuts)
	t.split(values, max(0, len(values)-4*t.least), len(values), false, &cuts) // a change of late
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []shift
	from := 0
	for i, at := range cuts {
		to := len(values)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		if s, ok := t.judge(values[from:at], values[at:to]); ok {
			s.at = at
			out = append(out, s)
		} else if at-from < t.least || to-at < t.least {
			continue // too near to its neighbour: the values count for the next
		}
		from = at
	}
	return out
}

func (t threshold) split(values []float64, from, to int, halves bool, cuts *[]int) {
	n := to - from
	if n < 2*t.least {
		return
	}
	at, p := pettitt(values[from:to], t.least)
	if at >= 0 && p < t.p {
		if _, ok := t.judge(values[from:from+at], values[from+at:to]); ok {
			*cuts = append(*cuts, from+at)
			t.split(values, from, from+at, true, cuts)
			t.split(values, from+at, to, true, cuts)
			return
		}
	}
	if halves && n >= 4*t.least {
		for _, begin := range []int{from, from + n/4, from + n/2} {
			t.split(values, begin, min(to, begin+n/2), n >= 8*t.least, cuts)
		}
	}
}

// judge says whether the level after is another than that before.
func (t threshold) judge(before, after []float64) (shift, bool) {
	s := shift{before: median(before), after: median(after)}
	rest := make([]float64, 0, len(before)+len(after))
	for _, v := range before {
		rest = append(rest, v-s.before)
	}
	for _, v := range after {
		rest = append(rest, v-s.after)
	}
	s.spread = spreadOf(rest, 0)
	size := math.Abs(s.after - s.before)
	if t.abrupt && len(before) >= abruptly && len(after) >= abruptly && math.Abs(median(after[:abruptly])-median(before[len(before)-abruptly:])) < size/2 {
		return s, false
	}
	return s, len(before) >= t.least && len(after) >= t.least && size >= t.size && size >= t.share*math.Abs(s.before) && size >= t.sigmas*s.spread
}

// run is a stretch of windows from from to before to.
type run struct{ from, to int }

// runs returns the stretches in which flags are set, at least least long, with holes of at most hole.
func runs(flags []bool, least, hole int) []run {
	var out []run
	for i := 0; i < len(flags); i++ {
		if !flags[i] {
			continue
		}
		r := run{i, i + 1}
		for k := i + 1; k < len(flags) && k-r.to <= hole; k++ {
			if flags[k] {
				r.to = k + 1
			}
		}
		if r.to-r.from >= least {
			out = append(out, r)
		}
		i = r.to - 1
	}
	return out
}
