package smoothing

import "math"

// etsParams are the parameters and first states of an exponential smoothing model. s[i] is the
// seasonal state for the observations i, i+m, i+2m, ….
type etsParams struct {
	alpha, beta, gamma, phi float64
	l, b                    float64
	s                       []float64
}

// etsPass runs the recursion of a form over a series and gives the likelihood with its gradient.
// With q = l + phi b and d = y - f the forms are
//
//	season N: f = q      l' = q + alpha d    b' = phi b + beta d
//	season A: f = q + s  l' = q + alpha d    b' = phi b + beta d    s' = s + gamma d
//	season M: f = q s    l' = q + alpha d/s  b' = phi b + beta d/s  s' = s + gamma d/q
//
// for additive and for multiplicative errors (Hyndman et al. 2008, table 2.1, with the errors of
// the multiplicative forms written out). The kind of error decides the likelihood. At a missing
// value d is zero.
type etsPass struct {
	form etsForm
	m    int
	y    []float64
	n    int // known values
	// q, b and s as they were before each observation, and its d.
	q, b, s, d []float64
	ring       []float64 // seasonal state of each phase after the last run
	floor      float64   // levels, seasonal states and forecasts that must be positive must exceed it
	sse        float64   // sum of squared errors, relative ones where the error is etsMul
	endL, endB float64
}

// newETSPass returns a pass of a form with a season of m steps over y.
func newETSPass(form etsForm, m int, y []float64) *etsPass {
	k := len(y)
	buf := make([]float64, 4*k+m)
	p := &etsPass{form: form, m: m, y: y, q: buf[:k], b: buf[k : 2*k], s: buf[2*k : 3*k], d: buf[3*k : 4*k], ring: buf[4*k:]}
	for _, v := range y {
		if !math.IsNaN(v) {
			p.n++
		}
	}
	return p
}

// smallest is added to the mean squared error, for series on a scale of one, so that a perfect
// fit has a finite likelihood.
const smallest = 1e-24

// run returns -2 log L, less the constants of the normal density: n log(sum e²) + 2 sum log f,
// the second term for multiplicative errors only (op. cit. eq. 5.3). It is +Inf where a
// forecast, level or seasonal state that must be positive is not.
func (p *etsPass) run(par *etsParams) float64 {
	var ok bool
	switch p.form.Season {
	case etsNone:
		ok = p.forwardPlain(par)
	case etsAdd:
		ok = p.forwardAdditive(par)
	default:
		ok = p.forwardMultiplicative(par)
	}
	if !ok {
		return math.Inf(1)
	}
	logs, ok := p.errors()
	if v := float64(p.n)*math.Log(p.sse+float64(p.n)*smallest) + 2*logs; ok && !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// forwardPlain runs the recursion without season. It returns true.
func (p *etsPass) forwardPlain(par *etsParams) bool {
	l, b := par.l, par.b
	alpha, beta, phi := par.alpha, par.beta, par.phi
	for t, y := range p.y {
		q := l + phi*b
		d := y - q
		if d != d {
			d = 0
		}
		p.q[t], p.b[t], p.d[t] = q, b, d
		l = q + alpha*d
		b = phi*b + beta*d
	}
	p.endL, p.endB = l, b
	return true
}

// forwardAdditive runs the recursion with an additive season. It returns true.
func (p *etsPass) forwardAdditive(par *etsParams) bool {
	copy(p.ring, par.s)
	l, b, i := par.l, par.b, 0
	alpha, beta, gamma, phi := par.alpha, par.beta, par.gamma, par.phi
	for t, y := range p.y {
		q, s := l+phi*b, p.ring[i]
		d := y - q - s
		if d != d {
			d = 0
		}
		p.q[t], p.b[t], p.s[t], p.d[t] = q, b, s, d
		l = q + alpha*d
		b = phi*b + beta*d
		p.ring[i] = s + gamma*d
		if i++; i == p.m {
			i = 0
		}
	}
	p.endL, p.endB = l, b
	return true
}

// forwardMultiplicative runs the recursion with a multiplicative season. It returns false where
// a level or a seasonal state is not above floor.
func (p *etsPass) forwardMultiplicative(par *etsParams) bool {
	copy(p.ring, par.s)
	l, b, i := par.l, par.b, 0
	alpha, beta, gamma, phi := par.alpha, par.beta, par.gamma, par.phi
	for t, y := range p.y {
		q, s := l+phi*b, p.ring[i]
		if !(q > p.floor && s > p.floor) {
			return false
		}
		d := y - q*s
		if d != d {
			d = 0
		}
		p.q[t], p.b[t], p.s[t], p.d[t] = q, b, s, d
		ds := d / s
		l = q + alpha*ds
		b = phi*b + beta*ds
		p.ring[i] = s + gamma*d/q
		if i++; i == p.m {
			i = 0
		}
	}
	p.endL, p.endB = l, b
	return true
}

// forecast returns the one-step forecast of observation t in the last run.
func (p *etsPass) forecast(t int) float64 {
	switch p.form.Season {
	case etsNone:
		return p.q[t]
	case etsAdd:
		return p.q[t] + p.s[t]
	}
	return p.q[t] * p.s[t]
}

// errors sets sse to the sum of squared errors. For relative errors it returns the sum of the
// logs of the forecasts, one logarithm for sixteen factors; ok is false where a forecast is not
// above floor.
func (p *etsPass) errors() (logs float64, ok bool) {
	sse := 0.0
	if p.form.Error == etsAdd {
		for _, d := range p.d {
			sse += d * d
		}
		p.sse = sse
		return 0, true
	}
	product := 1.0
	for t, d := range p.d {
		f := p.forecast(t)
		if !(f > p.floor) {
			return 0, false
		}
		if y := p.y[t]; y == y {
			e := d / f
			sse += e * e
			product *= f
		}
		if t&15 == 15 {
			logs += math.Log(product)
			product = 1
		}
	}
	p.sse = sse
	return logs + math.Log(product), true
}
