package minimise

import (
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Descent minimises a function by the variable metric method of Broyden, Fletcher, Goldfarb and
// Shanno with a backtracking search (Nash 1990, "Compact Numerical Methods for Computers",
// algorithm 21) and central differences.
type Descent struct {
	f    func(x []float64) float64 // set by Minimise
	Step float64                   // step of the central differences
	Tol  float64                   // relative gain below which it stops
	Most int                       // largest number of iterations

	// Hopeless reports points that are not worth searching further. A search ends after some
	// steps in a row that end at hopeless points and gain no more than Slack each. nil: no point
	// is hopeless.
	Hopeless func(x []float64) bool
	Slack    float64
}

// Minimise moves x downhill on f and returns the value there. It restarts from the steepest
// descent after every 2n steps and when a step gains too little. It stops where the first step
// after a restart gains too little as well.
func (d Descent) Minimise(f func(x []float64) float64, x []float64) float64 {
	d.f = f
	n := len(x)
	best := d.f(x)
	if n == 0 || math.IsInf(best, 1) || math.IsNaN(best) {
		return best
	}
	g, last, t, c := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	b := make([]float64, n*n)
	if !d.gradient(x, g) {
		return best
	}
	since := 0 // steps since the last restart
	lost := 0  // hopeless steps in a row
	for range d.Most {
		if since == 0 || since > 2*n {
			identity(b, n)
			since = 0
		}
		copy(last, x)
		copy(c, g)
		slope := downhill(b, g, t)
		if !(slope < 0) {
			if since == 0 {
				break
			}
			since = 0
			continue
		}
		value, step := d.search(x, last, t, best, slope)
		if step == 0 || math.Abs(value-best) <= d.Tol*(math.Abs(best)+d.Tol) {
			best = math.Min(best, value)
			if since == 0 {
				break
			}
			since = 0
			continue
		}
		lost = d.despair(x, lost, best-value)
		best = value
		if lost > patience || !d.gradient(x, g) {
			break
		}
		for i := range n {
			t[i] *= step
			c[i] = g[i] - c[i]
		}
		since++
		if !improve(b, t, c) {
			since = 0
		}
	}
	return best
}

// patience is the number of hopeless steps in a row that a descent accepts.
const patience = 5

// despair returns the number of hopeless steps in a row after a step to x.
func (d Descent) despair(x []float64, lost int, gain float64) int {
	if d.Hopeless == nil || gain > d.Slack || !d.Hopeless(x) {
		return 0
	}
	return lost + 1
}

func identity(b []float64, n int) {
	clear(b)
	for i := range n {
		b[i*n+i] = 1
	}
}

// downhill sets t to -b g and returns the slope along it.
func downhill(b, g, t []float64) float64 {
	n := len(g)
	slope := 0.0
	for i := range n {
		t[i] = 0
		for j := range n {
			t[i] -= b[i*n+j] * g[j]
		}
		slope += t[i] * g[i]
	}
	return slope
}

// search tries steps along t from last, each a fifth of the one before, until the value falls
// enough. It returns step 0 where it never does.
func (d Descent) search(x, last, t []float64, best, slope float64) (value, step float64) {
	for step = 1.0; ; step *= 0.2 {
		same := true
		for i := range x {
			x[i] = last[i] + step*t[i]
			same = same && 10+x[i] == 10+last[i]
		}
		if same {
			copy(x, last)
			return best, 0
		}
		if v := d.f(x); v <= best+1e-4*step*slope {
			return v, step
		}
	}
}

// improve updates the inverse Hessian b after a step t that changed the gradient by c. It
// returns false where the curvature is not positive.
func improve(b, t, c []float64) bool {
	n := len(t)
	along := 0.0
	for i := range t {
		along += t[i] * c[i]
	}
	if !(along > 0) {
		return false
	}
	y := make([]float64, n)
	curve := 0.0
	for i := range n {
		for j := range n {
			y[i] += b[i*n+j] * c[j]
		}
		curve += y[i] * c[i]
	}
	w := 1 + curve/along
	for i := range n {
		for j := range n {
			b[i*n+j] += (w*t[i]*t[j] - t[i]*y[j] - y[i]*t[j]) / along
		}
	}
	return true
}

// gradient writes the gradient at x to g. It returns false where that is not finite.
func (d Descent) gradient(x, g []float64) bool {
	for i := range x {
		at := x[i]
		x[i] = at + d.Step
		up := d.f(x)
		x[i] = at - d.Step
		down := d.f(x)
		x[i] = at
		g[i] = (up - down) / (2 * d.Step)
		if math.IsNaN(g[i]) || math.IsInf(g[i], 0) {
			return false
		}
	}
	return true
}

// NelderMead moves x to a minimum of f by the simplex method of Nelder and Mead (1965), with at
// most most evaluations, and returns the value there. It serves where f is too rough for
// Descent.
func NelderMead(f func(x []float64) float64, x []float64, most int) float64 {
	result, err := optimize.Minimize(optimize.Problem{Func: f}, x, &optimize.Settings{FuncEvaluations: most}, &optimize.NelderMead{})
	if result == nil || (err != nil && result.F >= f(x)) {
		return f(x)
	}
	copy(x, result.X)
	return result.F
}

// Hessian returns the Hessian of f at x by central differences, row by row; infinite or NaN where f is
// not finite nearby.
func Hessian(f func(x []float64) float64, x []float64, step float64) []float64 {
	n := len(x)
	h := make([]float64, n*n)
	// corners returns f where x[i] moves by a and x[j] by b: (a, b) = (+, +), (+, -), (-, +) and
	// (-, -) steps.
	corners := func(i, j int) (v [4]float64) {
		for k := range v {
			one, other := x[i], x[j]
			x[i] += step * float64(1-k&2)
			x[j] += step * float64(1-k&1*2)
			v[k] = f(x)
			x[j], x[i] = other, one
		}
		return v
	}
	slope := func(up, down float64) float64 { return (up - down) / (2 * step) }
	for i := range n {
		for j := range i + 1 {
			v := corners(i, j)
			h[i*n+j] = slope(slope(v[0], v[1]), slope(v[2], v[3]))
			if i != j {
				h[j*n+i] = slope(slope(v[0], v[2]), slope(v[1], v[3]))
				h[i*n+j] = (h[i*n+j] + h[j*n+i]) / 2
				h[j*n+i] = h[i*n+j]
			}
		}
	}
	return h
}
