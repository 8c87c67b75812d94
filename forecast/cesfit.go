package forecast

import "math"

// cesWeights are the complex weights a0 + i a1 and, of the season, b0 + i b1.
type cesWeights struct{ a0, a1, b0, b1 float64 }

// cesState is the pair without season and a pair for each phase.
type cesState struct {
	l, c   float64
	d0, d1 []float64
}

func newCESState(kind string, m int) cesState {
	if kind == "none" {
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

// expect is the one-step forecast of a value in phase i.
func (s *cesState) expect(kind string, i int) float64 {
	switch kind {
	case "none":
		return s.l
	case "simple":
		return s.d0[i]
	}
	return s.l + s.d0[i]
}

// follow moves the states by an error e in phase i.
func (s *cesState) follow(kind string, w cesWeights, i int, e float64) {
	switch kind {
	case "simple":
		s.d0[i], s.d1[i] = cesPair(s.d0[i], s.d1[i], w.a0, w.a1, e)
		return
	case "partial":
		s.d0[i] += w.b0 * e
	case "full":
		s.d0[i], s.d1[i] = cesPair(s.d0[i], s.d1[i], w.b0, w.b1, e)
	}
	s.l, s.c = cesPair(s.l, s.c, w.a0, w.a1, e)
}

func cesPair(l, c, a0, a1, e float64) (newL, newC float64) {
	return l - (1-a1)*c + (a0-a1)*e, l + (1-a0)*c + (a0+a1)*e
}

// cesTask is the objective: x holds a0, a1, the weights of the season, then
// level and second component in units of the deviation of y.
type cesTask struct {
	kind   string
	m      int
	y      []float64
	n      int
	start  cesState // of the seasonal kinds, and the scale of the level
	unit   float64
	state  cesState
	w      cesWeights
	sse    float64
	growth float64 // most that the model, left alone, may multiply itself by in a step: it doubles over the series
}

func fitCES(search *etsSearch, kind string) *cesFit {
	t := newCESTask(search, kind)
	k := t.weights() + t.levels() // estimated by search
	x, best := make([]float64, k), make([]float64, k)
	least, scale, work := math.Inf(1), make([]float64, k), newETSBFGS(k)
	for i := range scale {
		scale[i] = 0.2
		if i >= t.weights() {
			scale[i] = 1
		}
	}
	for _, w := range []cesWeights{{1.3, 1, 0.1, 1}, {1.05, 1, 0.3, 1}, {1.7, 1.005, 0.05, 0.95}, {1.4, 0.98, 0.5, 1}} {
		if kind == "full" {
			w.b0 += 0.8
		}
		t.encode(w, x)
		if v := work.minimise(t, x, scale, 60, 1e-3); v < least && t.admits(x) {
			least = v
			copy(best, x)
		}
	}
	params := k
	if kind != "none" { // the seasonal states, though they were not searched for
		params += t.m - 1
	}
	if math.IsInf(least, 1) || t.n < params+3 {
		return nil
	}
	return t.finish(search, best, params)
}

func newCESTask(search *etsSearch, kind string) *cesTask {
	t := &cesTask{kind: kind, m: 1, y: search.y, start: cesState{}}
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
	if kind != "none" {
		t.m = search.m
		t.start = newCESState(kind, t.m)
		var figures []float64
		figures, flat = etsFigures(etsAdd, t.m, search.filled)
		copy(t.start.d0, figures)
	}
	t.start.l = etsMean(flat[:min(len(flat), max(5, t.m))])
	if kind == "simple" {
		for i := range t.start.d0 {
			t.start.d0[i] += t.start.l
		}
	}
	copy(t.start.d1, t.start.d0)
	t.state = t.start.clone()
	return t
}

// weights counts the smoothing weights of the kind, levels the first states
// that are searched for.
func (t *cesTask) weights() int {
	return map[string]int{"none": 2, "simple": 2, "partial": 3, "full": 4}[t.kind]
}

func (t *cesTask) levels() int {
	if t.kind == "simple" {
		return 0
	}
	return 2
}

func (t *cesTask) encode(w cesWeights, x []float64) {
	copy(x, []float64{w.a0, w.a1, w.b0, w.b1}[:t.weights()])
	if k := t.weights(); t.levels() > 0 {
		x[k], x[k+1] = t.start.l/t.unit, t.start.l/w.a0/t.unit
	}
}

// value is n log of the sum of squared errors.
func (t *cesTask) value(x []float64) float64 {
	k := t.weights()
	var w [4]float64
	copy(w[:], x[:k])
	t.w = cesWeights{w[0], w[1], w[2], w[3]}
	copy(t.state.d0, t.start.d0)
	copy(t.state.d1, t.start.d1)
	if t.levels() > 0 {
		t.state.l, t.state.c = x[k]*t.unit, x[k+1]*t.unit
	}
	t.sse = t.pass(nil)
	v := float64(t.n) * math.Log(t.sse+float64(t.n)*smallest)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.Inf(1)
	}
	return v
}

// pass runs over the series from t.state and sums the squared errors; it keeps
// the forecasts where asked to.
func (t *cesTask) pass(fitted []float64) float64 {
	sse, i := 0.0, 0
	for k, y := range t.y {
		f := t.state.expect(t.kind, i)
		e := y - f
		if e != e {
			e = 0
		}
		if fitted != nil {
			fitted[k] = f
		}
		sse += e * e
		t.state.follow(t.kind, t.w, i, e)
		if i++; i == t.m {
			i = 0
		}
	}
	return sse
}

func (t *cesTask) gradient(x, g []float64) {
	const h = 1e-6
	for i, keep := range x {
		x[i] = keep + h
		up := t.value(x)
		x[i] = keep - h
		g[i] = (up - t.value(x)) / (2 * h)
		x[i] = keep
		if math.IsNaN(g[i]) || math.IsInf(g[i], 0) {
			g[i] = 0
		}
	}
}

// admits holds the weights to where old errors fade (op. cit. sec. 3.3) and
// where the model, left alone, no more than doubles or halves over a stretch
// as long as the series: one that decays to zero in a few steps mistakes zero
// for the mean.
func (t *cesTask) admits(x []float64) bool {
	lag := 1
	if t.kind == "simple" {
		lag = t.m
	}
	if !cesFades(x[0], x[1], math.Pow(t.growth, float64(lag))) {
		return false
	}
	switch t.kind {
	case "partial":
		return x[2] >= 0 && x[2] <= 1
	case "full":
		return cesFades(x[2], x[3], math.Pow(t.growth, float64(t.m)))
	}
	return true
}

// cesFades looks at the eigenvalues of the discount matrix, which must be in
// the unit circle, and of the transition: none beyond the radius, and one at
// least as large as its inverse.
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
