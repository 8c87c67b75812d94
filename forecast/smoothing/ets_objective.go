package smoothing

import (
	"math"

	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// The smoothing parameters have the bounds of R's forecast package: 0.0001 <= alpha <= 0.9999,
// beta <= alpha, gamma <= 1 - alpha, 0.8 <= phi <= 0.98.
const (
	etsLow, etsHigh       = 1e-4, 0.9999
	etsPhiLow, etsPhiHigh = 0.8, 0.98
)

// etsTask is the likelihood of a form as a function of a vector without bounds: the angles of
// the smoothing parameters, then the first states in units of their own. A parameter between lo
// and hi is lo + (hi-lo) sin² of its angle, so an optimum on a bound is a smooth optimum of the
// angle.
type etsTask struct {
	pass *etsPass
	par  etsParams
	grad etsGrad
	unit struct{ l, b, s float64 }
	poly []float64 // work space of Admits
}

// newETSTask returns the task of a form with a season of m steps on the series y, whose mean
// absolute value is one.
func newETSTask(form etsForm, m int, y []float64) *etsTask {
	t := &etsTask{pass: newETSPass(form, m, y)}
	t.pass.floor = 1e-8 // for a mean absolute value of one: rescaling must keep states positive
	if form.Season != etsNone {
		t.par.s, t.grad.s, t.poly = make([]float64, m), make([]float64, m), make([]float64, 0, m+2)
	}
	return t
}

// size returns the length of the vector. All m seasonal states are in it, though one is not
// free; the minimiser copes with a flat direction.
func (t *etsTask) size() int {
	f := t.pass.form
	n := f.smoothing() + 1 + len(t.par.s)
	if f.Trend != etsNone {
		n++
	}
	return n
}

// encode writes par into x.
func (t *etsTask) encode(par *etsParams, x []float64) {
	f, i := t.pass.form, 0
	put := func(v float64) { x[i] = v; i++ }
	put(minimise.AngleOf(par.alpha, etsLow, etsHigh))
	if f.Trend != etsNone {
		put(minimise.AngleOf(par.beta, etsLow, par.alpha))
	}
	if f.Season != etsNone {
		put(minimise.AngleOf(par.gamma, etsLow, 1-par.alpha))
	}
	if f.Damped {
		put(minimise.AngleOf(par.phi, etsPhiLow, etsPhiHigh))
	}
	put(par.l / t.unit.l)
	if f.Trend != etsNone {
		put(par.b / t.unit.b)
	}
	for _, s := range par.s {
		put(s / t.unit.s)
	}
}

// decode reads x into t.par.
func (t *etsTask) decode(x []float64) {
	f, p, i := t.pass.form, &t.par, 0
	take := func() float64 { v := x[i]; i++; return v }
	p.phi = 1
	p.alpha = minimise.FromAngle(take(), etsLow, etsHigh)
	if f.Trend != etsNone {
		p.beta = minimise.FromAngle(take(), etsLow, p.alpha)
	}
	if f.Season != etsNone {
		p.gamma = minimise.FromAngle(take(), etsLow, 1-p.alpha)
	}
	if f.Damped {
		p.phi = minimise.FromAngle(take(), etsPhiLow, etsPhiHigh)
	}
	p.l = take() * t.unit.l
	if f.Trend != etsNone {
		p.b = take() * t.unit.b
	}
	for k := range p.s {
		p.s[k] = x[i+k] * t.unit.s
	}
}

// Value returns -2 log L of the parameters in x, less constants; see run.
func (t *etsTask) Value(x []float64) float64 {
	t.decode(x)
	return t.pass.run(&t.par)
}

// Gradient sets g to the gradient of Value at x, the point of the last call of Value.
func (t *etsTask) Gradient(x, g []float64) {
	t.pass.gradient(&t.par, &t.grad)
	f, p, d, i := t.pass.form, &t.par, &t.grad, 1
	byAlpha := d.alpha
	if f.Trend != etsNone {
		s, c := math.Sincos(x[i])
		byAlpha += d.beta * s * s
		g[i] = d.beta * max(p.alpha-etsLow, 0) * 2 * s * c
		i++
	}
	if f.Season != etsNone {
		s, c := math.Sincos(x[i])
		if room := 1 - p.alpha - etsLow; room > 0 {
			byAlpha -= d.gamma * s * s
			g[i] = d.gamma * room * 2 * s * c
		} else {
			g[i] = 0
		}
		i++
	}
	if f.Damped {
		g[i] = d.phi * (etsPhiHigh - etsPhiLow) * math.Sin(2*x[i])
		i++
	}
	g[0] = byAlpha * (etsHigh - etsLow) * math.Sin(2*x[0])
	g[i] = d.l * t.unit.l
	i++
	if f.Trend != etsNone {
		g[i] = d.b * t.unit.b
		i++
	}
	for k, v := range d.s {
		g[i+k] = v * t.unit.s
	}
}

// Admits reports whether old errors lose their weight with the parameters in x (Hyndman, Akram
// and Archibald, "The admissible parameter space for exponential smoothing models", 2008).
// Within the usual bounds that holds for every form without season.
func (t *etsTask) Admits(x []float64) bool {
	if t.pass.form.Season == etsNone {
		return true
	}
	t.decode(x)
	return etsAdmissible(&t.par, t.pass.form, t.pass.m, t.poly)
}

// etsAdmissible reports whether all roots of the characteristic polynomial of the discount
// matrix lie in the unit circle. poly is work space.
func etsAdmissible(p *etsParams, f etsForm, m int, poly []float64) bool {
	poly = poly[:0]
	if f.Trend == etsNone { // the root at one, common to season and level, is divided out
		for range m - 1 {
			poly = append(poly, -p.alpha)
		}
		return model.IsStationary(append(poly, 1-p.alpha-p.gamma))
	}
	middle := p.alpha + p.beta - p.alpha*p.phi
	poly = append(poly, p.phi-p.alpha-p.beta)
	for range m - 2 {
		poly = append(poly, -middle)
	}
	return model.IsStationary(append(poly, 1-middle-p.gamma, -p.phi*(1-p.alpha-p.gamma)))
}
