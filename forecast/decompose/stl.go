package decompose

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// Options are the settings of a decomposition by loess. The zero value means a periodic season,
// the paper's trend window, and no robustness.
type Options struct {
	Window int  // loess window of the season, in seasons (odd, 7 or more); 0: the season is periodic
	Trend  int  // loess window of the trend, in steps; 0: the smallest odd one of at least 1.5 period / (1 - 1.5/Window)
	Robust bool // give outliers less weight: 15 outer loops of one inner loop, else none of two
}

// STL splits a series into trend, season and remainder, which sum to it (Cleveland, Cleveland,
// McRae & Terpenning 1990, "STL: A Seasonal-Trend Decomposition Procedure Based on Loess",
// Journal of Official Statistics 6). It smooths the cycles by local constants and the trend by
// local lines, as R's stl does. It needs more than two whole seasons, and fails where a value is
// missing.
func STL(y []float64, period int, o Options) (trend, seasonal, remainder []float64, err error) {
	n := len(y)
	if period < 2 || n <= 2*period {
		return nil, nil, nil, fmt.Errorf("stl: %d values and a season of %d; want more than two seasons: %w", n, period, model.ErrTooShort)
	}
	if err := model.CheckPresent(y); err != nil {
		return nil, nil, nil, fmt.Errorf("stl: %w", err)
	}
	s := newSTL(n, period, o)
	// The sums inside would overflow for values near the largest float.
	unit := 1.0
	if top := model.Largest(y); top > 1e150 {
		unit = top
		y = model.Scaled(y, 1/unit)
	}
	s.run(y, o.Robust)
	if o.Window <= 0 {
		s.periodic()
	}
	remainder = make([]float64, n)
	for i, v := range y {
		s.trend[i] *= unit
		s.season[i] *= unit
		remainder[i] = v*unit - s.season[i] - s.trend[i]
	}
	return s.trend, s.season, remainder, nil
}

// stl is the state of one decomposition; all loops reuse its buffers.
type stl struct {
	period                       int
	byCycle, low, byTrend        loess
	trend, season                []float64
	rest, long, pass, rw, sub    []float64 // long extends one season beyond each end
	subWeight, subFit, remaining []float64
}

func newSTL(n, period int, o Options) *stl {
	window := makeOdd(max(3, o.Window))
	if o.Window <= 0 {
		window = 10*n + 1
	}
	trend := o.Trend
	if trend <= 0 {
		trend = int(math.Ceil(1.5 * float64(period) / (1 - 1.5/float64(window))))
	}
	trend = makeOdd(max(3, trend))
	low := makeOdd(max(3, period))
	cycle := (n-1)/period + 1
	return &stl{
		period:    period,
		byCycle:   loess{window: window, degree: 0, jump: tenth(window)},
		byTrend:   loess{window: trend, degree: 1, jump: tenth(trend)},
		low:       loess{window: low, degree: 1, jump: tenth(low)},
		trend:     make([]float64, n),
		season:    make([]float64, n),
		rest:      make([]float64, n+2*period),
		long:      make([]float64, n+2*period),
		pass:      make([]float64, n+2*period),
		sub:       make([]float64, cycle),
		subWeight: make([]float64, cycle),
		subFit:    make([]float64, cycle),
	}
}

func makeOdd(v int) int { return v | 1 }
func tenth(v int) int   { return (v + 9) / 10 }

// run is the outer loop: it sets robustness weights from the remainder of the last fit.
func (s *stl) run(y []float64, robust bool) {
	inner, outer := 2, 0
	if robust {
		inner, outer = 1, 15
	}
	for k := 0; ; k++ {
		for range inner {
			s.inner(y)
		}
		if k >= outer {
			return
		}
		s.reweigh(y)
	}
}

// inner is the inner loop: it updates season and trend once.
func (s *stl) inner(y []float64) {
	n := len(y)
	for i := range y {
		s.rest[i] = y[i] - s.trend[i]
	}
	s.cycles(s.rest[:n])
	// A low-pass filter takes out the trend that the smoothed cycles contain.
	average(s.long, s.period, s.rest)
	average(s.rest[:n+s.period+1], s.period, s.pass)
	average(s.pass[:n+2], 3, s.rest)
	s.low.smooth(s.rest[:n], nil, s.pass[:n])
	for i := range y {
		s.season[i] = s.long[s.period+i] - s.pass[i]
		s.rest[i] = y[i] - s.season[i]
	}
	s.byTrend.smooth(s.rest[:n], s.rw, s.trend)
}

// cycles smooths each cycle-subseries (all Januaries, all Februaries, ...) and extends it by one
// season at each end. It writes the result to s.long.
func (s *stl) cycles(y []float64) {
	n, p := len(y), s.period
	for j := range p {
		k := (n-1-j)/p + 1
		sub, fit := s.sub[:k], s.subFit[:k]
		var rw []float64
		if s.rw != nil {
			rw = s.subWeight[:k]
		}
		for i := range k {
			sub[i] = y[i*p+j]
			if rw != nil {
				rw[i] = s.rw[i*p+j]
			}
		}
		s.byCycle.smooth(sub, rw, fit)
		for i, v := range fit {
			s.long[(i+1)*p+j] = v
		}
		before, ok := s.byCycle.fitAt(sub, rw, -1, 0, min(s.byCycle.window, k)-1)
		if !ok {
			before = fit[0]
		}
		after, ok := s.byCycle.fitAt(sub, rw, float64(k), max(0, k-s.byCycle.window), k-1)
		if !ok {
			after = fit[k-1]
		}
		s.long[j], s.long[(k+1)*p+j] = before, after
	}
}

// average writes the moving average of length m of v to out[:len(v)-m+1].
func average(v []float64, m int, out []float64) {
	sum := 0.0
	for _, x := range v[:m] {
		sum += x
	}
	out[0] = sum / float64(m)
	for i := m; i < len(v); i++ {
		sum += v[i] - v[i-m]
		out[i-m+1] = sum / float64(m)
	}
}

// reweigh sets the bisquare weights of the remainder, with the limit at six median absolute
// deviations.
func (s *stl) reweigh(y []float64) {
	n := len(y)
	if s.rw == nil {
		s.rw, s.remaining = make([]float64, n), make([]float64, n)
	}
	for i, v := range y {
		s.remaining[i] = math.Abs(v - s.season[i] - s.trend[i])
	}
	copy(s.rw, s.remaining)
	upper, lower := middle(s.rw)
	limit := 3 * (upper + lower)
	for i, r := range s.remaining {
		switch {
		case r <= 0.001*limit:
			s.rw[i] = 1
		case r <= 0.999*limit:
			u := r / limit
			s.rw[i] = (1 - u*u) * (1 - u*u)
		default:
			s.rw[i] = 0
		}
	}
}

// periodic replaces the season at each phase by its mean over the cycles.
func (s *stl) periodic() {
	for j := range s.period {
		sum, n := 0.0, 0
		for i := j; i < len(s.season); i += s.period {
			sum += s.season[i]
			n++
		}
		for i := j; i < len(s.season); i += s.period {
			s.season[i] = sum / float64(n)
		}
	}
}

// middle reorders v and returns the two values in its middle after a partial sort (Chambers
// 1971, "Algorithm 410: Partial sorting", CACM 14; cuts by Singleton 1969). The program of
// Cleveland et al., which R runs, passes the two middle places in descending order, and the
// partial sort expects them ascending: where a cut falls between the two, it never looks at the
// upper one again. So the upper value may be above the true one, which changes the weights of a
// robust fit. This function does the same on purpose: a robust STL that differs from R's in the
// third digit cannot be compared with it.
func middle(v []float64) (upper, lower float64) {
	up, low := len(v)/2, (len(v)-1)/2
	places := [2]int{up, low}
	work := []span{{0, len(v) - 1, 0, 1}}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		// Even a short span at the very start is cut further: the insertion sort of the original
		// needs a value before the span to stop at.
		for s.a <= s.b && s.from < s.to {
			if short := s.to-s.from <= 10; short && s.from > 0 {
				insertion(v[s.from : s.to+1])
				break
			}
			left, right := cut(v, s.from, s.to)
			work = append(work, s.divide(left, right, places))
		}
	}
	return v[up], v[low]
}

// span is the part from..to of the values, and the range a..b of the requested places that lie
// in it.
type span struct{ from, to, a, b int }

// divide reduces s to the shorter side of a cut, with the places in it, and returns the other
// side.
func (s *span) divide(left, right int, places [2]int) (rest span) {
	rest = *s
	if left-s.from <= s.to-right {
		rest.from, s.to = right, left
		for s.a <= s.b && places[s.b] > s.to {
			s.b--
		}
		if s.a <= s.b {
			rest.a = s.b + 1
		}
		return rest
	}
	rest.to, s.from = left, right
	for s.a <= s.b && places[s.a] < s.from {
		s.a++
	}
	if s.a <= s.b {
		rest.b = s.a - 1
	}
	return rest
}

// cut partitions v[from..to] around the median of its two ends and its middle. Values up to left
// are at most that median, values from right on are at least that.
func cut(v []float64, from, to int) (left, right int) {
	mid := (from + to) / 2
	if v[from] > v[mid] {
		v[from], v[mid] = v[mid], v[from]
	}
	if v[to] < v[mid] {
		v[to], v[mid] = v[mid], v[to]
		if v[from] > v[mid] {
			v[from], v[mid] = v[mid], v[from]
		}
	}
	t := v[mid]
	left, right = to, from
	for {
		for left--; v[left] > t; left-- {
		}
		for right++; v[right] < t; right++ {
		}
		if right > left {
			return left, right
		}
		v[left], v[right] = v[right], v[left]
	}
}

// insertion sorts a few values.
func insertion(v []float64) {
	for i := 1; i < len(v); i++ {
		t, k := v[i], i-1
		for ; k >= 0 && v[k] > t; k-- {
			v[k+1] = v[k]
		}
		v[k+1] = t
	}
}
