package smoothing

import (
	"fmt"
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

// etsGrad holds the derivatives of the value of run by each parameter. The caller allocates s.
type etsGrad = etsParams

// gradient sets g to the derivatives at the parameters of the last run, by the adjoint of the
// recursion: one pass backwards for any number of parameters (Griewank and Walther, "Evaluating
// Derivatives", 2008, ch. 3).
func (p *etsPass) gradient(par *etsParams, g *etsGrad) {
	*g = etsGrad{s: g.s}
	weight := 2 * float64(p.n) / (p.sse + float64(p.n)*smallest)
	switch p.form.Season {
	case etsNone:
		p.backPlain(par, g, weight)
	case etsAdd:
		p.backAdditive(par, g, weight)
	default:
		p.backMultiplicative(par, g, weight)
	}
}

// etsDirect returns the direct derivatives of run's value by the difference d and by the
// forecast f of one observation. relative says that errors are multiplicative.
func etsDirect(relative bool, weight, d, f float64) (byD, byF float64) {
	if !relative {
		return weight * d, 0
	}
	inv := 1 / f
	e := d * inv
	byD = weight * e * inv
	return byD, 2*inv - byD*e
}

// backPlain is gradient for forms without season. byL and byB are the derivatives by level and
// slope after the observation, byQ that by q.
func (p *etsPass) backPlain(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, phi, relative := par.alpha, par.beta, par.phi, p.form.Error == etsMul
	var byL, byB float64
	for t := len(p.y) - 1; t >= 0; t-- {
		byQ := byL
		if y := p.y[t]; y == y {
			d := p.d[t]
			byD, byF := etsDirect(relative, weight, d, p.q[t])
			byQ += byF - byD - alpha*byL - beta*byB
			g.alpha += byL * d
			g.beta += byB * d
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}

// backAdditive is gradient for an additive season; byS are the derivatives by the seasonal
// states.
func (p *etsPass) backAdditive(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, gamma, phi, relative := par.alpha, par.beta, par.gamma, par.phi, p.form.Error == etsMul
	byS := g.s
	clear(byS)
	var byL, byB float64
	i := len(p.y) % p.m
	for t := len(p.y) - 1; t >= 0; t-- {
		if i--; i < 0 {
			i = p.m - 1
		}
		byQ := byL
		if y := p.y[t]; y == y {
			d, s := p.d[t], byS[i]
			byD, byF := etsDirect(relative, weight, d, p.q[t]+p.s[t])
			byF -= byD + alpha*byL + beta*byB + gamma*s
			byQ += byF
			byS[i] = s + byF
			g.alpha += byL * d
			g.beta += byB * d
			g.gamma += s * d
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}

// backMultiplicative is gradient for a multiplicative season; byS are the derivatives by the
// seasonal states.
func (p *etsPass) backMultiplicative(par *etsParams, g *etsGrad, weight float64) {
	alpha, beta, gamma, phi, relative := par.alpha, par.beta, par.gamma, par.phi, p.form.Error == etsMul
	byS := g.s
	clear(byS)
	var byL, byB float64
	i := len(p.y) % p.m
	for t := len(p.y) - 1; t >= 0; t-- {
		if i--; i < 0 {
			i = p.m - 1
		}
		byQ := byL
		if y := p.y[t]; y == y {
			d, q, s, after := p.d[t], p.q[t], p.s[t], byS[i]
			byD, byF := etsDirect(relative, weight, d, q*s)
			invS, invQ := 1/s, 1/q
			ds, dq := d*invS, d*invQ
			level := (alpha*byL + beta*byB) * invS
			season := gamma * after * invQ
			byF -= byD + level + season
			byQ += byF*s - season*dq
			byS[i] = after + byF*q - level*ds
			g.alpha += byL * ds
			g.beta += byB * ds
			g.gamma += after * dq
		}
		g.phi += p.b[t] * (byQ + byB)
		byL, byB = byQ, phi*(byQ+byB)
	}
	g.l, g.b = byL, byB
}

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

// etsGuard keeps forecasts near the values of the series. It bounds means at ten times the range
// of the series beyond its extremes, and interval ends and paths at nine times the range beyond
// the extremes or the mean. No sensible forecast gets there; forecasts of multiplicative forms
// near zero do.
type etsGuard struct {
	low, high float64 // extremes of the series
	positive  bool    // all values of the series are above zero
}

func newETSGuard(y []float64) etsGuard {
	g := etsGuard{}
	g.low, g.high = etsExtremes(y)
	g.positive = g.low > 0
	return g
}

// bound moves means inside the bounds. With relative errors and a positive series the lower
// bound is at least zero. NaN becomes the highest value of the series.
func (g etsGuard) bound(mean []float64, relative bool) {
	span := g.high - g.low
	low, high := g.low-10*span, g.high+10*span
	if relative && g.positive {
		low = max(low, 0)
	}
	for i, v := range mean {
		if math.IsNaN(v) {
			v = g.high
		}
		mean[i] = min(max(v, low), high)
	}
}

// ends returns the ends of an interval around mean, moved inside the bounds. NaN becomes the
// bound on its side.
func (g etsGuard) ends(mean, lo, hi float64, relative bool) (inLo, inHi float64) {
	span := 9 * (g.high - g.low)
	low, high := min(g.low, mean)-span, max(g.high, mean)+span
	if relative && g.positive {
		low = max(low, 0)
	}
	if math.IsNaN(lo) {
		lo = low
	}
	if math.IsNaN(hi) {
		hi = high
	}
	return min(max(lo, low), high), min(max(hi, low), high)
}

// etsAhead returns an error where the horizon h is below 1 or a level is not between 0 and 100
// percent.
func etsAhead(h int, levels []float64) error {
	if h < 1 {
		return fmt.Errorf("forecast %d values: expected at least 1", h)
	}
	for _, l := range levels {
		if !(l > 0 && l < 100) {
			return fmt.Errorf("forecast with an interval of %g %%: expected a level between 0 and 100", l)
		}
	}
	return nil
}

// simulate fills out with one future. work is work space for the m seasonal states.
func (f *etsFit) simulate(out, work []float64, rng model.Noise) {
	copy(work, f.end.s)
	l, b, sd := f.end.l, f.end.b, math.Sqrt(f.sigma2)
	tiny := 1e-9 * max(math.Abs(f.guard.low), math.Abs(f.guard.high), math.SmallestNonzeroFloat64)
	for t := range out {
		q, i := l+f.par.phi*b, t%f.m
		mu, s := q, 1.0
		switch f.form.Season {
		case etsAdd:
			s = work[i]
			mu += s
		case etsMul:
			s = max(work[i], 1e-9)
			q = max(q, tiny)
			mu = q * s
		}
		e := sd * model.Innovation(rng, t)
		if f.hasRelativeError() {
			mu = max(mu, tiny)
			e = mu * max(e, -1+1e-9)
		}
		y, _ := f.guard.ends(f.guard.low, mu+e, mu+e, f.hasRelativeError())
		out[t] = y
		d := y - mu
		ds := d
		if f.form.Season == etsMul {
			ds = d / s
		}
		l, b = q+f.par.alpha*ds, f.par.phi*b+f.par.beta*ds
		switch f.form.Season {
		case etsAdd:
			work[i] = s + f.par.gamma*d
		case etsMul:
			work[i] = s + f.par.gamma*d/q
		}
	}
}
