package forecast

import "math"

// etsObjective is a function to be made small. gradient is asked for only at
// the point of the last value.
type etsObjective interface {
	value(x []float64) float64
	gradient(x, g []float64)
	// admits says whether an iterate may be kept.
	admits(x []float64) bool
}

// etsBFGS holds the work space of one minimisation.
type etsBFGS struct {
	n                     int
	h                     []float64 // inverse Hessian, row by row
	g, newG, step, dx, hy []float64
	newX                  []float64
}

func newETSBFGS(n int) *etsBFGS {
	buf := make([]float64, n*n+6*n)
	cut := func() []float64 { v := buf[:n:n]; buf = buf[n:]; return v }
	return &etsBFGS{
		n: n, g: cut(), newG: cut(), step: cut(), dx: cut(), hy: cut(), newX: cut(), h: buf,
	}
}

// minimise moves x downhill by the method of Broyden, Fletcher, Goldfarb and
// Shanno (Nocedal and Wright, "Numerical Optimization", 2006, alg. 6.1) with a
// backtracking search, and gives the value there. scale is about how far each
// coordinate may move in one step; it stops after most iterations or when two
// in a row gain less than tol.
func (o *etsBFGS) minimise(f etsObjective, x, scale []float64, most int, tol float64) float64 {
	v := f.value(x)
	if math.IsInf(v, 1) {
		return v
	}
	f.gradient(x, o.g)
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
			_ = f.value(x)
			continue
		}
		f.gradient(o.newX, o.newG)
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

func (o *etsBFGS) reset(scale []float64) {
	clear(o.h)
	for i, s := range scale {
		o.h[i*o.n+i] = s * s
	}
}

// direction sets the step to -H g, no coordinate longer than its scale allows,
// and gives its slope.
func (o *etsBFGS) direction(scale []float64) (slope float64) {
	longest := 0.0
	for i := range o.n {
		row, sum := o.h[i*o.n:(i+1)*o.n], 0.0
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

// search halves the step, or better by a parabola, until the value falls
// enough (Armijo) at a point that is admitted; it ends with the value there.
func (o *etsBFGS) search(f etsObjective, x []float64, v, slope float64) (float64, bool) {
	length := 1.0
	for range 30 {
		for i := range x {
			o.dx[i] = length * o.step[i]
			o.newX[i] = x[i] + o.dx[i]
		}
		next := f.value(o.newX)
		if next <= v+1e-4*length*slope && f.admits(o.newX) {
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

// update is the BFGS update of the inverse Hessian; it is left out where the
// curvature along the step is not positive.
func (o *etsBFGS) update(first bool) {
	var sy, yy, sHs float64
	for i := range o.n {
		dy := o.newG[i] - o.g[i]
		sy += o.dx[i] * dy
		yy += dy * dy * o.h[i*o.n+i]
		sHs += o.dx[i] * o.dx[i] / o.h[i*o.n+i]
	}
	if !(sy > 1e-10*math.Sqrt(yy*sHs)) {
		return
	}
	if first { // the size of the curvature, before the first update (op. cit. eq. 6.20)
		for i := range o.h {
			o.h[i] *= sy / yy
		}
	}
	yHy := 0.0
	for i := range o.n {
		row, sum := o.h[i*o.n:(i+1)*o.n], 0.0
		for j := range row {
			sum += row[j] * (o.newG[j] - o.g[j])
		}
		o.hy[i] = sum
		yHy += sum * (o.newG[i] - o.g[i])
	}
	a, c := (1+yHy/sy)/sy, 1/sy
	for i := range o.n {
		row, si, hi := o.h[i*o.n:(i+1)*o.n], o.dx[i], o.hy[i]
		for j := range row {
			row[j] += a*si*o.dx[j] - c*(hi*o.dx[j]+si*o.hy[j])
		}
	}
}
