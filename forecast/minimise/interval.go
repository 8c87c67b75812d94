package minimise

import "math"

// GoldenSection returns a minimum of f between a and b by golden section, to tolerance.
func GoldenSection(f func(float64) float64, a, b, tolerance float64) float64 {
	const g = 0.6180339887498949
	c, d := b-g*(b-a), a+g*(b-a)
	fc, fd := f(c), f(d)
	for b-a > tolerance {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - g*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + g*(b-a)
			fd = f(d)
		}
	}
	return (a + b) / 2
}

// FromAngle returns lo + (hi-lo) sin² of an angle: a value between lo and hi for any angle, so
// that a search over angles needs no bounds.
func FromAngle(angle, lo, hi float64) float64 {
	s := math.Sin(angle)
	return lo + max(hi-lo, 0)*s*s
}

// AngleOf returns an angle for which FromAngle is v, moved a little inside lo and hi.
func AngleOf(v, lo, hi float64) float64 {
	if hi <= lo {
		return math.Pi / 4
	}
	share := min(max((v-lo)/(hi-lo), 1e-3), 1-1e-3)
	return math.Asin(math.Sqrt(share))
}
