package smoothing

import (
	"math"

	"capcli/forecast/minimise"
)

// cesKind is a kind of season.
type cesKind uint8

// The kinds of season, fewest weights first.
const (
	cesNone cesKind = iota
	cesSimple
	cesPartial
	cesFull
)

// cesKinds are the names of the kinds.
var cesKinds = [...]string{"none", "simple", "partial", "full"}

// String returns the name of the kind.
func (k cesKind) String() string { return cesKinds[k] }

func (k cesKind) weights() int { return [...]int{2, 2, 3, 4}[k] }

// levels returns the number of first states that the search varies: the first l and c, or none.
func (k cesKind) levels() int {
	if k == cesSimple {
		return 0
	}
	return 2
}

// cesWeights are the complex weight a0 + i a1 and, for the season, b0 + i b1. The partial kind
// has b0 alone.
type cesWeights struct{ a0, a1, b0, b1 float64 }

// cesState holds the pair without season (l, c) and a pair (d0, d1) for each phase.
type cesState struct {
	l, c   float64
	d0, d1 []float64
}

// newCESState returns a state of zeros for a season of m steps.
func newCESState(kind cesKind, m int) cesState {
	if kind == cesNone {
		return cesState{}
	}
	buf := make([]float64, 2*m)
	return cesState{d0: buf[:m], d1: buf[m:]}
}

func (s *cesState) clone() cesState {
	out := cesState{l: s.l, c: s.c}
	out.d0 = append(out.d0, s.d0...)
	out.d1 = append(out.d1, s.d1...)
	return out
}

// expect returns the one-step forecast of a value in phase i.
func (s *cesState) expect(kind cesKind, i int) float64 {
	switch kind {
	case cesNone:
		return s.l
	case cesSimple:
		return s.d0[i]
	case cesPartial, cesFull:
	}
	return s.l + s.d0[i]
}

// follow moves the states one step on, given the error e of a value in phase i.
func (s *cesState) follow(kind cesKind, w cesWeights, i int, e float64) {
	switch kind {
	case cesNone:
	case cesSimple:
		s.d0[i], s.d1[i] = cesPair(s.d0[i], s.d1[i], w.a0, w.a1, e)
		return
	case cesPartial:
		s.d0[i] += w.b0 * e
	case cesFull:
		s.d0[i], s.d1[i] = cesPair(s.d0[i], s.d1[i], w.b0, w.b1, e)
	}
	s.l, s.c = cesPair(s.l, s.c, w.a0, w.a1, e)
}

// cesPair moves one pair one step on, given the error e: see CES for the equations.
func cesPair(l, c, a0, a1, e float64) (newL, newC float64) {
	return l - (1-a1)*c + (a0-a1)*e, l + (1-a0)*c + (a0+a1)*e
}

// cesTask is the objective of the search. Its vector x holds a0, a1 and the weights of the
// season, then the first l and c in units of the standard deviation of y.
type cesTask struct {
	kind  cesKind
	m     int
	y     []float64
	n     int       // known values
	start cesState  // first seasonal states, and the guess of the first level
	unit  float64   // standard deviation of y
	state cesState  // current states
	steps []cesStep // of the last pass
	back  cesState  // work space of Gradient: derivatives by the seasonal states
	w     cesWeights
	sse   float64 // sum of squared errors of the last pass
	// growth is the most that the states may multiply by in a step without errors. At this rate
	// they double over the series.
	growth float64
}

// fitCES returns the best fit of a kind, or nil where the search admits no weights or the series
// is too short for the number of parameters.
func fitCES(search *etsSearch, kind cesKind) *cesFit {
	t := newCESTask(search, kind)
	k := t.kind.weights() + t.kind.levels() // the parameters that the search varies
	x, best := make([]float64, k), make([]float64, k)
	least, scale, work := math.Inf(1), make([]float64, k), minimise.NewBFGS(k)
	for i := range scale {
		scale[i] = 0.2
		if i >= kind.weights() {
			scale[i] = 1
		}
	}
	for _, w := range []cesWeights{{1.3, 1, 0.1, 1}, {1.05, 1, 0.3, 1}, {1.7, 1.005, 0.05, 0.95}, {1.4, 0.98, 0.5, 1}} {
		if kind == cesFull {
			w.b0 += 0.8
		}
		t.encode(w, x)
		if v := work.Minimise(t, x, scale, 60, 1e-3); v < least && t.Admits(x) {
			least = v
			copy(best, x)
		}
	}
	params := k
	if kind != cesNone { // the seasonal states count, though the search does not vary them
		params += t.m - 1
	}
	if math.IsInf(least, 1) || t.n < params+3 {
		return nil
	}
	return t.finish(search, best, params)
}

// newCESTask returns the objective for a kind, with first states from the series.
func newCESTask(search *etsSearch, kind cesKind) *cesTask {
	t := &cesTask{kind: kind, m: 1, y: search.y}
	var mean, square float64
	for _, v := range t.y {
		if v == v {
			t.n++
			mean += v
			square += v * v
		}
	}
	mean /= float64(t.n)
	t.unit = math.Sqrt(max(square/float64(t.n)-mean*mean, 1e-20))
	t.growth = 1 + 0.7/float64(t.n)
	flat := search.filled
	if kind != cesNone {
		t.m = search.m
		t.start = newCESState(kind, t.m)
		var figures []float64
		figures, flat = etsFigures(etsAdd, t.m, search.filled)
		copy(t.start.d0, figures)
	}
	t.start.l = etsMean(flat[:min(len(flat), max(5, t.m))])
	if kind == cesSimple {
		for i := range t.start.d0 {
			t.start.d0[i] += t.start.l
		}
	}
	copy(t.start.d1, t.start.d0)
	t.state = t.start.clone()
	t.steps, t.back = make([]cesStep, len(t.y)), newCESState(kind, t.m)
	return t
}

// encode writes the weights w and the guess of the first l and c into x.
func (t *cesTask) encode(w cesWeights, x []float64) {
	copy(x, []float64{w.a0, w.a1, w.b0, w.b1}[:t.kind.weights()])
	if k := t.kind.weights(); t.kind.levels() > 0 {
		x[k], x[k+1] = t.start.l/t.unit, t.start.l/w.a0/t.unit
	}
}

// Value returns n log SSE, or +Inf where that is not finite.
func (t *cesTask) Value(x []float64) float64 {
	t.set(x)
	t.sse = t.pass()
	v := float64(t.n) * math.Log(t.sse+float64(t.n)*smallest)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.Inf(1)
	}
	return v
}

// set sets the weights and the first states from x.
func (t *cesTask) set(x []float64) {
	k := t.kind.weights()
	var w [4]float64
	copy(w[:], x[:k])
	t.w = cesWeights{w[0], w[1], w[2], w[3]}
	copy(t.state.d0, t.start.d0)
	copy(t.state.d1, t.start.d1)
	if t.kind.levels() > 0 {
		t.state.l, t.state.c = x[k]*t.unit, x[k+1]*t.unit
	}
}

// cesStep holds the states before one step and the error of that step.
type cesStep struct{ l, c, d0, d1, e float64 }

// pass runs over the series from t.state, keeps each step and returns the sum of squared errors.
func (t *cesTask) pass() float64 {
	if t.kind == cesSimple {
		return t.passSimple()
	}
	return t.passLevel()
}

func (t *cesTask) passSimple() (sse float64) {
	i, d0, d1 := 0, t.state.d0, t.state.d1
	byC, byError, byL, cByError := 1-t.w.a1, t.w.a0-t.w.a1, 1-t.w.a0, t.w.a0+t.w.a1
	for k, y := range t.y {
		at, l, c := &t.steps[k], d0[i], d1[i]
		e := y - l
		if e != e {
			e = 0
		}
		at.d0, at.d1, at.e = l, c, e
		sse += e * e
		d0[i], d1[i] = l-byC*c+byError*e, l+byL*c+cByError*e
		if i++; i == t.m {
			i = 0
		}
	}
	return sse
}

// passLevel is pass for the kinds with a pair l and c of their own.
func (t *cesTask) passLevel() (sse float64) {
	w, l, c := t.w, t.state.l, t.state.c
	i, d0, d1 := 0, t.state.d0, t.state.d1
	byC, byError, byL, cByError := 1-w.a1, w.a0-w.a1, 1-w.a0, w.a0+w.a1
	for k, y := range t.y {
		at, f := &t.steps[k], l
		at.l, at.c = l, c
		if t.kind != cesNone {
			at.d0, at.d1 = d0[i], d1[i]
			f += at.d0
		}
		e := y - f
		if e != e {
			e = 0
		}
		at.e = e
		sse += e * e
		switch t.kind {
		case cesNone, cesSimple:
		case cesPartial:
			d0[i] += w.b0 * e
		case cesFull:
			d0[i], d1[i] = cesPair(at.d0, at.d1, w.b0, w.b1, e)
		}
		l, c = l-byC*c+byError*e, l+byL*c+cByError*e
		if i++; i == t.m {
			i = 0
		}
	}
	t.state.l, t.state.c = l, c
	return sse
}

// Gradient sets g to the gradient of the last value, by the adjoint of the last pass: one pass
// backwards, as in etsPass.
func (t *cesTask) Gradient(_, g []float64) {
	clear(t.back.d0) // derivatives by the pairs of the phases
	clear(t.back.d1)
	weight := 2 * float64(t.n) / (t.sse + float64(t.n)*smallest)
	var w cesWeights // derivatives by the weights
	var l, c float64 // derivatives by the first l and c
	switch t.kind {
	case cesSimple:
		w = t.backSimple(weight)
	case cesNone, cesPartial, cesFull:
		w, l, c = t.backLevel(weight)
	}
	all := [...]float64{w.a0, w.a1, w.b0, w.b1}
	n := copy(g, all[:t.kind.weights()])
	if t.kind.levels() > 0 {
		g[n], g[n+1] = l*t.unit, c*t.unit
	}
	for i, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			g[i] = 0
		}
	}
}

// backSimple is the pass backwards of the simple kind. weight times the error of a step is the
// direct derivative of the objective by it. It returns the derivatives by the weights.
func (t *cesTask) backSimple(weight float64) (w cesWeights) {
	a0, a1, d0, d1 := t.w.a0, t.w.a1, t.back.d0, t.back.d1
	i := len(t.y) % t.m
	for k := len(t.y) - 1; k >= 0; k-- {
		if i--; i < 0 {
			i = t.m - 1
		}
		at, byL, byC := &t.steps[k], d0[i], d1[i]
		w.a0 += byL*at.e + byC*(at.e-at.d1)
		w.a1 += byL*(at.d1-at.e) + byC*at.e
		d0[i], d1[i] = byL+byC, (1-a0)*byC-(1-a1)*byL
		if y := t.y[k]; y == y { // the error of a missing value is zero whatever the states are
			d0[i] -= weight*at.e + (byL*(a0-a1) + byC*(a0+a1))
		}
	}
	return w
}

// backLevel is backSimple for the kinds with a pair l and c of their own. It returns the
// derivatives by the first l and c too.
func (t *cesTask) backLevel(weight float64) (w cesWeights, byL, byC float64) {
	a0, a1, b0, b1, d0, d1 := t.w.a0, t.w.a1, t.w.b0, t.w.b1, t.back.d0, t.back.d1
	i := len(t.y) % t.m
	for k := len(t.y) - 1; k >= 0; k-- {
		if i--; i < 0 {
			i = t.m - 1
		}
		at := &t.steps[k]
		e, known := at.e, t.y[k] == t.y[k]
		byE := weight*e + (byL*(a0-a1) + byC*(a0+a1))
		w.a0 += byL*e + byC*(e-at.c)
		w.a1 += byL*(at.c-e) + byC*e
		byL, byC = byL+byC, (1-a0)*byC-(1-a1)*byL
		switch t.kind {
		case cesNone, cesSimple:
		case cesPartial:
			byE += d0[i] * b0
			w.b0 += d0[i] * e
		case cesFull:
			on0, on1 := d0[i], d1[i]
			byE += on0*(b0-b1) + on1*(b0+b1)
			w.b0 += on0*e + on1*(e-at.d1)
			w.b1 += on0*(at.d1-e) + on1*e
			d0[i], d1[i] = on0+on1, (1-b0)*on1-(1-b1)*on0
		}
		if !known { // the error of a missing value is zero whatever the states are
			continue
		}
		byL -= byE
		if t.kind != cesNone {
			d0[i] -= byE
		}
	}
	return w, byL, byC
}

// Admits reports whether old errors fade with the weights in x (op. cit. sec. 3.3) and whether
// the model without errors at most doubles or halves over the length of the series. A model that
// decays to zero in a few steps mistakes zero for the mean.
func (t *cesTask) Admits(x []float64) bool {
	lag := 1
	if t.kind == cesSimple {
		lag = t.m
	}
	if !cesFades(x[0], x[1], math.Pow(t.growth, float64(lag))) {
		return false
	}
	switch t.kind {
	case cesNone, cesSimple:
	case cesPartial:
		return x[2] >= 0 && x[2] <= 1
	case cesFull:
		return cesFades(x[2], x[3], math.Pow(t.growth, float64(t.m)))
	}
	return true
}

// cesFades reports whether both eigenvalues of the discount matrix lie in the unit circle, none
// of the transition matrix is beyond radius, and one of the transition matrix is at least
// 1/radius.
func cesFades(a0, a1, radius float64) bool {
	trace := 2 - 2*a0 + a1
	det := (1-a0+a1)*(1-a0) + (1-a1)*(1-a0-a1)
	if !(math.Abs(det) < 1 && math.Abs(trace) < 1+det) {
		return false
	}
	trace, det = 2-a0, 2-a0-a1
	if r := 1 / radius; (r-trace)*r+det > 0 {
		return false
	}
	trace, det = trace/radius, det/(radius*radius)
	return math.Abs(det) <= 1 && math.Abs(trace) <= 1+det
}
