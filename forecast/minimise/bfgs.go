// Package minimise has the numerical minimisers that the models share: with gradients (BFGS),
// without (Descent, NelderMead), and of one variable (GoldenSection).
package minimise

import "math"

// Objective is a function to minimise. Gradient is called only at the point of the last call of
// Value.
type Objective interface {
	Value(x []float64) float64
	Gradient(x, g []float64)
	// Admits reports whether x is feasible as an iterate.
	Admits(x []float64) bool
}

// BFGS holds the work space of minimisations over N variables.
type BFGS struct {
	N                     int
	h                     []float64 // inverse Hessian, row by row
	g, newG, step, dx, hy []float64
	newX                  []float64
}

// NewBFGS returns the work space for n variables.
func NewBFGS(n int) *BFGS {
	buf := make([]float64, n*n+6*n)
	cut := func() []float64 { v := buf[:n:n]; buf = buf[n:]; return v }
	return &BFGS{
		N: n, g: cut(), newG: cut(), step: cut(), dx: cut(), hy: cut(), newX: cut(), h: buf,
	}
}

// Minimise moves x downhill by the method of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and
// Wright, "Numerical Optimization", 2006, alg. 6.1) with a backtracking search, and returns the
// value there. scale is about how far each coordinate may move in one step. It stops after most
// iterations, or when two in a row each gain less than tol.
func (o *BFGS) Minimise(f Objective, x, scale []float64, most int, tol float64) float64 {
	v := f.Value(x)
	if math.IsInf(v, 1) {
		return v
	}
	f.Gradient(x, o.g)
	o.reset(scale)
	first, idle := true, 0
	for range most {
		slope := o.direction(scale)
		if slope >= 0 {
			o.reset(scale)
			first = true
			if slope = o.direction(scale); slope >= 0 {
				break
			}
		}
		next, ok := o.search(f, x, v, slope)
		if !ok {
			if first {
				break
			}
			o.reset(scale)
			first = true
			_ = f.Value(x)
			continue
		}
		f.Gradient(o.newX, o.newG)
		o.update(first)
		gain := v - next
		copy(x, o.newX)
		o.g, o.newG = o.newG, o.g
		v, first = next, false
		if gain < tol {
			if idle++; idle == 2 {
				break
			}
		} else {
			idle = 0
		}
	}
	return v
}

func (o *BFGS) reset(scale []float64) {
	clear(o.h)
	for i, s := range scale {
		o.h[i*o.N+i] = s * s
	}
}

// direction sets the step to -H g, shortened so that no coordinate moves further than its scale,
// and returns the slope along it.
func (o *BFGS) direction(scale []float64) (slope float64) {
	longest := 0.0
	for i := range o.N {
		row, sum := o.h[i*o.N:(i+1)*o.N], 0.0
		for j, g := range o.g {
			sum += row[j] * g
		}
		o.step[i] = -sum
		longest = max(longest, math.Abs(sum)/scale[i])
	}
	shrink := 1.0
	if longest > 1 {
		shrink = 1 / longest
	}
	for i := range o.step {
		o.step[i] *= shrink
		slope += o.step[i] * o.g[i]
	}
	if slope != slope {
		return 0
	}
	return slope
}

// search shortens the step until the value falls enough (Armijo) at an admitted point: by a
// parabola where the value rose, else to 0.3 of its length. It leaves the point in newX and
// returns the value there, and whether that is less than v.
func (o *BFGS) search(f Objective, x []float64, v, slope float64) (float64, bool) {
	length := 1.0
	for range 30 {
		for i := range x {
			o.dx[i] = length * o.step[i]
			o.newX[i] = x[i] + o.dx[i]
		}
		next := f.Value(o.newX)
		if next <= v+1e-4*length*slope && f.Admits(o.newX) {
			return next, next < v
		}
		cut := 0.3
		if !math.IsInf(next, 1) && next > v {
			cut = min(max(-slope*length/(2*(next-v-slope*length)), 0.1), 0.5)
		}
		length *= cut
	}
	return v, false
}

// update applies the BFGS update to the inverse Hessian. It does nothing where the curvature
// along the step is not positive.
func (o *BFGS) update(first bool) {
	var sy, yy, sHs float64
	for i := range o.N {
		dy := o.newG[i] - o.g[i]
		sy += o.dx[i] * dy
		yy += dy * dy * o.h[i*o.N+i]
		sHs += o.dx[i] * o.dx[i] / o.h[i*o.N+i]
	}
	if !(sy > 1e-10*math.Sqrt(yy*sHs)) {
		return
	}
	if first { // scale to the curvature before the first update (op. cit. eq. 6.20)
		for i := range o.h {
			o.h[i] *= sy / yy
		}
	}
	yHy := 0.0
	for i := range o.N {
		row, sum := o.h[i*o.N:(i+1)*o.N], 0.0
		for j := range row {
			sum += row[j] * (o.newG[j] - o.g[j])
		}
		o.hy[i] = sum
		yHy += sum * (o.newG[i] - o.g[i])
	}
	a, c := (1+yHy/sy)/sy, 1/sy
	for i := range o.N {
		row, si, hi := o.h[i*o.N:(i+1)*o.N], o.dx[i], o.hy[i]
		for j := range row {
			row[j] += a*si*o.dx[j] - c*(hi*o.dx[j]+si*o.hy[j])
		}
	}
}
