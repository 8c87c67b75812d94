package decompose

import (
	"math"

	"capcli/forecast/model"
)

// loess smooths equally spaced values by local regression with tricube weights (Cleveland 1979),
// as STL does: it fits at every jump-th place and interpolates linearly between (Cleveland et
// al. 1990).
type loess struct {
	window int // number of neighbours; may be more than there are values
	degree int // 0 or 1
	jump   int // steps between the places of fits

	w      []float64 // buffer for the weights of one fit
	kernel []float64 // weights of a fit away from the ends, the same at every place
}

// smooth writes the smoothed y to out. rw are robustness weights, or nil.
func (l *loess) smooth(y, rw, out []float64) {
	n := len(y)
	if n < 2 {
		copy(out, y)
		return
	}
	jump := min(l.jump, n-1)
	half := (l.window + 1) / 2
	l.kernel = l.kernel[:0]
	left, right := 0, n-1
	for i := 0; i < n; i += jump {
		if l.window < n {
			left = min(max(i-half+1, 0), n-l.window)
			right = left + l.window - 1
		}
		l.place(y, rw, out, i, left, right)
	}
	if jump == 1 {
		return
	}
	last := (n - 1) / jump * jump
	for i := 0; i+jump <= last; i += jump {
		line(out, i, i+jump)
	}
	if last != n-1 {
		// The last place is fitted with the last window.
		l.place(y, rw, out, n-1, left, right)
		line(out, last, n-1)
	}
}

// place fits at one place inside the data. Where all weights are zero it keeps the value.
func (l *loess) place(y, rw, out []float64, i, left, right int) {
	if rw == nil && l.window < len(y) && left == i-(l.window+1)/2+1 && l.window%2 == 1 {
		if len(l.kernel) == 0 {
			if l.weights(len(y), nil, float64(i), left, right) {
				l.kernel = append(l.kernel, l.w[left:right+1]...)
			}
		}
		if len(l.kernel) > 0 {
			out[i] = model.Dot(l.kernel, y[left:right+1])
			return
		}
	}
	v, ok := l.fitAt(y, rw, float64(i), left, right)
	if !ok {
		v = y[i]
	}
	out[i] = v
}

// line fills the places between a and b by linear interpolation.
func line(v []float64, a, b int) {
	slope := (v[b] - v[a]) / float64(b-a)
	for i := a + 1; i < b; i++ {
		v[i] = v[a] + slope*float64(i-a)
	}
}

// fitAt returns the local fit at x to the values from left to right; false where all weights are
// zero. x may lie outside the data.
func (l *loess) fitAt(y, rw []float64, x float64, left, right int) (float64, bool) {
	if !l.weights(len(y), rw, x, left, right) {
		return 0, false
	}
	return model.Dot(l.w[left:right+1], y[left:right+1]), true
}

// weights sets l.w[left:right+1] so that the fit at x is their product with the values. It
// returns false where all weights are zero. The limits 0.999 and 0.001 of the bandwidth are
// those of the paper's program: values nearer count as at x, values farther not at all.
func (l *loess) weights(n int, rw []float64, x float64, left, right int) bool {
	if cap(l.w) < n {
		l.w = make([]float64, n)
	}
	w := l.w[:n]
	h := math.Max(x-float64(left), float64(right)-x)
	if l.window > n {
		h += float64((l.window - n) / 2)
	}
	sum := 0.0
	for j := left; j <= right; j++ {
		w[j] = tricube(math.Abs(float64(j)-x), h)
		if rw != nil {
			w[j] *= rw[j]
		}
		sum += w[j]
	}
	if sum <= 0 {
		return false
	}
	centre := 0.0
	for j := left; j <= right; j++ {
		w[j] /= sum
		centre += w[j] * float64(j)
	}
	if h <= 0 || l.degree == 0 {
		return true
	}
	spread := 0.0
	for j := left; j <= right; j++ {
		d := float64(j) - centre
		spread += w[j] * d * d
	}
	if math.Sqrt(spread) <= 0.001*float64(n-1) {
		return true
	}
	slope := (x - centre) / spread
	for j := left; j <= right; j++ {
		w[j] *= slope*(float64(j)-centre) + 1
	}
	return true
}

func tricube(r, h float64) float64 {
	switch {
	case r > 0.999*h:
		return 0
	case r <= 0.001*h:
		return 1
	}
	u := r / h
	u = 1 - u*u*u
	return u * u * u
}
