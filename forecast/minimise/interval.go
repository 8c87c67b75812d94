package minimise

import "math"

// valley is the state of Brent's search: the bracket a..b, the best point x, the two before it
// (w and v), and the last two steps.
type valley struct {
	f                      func(float64) float64
	a, b, x, w, v          float64
	fx, fw, fv, step, last float64
}

// Brent finds a minimum of f in [a, b] by golden section and parabolas (Brent
// 1973, "Algorithms for Minimization without Derivatives", chapter 5).
func Brent(f func(float64) float64, a, b, tol float64) float64 {
	s := valley{f: f, a: a, b: b}
	s.x = a + (3-math.Sqrt(5))/2*(b-a)
	s.v, s.w = s.x, s.x
	s.fx = f(s.x)
	s.fv, s.fw = s.fx, s.fx
	for range 200 {
		mid := (s.a + s.b) / 2
		near := 0x1p-26*math.Abs(s.x) + tol/3
		if math.Abs(s.x-mid) <= 2*near-(s.b-s.a)/2 {
			break
		}
		s.choose(mid, near)
		u := s.x + s.step
		if math.Abs(s.step) < near {
			u = s.x + math.Copysign(near, s.step)
		}
		s.take(u, f(u))
	}
	return s.x
}

// choose sets the next step: to the minimum of the parabola through the three points where that
// is well inside the bracket, else by golden section of the longer side.
func (s *valley) choose(mid, near float64) {
	var p, q, before float64
	if math.Abs(s.last) > near {
		r := (s.x - s.w) * (s.fx - s.fv)
		q = (s.x - s.v) * (s.fx - s.fw)
		p = (s.x-s.v)*q - (s.x-s.w)*r
		q = 2 * (q - r)
		if q > 0 {
			p = -p
		} else {
			q = -q
		}
		before, s.last = s.last, s.step
	}
	if math.Abs(p) >= math.Abs(q*before/2) || p <= q*(s.a-s.x) || p >= q*(s.b-s.x) {
		s.last = s.b - s.x
		if s.x >= mid {
			s.last = s.a - s.x
		}
		s.step = (3 - math.Sqrt(5)) / 2 * s.last
		return
	}
	s.step = p / q
	if u := s.x + s.step; u-s.a < 2*near || s.b-u < 2*near {
		s.step = math.Copysign(near, mid-s.x)
	}
}

// take updates the points and narrows the bracket with a new point u of value fu.
func (s *valley) take(u, fu float64) {
	if fu <= s.fx {
		if u < s.x {
			s.b = s.x
		} else {
			s.a = s.x
		}
		s.v, s.w, s.x, s.fv, s.fw, s.fx = s.w, s.x, u, s.fw, s.fx, fu
		return
	}
	if u < s.x {
		s.a = u
	} else {
		s.b = u
	}
	if fu <= s.fw || s.w == s.x {
		s.v, s.fv, s.w, s.fw = s.w, s.fw, u, fu
	} else if fu <= s.fv || s.v == s.x || s.v == s.w {
		s.v, s.fv = u, fu
	}
}

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
