package tbats

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// tbats fits one form to one series. Every evaluation of the likelihood reuses its buffers.
type tbats struct {
	form     tbatsForm
	y, z     []float64                   // the values given, and their Box-Cox transforms
	logs     float64                     // sum of the logarithms of y
	cos, sin []float64                   // of the angle 2 pi j / m of each harmonic
	group    []int                       // index of the season that each harmonic belongs to
	size     int                         // number of states
	first    struct{ waves, ar, ma int } // index of the first harmonic, AR and MA state

	tbatsParams
	// w are the weights of the states in the observation, g the gains of the states, x the
	// states and r the row r_t of evaluate. next and rNext are their successors.
	w, g, x, next, r, rNext []float64
	rows                    blas64.General // r_t of each step; in Gradient, the states before it
	gram                    *mat.SymDense  // sum of r_t r_t', the matrix of the normal equations
	right, start            []float64      // of the normal equations: right side, solution (seed states)
	left                    []float64      // innovations
	poly                    []float64      // work space of the stationarity check
	grad                    tbatsParams    // derivatives of sse by the parameters
	sse, score              float64        // sum of squared innovations; -2 log L up to a constant
	excess                  float64        // growth of the last r_t beyond the free allowance, in logs
}

var _ minimise.Objective = (*tbats)(nil)

// newTBATS returns the fit of a form to y, with buffers allocated and no parameters set.
func newTBATS(form tbatsForm, y []float64) *tbats {
	f := &tbats{form: form, y: y, z: make([]float64, len(y)), size: form.places(), left: make([]float64, len(y))}
	for _, v := range y {
		f.logs += math.Log(math.Max(v, 1e-300))
	}
	for k, m := range form.seasons {
		for j := 1; j <= form.harmonics[k]; j++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(j) / float64(m))
			f.cos, f.sin, f.group = append(f.cos, cos), append(f.sin, sin), append(f.group, k)
		}
	}
	f.first.waves = 1
	if form.trend {
		f.first.waves = 2
	}
	f.first.ar = f.first.waves + 2*len(f.cos)
	f.first.ma = f.first.ar + form.ar
	for _, p := range []*tbatsParams{&f.tbatsParams, &f.grad} {
		p.g1, p.g2 = make([]float64, len(form.seasons)), make([]float64, len(form.seasons))
		p.ar, p.ma = make([]float64, form.ar), make([]float64, form.ma)
	}
	for _, v := range []*[]float64{&f.w, &f.g, &f.x, &f.next, &f.r, &f.rNext, &f.right, &f.start} {
		*v = make([]float64, f.size)
	}
	f.gram = mat.NewSymDense(f.size, nil)
	f.rows = blas64.General{Rows: len(y), Cols: f.size, Stride: f.size, Data: make([]float64, len(y)*f.size)}
	return f
}

func (f *tbats) row(t int) []float64 { return f.rows.Data[t*f.size : (t+1)*f.size] }

// vectors sets w, the weights of the states in the observation, and g, their gains.
func (f *tbats) vectors() {
	clear(f.w)
	clear(f.g)
	f.w[0], f.g[0] = 1, f.alpha
	if f.form.trend {
		f.w[1], f.g[1] = f.phi, f.beta
	}
	for j, k := range f.group {
		i := f.first.waves + 2*j
		f.w[i], f.g[i], f.g[i+1] = 1, f.g1[k], f.g2[k]
	}
	copy(f.w[f.first.ar:], f.ar)
	copy(f.w[f.first.ma:], f.ma)
	if len(f.ar) > 0 {
		f.g[f.first.ar] = 1
	}
	if len(f.ma) > 0 {
		f.g[f.first.ma] = 1
	}
}

// errorCarryover returns d_t - e_t: what past errors contribute to the ARMA error.
func (f *tbats) errorCarryover(x []float64) float64 {
	return model.Dot(f.ar, x[f.first.ar:]) + model.Dot(f.ma, x[f.first.ma:])
}

// stepForward sets out to F x: the states one step later if the innovation is zero.
func (f *tbats) stepForward(x, out []float64) {
	d := f.errorCarryover(x)
	out[0] = x[0] + f.alpha*d
	if f.form.trend {
		out[0] += f.phi * x[1]
		out[1] = f.phi*x[1] + f.beta*d
	}
	for j, k := range f.group {
		i := f.first.waves + 2*j
		a, b := x[i], x[i+1]
		out[i] = a*f.cos[j] + b*f.sin[j] + f.g1[k]*d
		out[i+1] = b*f.cos[j] - a*f.sin[j] + f.g2[k]*d
	}
	shift(x[f.first.ar:f.first.ma], out[f.first.ar:f.first.ma], d)
	shift(x[f.first.ma:], out[f.first.ma:], 0)
}

// shift sets out to x moved one place back, with newest in front. The last element of x drops
// out.
func shift(x, out []float64, newest float64) {
	if len(x) > 0 {
		copy(out[1:], x)
		out[0] = newest
	}
}

// news returns the derivative of r by d_t: r times the gains of the states on the ARMA error.
func (f *tbats) news(r []float64) float64 {
	d := r[0] * f.alpha
	if f.form.trend {
		d += r[1] * f.beta
	}
	for j, k := range f.group {
		i := f.first.waves + 2*j
		d += r[i]*f.g1[k] + r[i+1]*f.g2[k]
	}
	if len(f.ar) > 0 {
		d += r[f.first.ar]
	}
	return d
}

func (f *tbats) stepBackward(r, out []float64) {
	out[0] = r[0]
	if f.form.trend {
		out[1] = f.phi * (r[0] + r[1])
	}
	for j := range f.group {
		i := f.first.waves + 2*j
		a, b := r[i], r[i+1]
		out[i] = a*f.cos[j] - b*f.sin[j]
		out[i+1] = a*f.sin[j] + b*f.cos[j]
	}
	d := f.news(r)
	for i, a := range f.ar {
		out[f.first.ar+i] = a * d
		if i+1 < len(f.ar) {
			out[f.first.ar+i] += r[f.first.ar+i+1]
		}
	}
	for i, c := range f.ma {
		out[f.first.ma+i] = c * d
		if i+1 < len(f.ma) {
			out[f.first.ma+i] += r[f.first.ma+i+1]
		}
	}
}

// Value sets the parameters from x and returns evaluate's objective.
func (f *tbats) Value(x []float64) float64 {
	f.form.decode(x, &f.tbatsParams)
	return f.evaluate()
}

// evaluate returns n log(SSE) - 2 (lambda - 1) sum log y, which is minus twice the
// log-likelihood up to a constant, at the best seed states x_0. The innovations are linear in
// them, e_t = e_t(0) - r_t x_0 with r_t = w (F - g w)^(t-1), so x_0 is a least-squares solution.
//
// Old errors must die out, or nearly: R allows the roots of F - g w up to 1.01. Here the length
// of the last r_t measures how much old errors have grown. The log of its square may reach
// log(states) + n tbatsGrowth for free. The square of the excess is added to the objective as a
// smooth penalty. The objective is +Inf where the excess reaches n tbatsGrowth + 2, where the
// autoregression is not stationary and where the seed states cannot be solved for.
func (f *tbats) evaluate() float64 {
	f.poly = append(f.poly[:0], f.ar...)
	if !model.IsStationary(f.poly) {
		return math.Inf(1)
	}
	f.vectors()
	clear(f.x)
	copy(f.r, f.w)
	for t, v := range f.y {
		f.z[t] = boxcox(v, f.lambda)
		e := f.z[t] - model.Dot(f.w, f.x)
		f.left[t] = e
		f.step(e)
		copy(f.row(t), f.r)
		gain := model.Dot(f.r, f.g)
		f.stepBackward(f.r, f.rNext)
		for i, w := range f.w {
			f.rNext[i] -= gain * w
		}
		f.r, f.rNext = f.rNext, f.r
	}
	usual := math.Log(float64(f.size)) + float64(len(f.y))*tbatsGrowth
	grown := math.Log(model.Dot(f.r, f.r))
	if !(grown < usual+float64(len(f.y))*tbatsGrowth+2) || !f.seed() {
		return math.Inf(1)
	}
	f.excess = math.Max(0, grown-usual)
	f.score = float64(len(f.y))*math.Log(math.Max(f.sse, 1e-300)) - 2*(f.lambda-1)*f.logs
	return f.score + f.excess*f.excess
}

// step moves the states x one step on, given the innovation e.
func (f *tbats) step(e float64) {
	f.stepForward(f.x, f.next)
	for i, g := range f.g {
		f.next[i] += g * e
	}
	f.x, f.next = f.next, f.x
}

// seed solves for the seed states and sets the innovations and their sum of squares for them. It
// returns false where the normal equations have no solution.
func (f *tbats) seed() bool {
	blas64.Syrk(blas.Trans, 1, f.rows, 0, f.gram.RawSymmetric())
	blas64.Gemv(blas.Trans, 1, f.rows, blas64.Vector{N: len(f.left), Inc: 1, Data: f.left}, 0, blas64.Vector{N: f.size, Inc: 1, Data: f.right})
	for i := range f.size {
		f.gram.SetSym(i, i, f.gram.At(i, i)*(1+1e-10)+1e-12)
	}
	var chol mat.Cholesky
	if !chol.Factorize(f.gram) {
		return false
	}
	x := mat.NewVecDense(f.size, f.start)
	if err := chol.SolveVecTo(x, mat.NewVecDense(f.size, f.right)); err != nil && !model.IsCondition(err) {
		return false
	}
	f.sse = 0
	for t := range f.left {
		f.left[t] -= model.Dot(f.row(t), f.start)
		f.sse += f.left[t] * f.left[t]
	}
	return true
}

// Gradient sets out to the gradient of the last value, by the adjoint of the recursion. The seed
// states minimise the objective, so their own dependence on the parameters adds nothing.
func (f *tbats) Gradient(x, out []float64) {
	d := &f.grad
	d.alpha, d.beta, d.phi, d.lambda = 0, 0, 0, 0
	for _, v := range [][]float64{d.g1, d.g2, d.ar, d.ma} {
		clear(v)
	}
	weight := float64(len(f.y)) / math.Max(f.sse, 1e-300)
	if f.excess > 0 {
		f.restrain(4 * f.excess / model.Dot(f.r, f.r) / weight)
	}
	copy(f.x, f.start)
	for t, e := range f.left {
		copy(f.row(t), f.x)
		f.step(e)
	}
	clear(f.r)
	byX, before := f.r, f.rNext
	for t := len(f.left) - 1; t >= 0; t-- {
		e := f.left[t]
		byE := 2*e + model.Dot(f.g, byX)
		f.collect(f.row(t), byX, byE, e)
		if f.form.boxCox && f.lambda < 1 {
			d.lambda += byE * boxcoxSlope(f.y[t], f.z[t], f.lambda)
		}
		f.stepBackward(byX, before)
		for i, w := range f.w {
			before[i] -= w * byE
		}
		byX, before = before, byX
	}
	f.chain(x, out, weight)
}

// restrain adds the derivatives of size/2 times the squared length of the last r to grad. The
// adjoint of r runs through the same steps as the states.
func (f *tbats) restrain(size float64) {
	for i, r := range f.r {
		f.x[i] = size * r
	}
	for t := len(f.y) - 1; t >= 0; t-- {
		r, e := f.row(t), -model.Dot(f.w, f.x)
		f.collect(f.x, r, model.Dot(f.g, r), e)
		f.step(e)
	}
	d := &f.grad
	if f.form.trend {
		d.phi += f.x[1]
	}
	for i := range d.ar {
		d.ar[i] += f.x[f.first.ar+i]
	}
	for i := range d.ma {
		d.ma[i] += f.x[f.first.ma+i]
	}
}

// collect adds the contribution of one step to the derivatives by the parameters. x are the
// states before the step and e its innovation; byX are the derivatives by the states after the
// step and byE the derivative by the innovation.
func (f *tbats) collect(x, byX []float64, byE, e float64) {
	d, news := &f.grad, f.errorCarryover(x)+e
	d.alpha += byX[0] * news
	if f.form.trend {
		d.beta += byX[1] * news
		d.phi += (byX[0] + byX[1] - byE) * x[1]
	}
	for j, k := range f.group {
		i := f.first.waves + 2*j
		d.g1[k] += byX[i] * news
		d.g2[k] += byX[i+1] * news
	}
	if len(f.ar)+len(f.ma) > 0 {
		by := f.news(byX) - byE
		for i := range f.ar {
			d.ar[i] += by * x[f.first.ar+i]
		}
		for i := range f.ma {
			d.ma[i] += by * x[f.first.ma+i]
		}
	}
}

// chain sets out to the derivatives by x, from those of sse by the parameters. weight is the
// derivative of the objective by sse.
func (f *tbats) chain(x, out []float64, weight float64) {
	d, at := &f.grad, 0
	put := func(v float64) { out[at] = v; at++ }
	put(weight * d.alpha)
	if f.form.trend {
		put(weight * d.beta)
	}
	if f.form.damp {
		put(weight * d.phi * (1 - tbatsPhi) * math.Sin(2*x[at]))
	}
	for k := range d.g1 {
		put(weight * gammaScale * d.g1[k])
		put(weight * gammaScale * d.g2[k])
	}
	for _, v := range d.ar {
		put(weight * v)
	}
	for _, v := range d.ma {
		put(weight * v)
	}
	if f.form.boxCox {
		put((weight*d.lambda - 2*f.logs) * math.Sin(2*x[at]))
	}
}

// Admits returns true: evaluate itself refuses parameters that do not fit.
func (f *tbats) Admits([]float64) bool { return true }

// tbatsGrowth is how much the log of the squared length of r_t may grow in a step without a
// penalty. It is half of what evaluate allows.
const tbatsGrowth = 0.005

// A search ends when it gains less than this in -2 log L: coarse to compare forms, fine for the
// form chosen.
const (
	tbatsCoarse = 1e-4
	tbatsFine   = 1e-5
)

// search returns the best parameters that it finds from start, and their score. It stops when
// the gain is below gain. It returns start and +Inf where no likelihood is finite.
func (f *tbats) search(start tbatsParams, gain float64) (tbatsParams, float64) {
	n := f.form.parameterCount()
	x, scale := make([]float64, n), make([]float64, n)
	for i := range scale {
		scale[i] = 0.2
	}
	f.form.encode(start, x)
	if math.IsInf(minimise.NewBFGS(n).Minimise(f, x, scale, 100, gain), 1) || math.IsInf(f.Value(x), 1) {
		return start, math.Inf(1)
	}
	return f.clone(), f.score
}

// clone returns a copy that shares no slice with p.
func (p tbatsParams) clone() tbatsParams {
	for _, v := range []*[]float64{&p.g1, &p.g2, &p.ar, &p.ma} {
		*v = append([]float64(nil), *v...)
	}
	return p
}
