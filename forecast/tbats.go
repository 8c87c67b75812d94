package forecast

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// tbatsForm is one form of the model of De Livera, Hyndman & Snyder (2011,
// "Forecasting time series with complex seasonal patterns using exponential
// smoothing", JASA 106):
//
//	y_t^(w) = l + p b + sum s_j + d_t,    d_t = a d_(t-1) + e_t
//	l' = l + p b + A d_t,   b' = p b + B d_t
//	s_j' = s_j cos q_j + s*_j sin q_j + G1 d_t,  s*_j' = s*_j cos q_j - s_j sin q_j + G2 d_t
//
// with q_j = 2 pi j / m, and y^(w) the Box-Cox transform.
type tbatsForm struct {
	seasons, harmonics  []int
	boxCox, trend, damp bool
	ar                  bool
}

func (f tbatsForm) String() string {
	s := "TBATS("
	if f.boxCox {
		s += "Box-Cox, "
	}
	if f.ar {
		s += "{1,0}, "
	} else {
		s += "{0,0}, "
	}
	switch {
	case f.damp:
		s += "damped trend"
	case f.trend:
		s += "trend"
	default:
		s += "level"
	}
	for k, m := range f.seasons {
		s += fmt.Sprintf(", <%d,%d>", m, f.harmonics[k])
	}
	return s + ")"
}

// places is the number of states.
func (f tbatsForm) places() int {
	n := 1
	if f.trend {
		n++
	}
	for _, k := range f.harmonics {
		n += 2 * k
	}
	if f.ar {
		n++
	}
	return n
}

// gammaScale makes a step of the search in a season's gains a tenth of one in
// the level's, as they are by nature smaller.
const gammaScale = 0.1

// tbats is the work of fitting one form; its buffers serve every likelihood.
type tbats struct {
	form     tbatsForm
	y, z     []float64 // as given, transformed
	logs     float64   // sum of the logarithms of y
	cos, sin []float64 // of each harmonic
	group    []int     // its season
	size     int

	lambda, phi, ar float64
	alpha, beta     float64
	g1, g2          []float64

	w, g, x, next, r, rNext []float64
	gram                    *mat.SymDense
	right                   []float64
	rows                    [][]float64
	start                   []float64 // seed states
	left                    []float64 // innovations
	sse                     float64
}

func newTBATS(form tbatsForm, y []float64) *tbats {
	f := &tbats{form: form, y: y, z: make([]float64, len(y)), size: form.places(), left: make([]float64, len(y))}
	for _, v := range y {
		f.logs += math.Log(math.Max(v, 1e-300))
	}
	for k, m := range form.seasons {
		for j := 1; j <= form.harmonics[k]; j++ {
			q := 2 * math.Pi * float64(j) / float64(m)
			f.cos, f.sin, f.group = append(f.cos, math.Cos(q)), append(f.sin, math.Sin(q)), append(f.group, k)
		}
	}
	f.g1, f.g2 = make([]float64, len(form.seasons)), make([]float64, len(form.seasons))
	for _, v := range []*[]float64{&f.w, &f.g, &f.x, &f.next, &f.r, &f.rNext, &f.right, &f.start} {
		*v = make([]float64, f.size)
	}
	f.gram = mat.NewSymDense(f.size, nil)
	f.rows = make([][]float64, len(y))
	for t := range f.rows {
		f.rows[t] = make([]float64, f.size)
	}
	return f
}

// first are the parameters that the search starts from, in the order that set takes.
func (f *tbats) first() []float64 {
	out := []float64{0.09}
	if f.form.trend {
		out = append(out, 0.05)
	}
	if f.form.damp {
		out = append(out, 0.97)
	}
	for range f.form.seasons {
		out = append(out, 0.01, 0.01)
	}
	if f.form.ar {
		out = append(out, 0)
	}
	if f.form.boxCox {
		out = append(out, 0.3)
	}
	return out
}

// set takes the parameters, and says whether they are allowed.
func (f *tbats) set(p []float64) bool {
	take := func() float64 {
		v := p[0]
		p = p[1:]
		return v
	}
	f.lambda, f.phi, f.ar, f.beta = 1, 1, 0, 0
	f.alpha = take()
	if f.form.trend {
		f.beta = take()
	}
	if f.form.damp {
		f.phi = take()
	}
	for k := range f.g1 {
		f.g1[k], f.g2[k] = gammaScale*take(), gammaScale*take()
	}
	if f.form.ar {
		f.ar = take()
	}
	if f.form.boxCox {
		f.lambda = math.Max(0, math.Min(1, take()))
	}
	if f.phi < 0.8 || f.phi > 1 || math.Abs(f.ar) > 0.98 {
		return false
	}
	f.vectors()
	return true
}

// vectors puts the observation's weights and the gains.
func (f *tbats) vectors() {
	clear(f.w)
	clear(f.g)
	at := 1
	f.w[0], f.g[0] = 1, f.alpha
	if f.form.trend {
		f.w[1], f.g[1] = f.phi, f.beta
		at = 2
	}
	for j, k := range f.group {
		f.w[at+2*j], f.g[at+2*j], f.g[at+2*j+1] = 1, f.g1[k], f.g2[k]
	}
	if f.form.ar {
		f.w[f.size-1], f.g[f.size-1] = f.ar, 1
	}
}

// forward puts F x, the states one step on without news; d is a d_(t-1).
func (f *tbats) forward(x, out []float64) {
	d := 0.0
	if f.form.ar {
		d = f.ar * x[f.size-1]
		out[f.size-1] = d
	}
	out[0] = x[0] + f.alpha*d
	at := 1
	if f.form.trend {
		out[0] += f.phi * x[1]
		out[1] = f.phi*x[1] + f.beta*d
		at = 2
	}
	for j, k := range f.group {
		a, b := x[at+2*j], x[at+2*j+1]
		out[at+2*j] = a*f.cos[j] + b*f.sin[j] + f.g1[k]*d
		out[at+2*j+1] = b*f.cos[j] - a*f.sin[j] + f.g2[k]*d
	}
}

// backward puts r F.
func (f *tbats) backward(r, out []float64) {
	at := 1
	out[0] = r[0]
	d := r[0] * f.alpha
	if f.form.trend {
		out[1] = f.phi * (r[0] + r[1])
		d += r[1] * f.beta
		at = 2
	}
	for j, k := range f.group {
		a, b := r[at+2*j], r[at+2*j+1]
		out[at+2*j] = a*f.cos[j] - b*f.sin[j]
		out[at+2*j+1] = a*f.sin[j] + b*f.cos[j]
		d += a*f.g1[k] + b*f.g2[k]
	}
	if f.form.ar {
		out[f.size-1] = f.ar * (r[f.size-1] + d)
	}
}

// score is n log(SSE) - 2 (lambda - 1) sum log y, which is minus twice the
// log-likelihood but for a constant, at the best seed states: innovations are
// linear in them, so they are a least-squares fit. Parameters under which old
// errors would not die out are not allowed.
func (f *tbats) score(p []float64) float64 {
	if !f.set(p) {
		return math.Inf(1)
	}
	clear(f.x)
	clear(f.right)
	f.gram.Zero()
	gram := f.gram.RawSymmetric()
	copy(f.r, f.w)
	most := 0.0
	for t, v := range f.y {
		f.z[t] = boxcox(v, f.lambda)
		e := f.z[t] - dot(f.w, f.x)
		f.left[t] = e
		f.forward(f.x, f.next)
		for i := range f.next {
			f.next[i] += f.g[i] * e
		}
		f.x, f.next = f.next, f.x
		copy(f.rows[t], f.r)
		for i, a := range f.r {
			f.right[i] += a * e
			row := gram.Data[i*gram.Stride : i*gram.Stride+f.size]
			for j := i; j < f.size; j++ {
				row[j] += a * f.r[j]
			}
		}
		gain := dot(f.r, f.g)
		f.backward(f.r, f.rNext)
		most = 0
		for i := range f.rNext {
			f.rNext[i] -= gain * f.w[i]
			most = math.Max(most, math.Abs(f.rNext[i]))
		}
		if !(most < 100) {
			return math.Inf(1)
		}
		f.r, f.rNext = f.rNext, f.r
	}
	if most > 2 || !f.seed() {
		return math.Inf(1)
	}
	return float64(len(f.y))*math.Log(math.Max(f.sse, 1e-300)) - 2*(f.lambda-1)*f.logs
}

// seed solves for the seed states and puts the innovations that they leave.
func (f *tbats) seed() bool {
	for i := range f.size {
		f.gram.SetSym(i, i, f.gram.At(i, i)*(1+1e-10)+1e-12)
	}
	var chol mat.Cholesky
	if !chol.Factorize(f.gram) {
		return false
	}
	x := mat.NewVecDense(f.size, f.start)
	if err := chol.SolveVecTo(x, mat.NewVecDense(f.size, f.right)); err != nil && !isCondition(err) {
		return false
	}
	f.sse = 0
	for t, r := range f.rows {
		f.left[t] -= dot(r, f.start)
		f.sse += f.left[t] * f.left[t]
	}
	return true
}

// search finds the best parameters of the form, from near where a form like it
// had its own where those are given, and gives the score and AIC as R counts
// it: parameters and seed states.
func (f *tbats) search(near []float64) (params []float64, score, aic float64, err error) {
	params = f.first()
	score = f.score(params)
	if len(near) == len(params) {
		if s := f.score(near); s < score {
			params, score = near, s
		}
	}
	for range 3 {
		res, e := optimize.Minimize(optimize.Problem{Func: f.score}, params,
			&optimize.Settings{FuncEvaluations: 400 * len(params), Converger: &optimize.FunctionConverge{Absolute: 1e-6, Iterations: 60}},
			&optimize.NelderMead{SimplexSize: 0.05})
		if res == nil || e != nil && !known(res.F) {
			break
		}
		better := score - res.F
		if better > 0 || math.IsInf(score, 1) {
			params, score = res.X, res.F
		}
		if better < 1e-3 {
			break
		}
	}
	if !known(score) {
		return nil, 0, 0, fmt.Errorf("tbats: no parameters fit: %w", ErrUnfit)
	}
	f.score(params)
	return params, score, score + 2*float64(len(params)+f.size), nil
}
