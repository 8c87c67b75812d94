package smoothing

import (
	"math"

	"capcli/forecast/model"
)

// finish runs the best weights in x once more and returns the fit on the scale of the series.
// params is the number of estimated parameters without the variance.
func (t *cesTask) finish(search *etsSearch, x []float64, params int) *cesFit {
	t.Value(x)
	first := t.start.clone()
	if k := t.kind.weights(); t.kind.levels() > 0 {
		first.l, first.c = x[k]*t.unit, x[k+1]*t.unit
	}
	f := &cesFit{kind: t.kind, m: t.m, w: t.w}
	t.state = first.clone()
	sse := t.pass()
	fitted := t.forecasts()
	f.widen = t.widening(f, first)

	n, k, scale := float64(t.n), float64(params+1), search.scale
	lik := n*(math.Log(2*math.Pi*math.Max(sse/n, smallest))+1) + 2*n*math.Log(scale)
	f.info = model.Info{
		Method: "CES(" + t.kind.String() + ")", LogLik: -lik / 2, AIC: lik + 2*k, BIC: lik + k*math.Log(n),
		AICc: lik + 2*k + 2*k*(k+1)/(n-k-1), Sigma2: sse / (n - k + 1) * scale * scale, Fitted: fitted,
		Params: []model.Param{{Name: "a0", Value: t.w.a0}, {Name: "a1", Value: t.w.a1}, {Name: "b0", Value: t.w.b0}, {Name: "b1", Value: t.w.b1}}[:t.kind.weights()],
	}
	for i := range fitted {
		fitted[i] *= scale
	}
	f.sd = math.Sqrt(f.info.Sigma2)
	f.end = t.state.clone()
	for i := range f.end.d0 {
		at := (len(t.y) + i) % t.m
		f.end.d0[i], f.end.d1[i] = t.state.d0[at]*scale, t.state.d1[at]*scale
	}
	f.end.l *= scale
	f.end.c *= scale
	return f
}

// forecasts returns the one-step forecasts of the last pass.
func (t *cesTask) forecasts() []float64 {
	out := make([]float64, len(t.y))
	for i, at := range t.steps {
		switch t.kind {
		case cesNone:
			out[i] = at.l
		case cesSimple:
			out[i] = at.d0
		default:
			out[i] = at.l + at.d0
		}
	}
	return out
}

// widening forecasts from many origins inside the series. It returns the root of the mean ratio
// of squared errors to those that the model expects, kept between 1 and 2. It returns 1 for a
// series too short for that.
func (t *cesTask) widening(f *cesFit, first cesState) float64 {
	steps := min(max(t.m, 8), 48, t.n/4)
	if steps < 2 {
		return 1
	}
	sd, state := f.deviations(steps), first.clone()
	ahead := first.clone()
	one, sum, count := 0.0, 0.0, 0.0
	stride := max(1, len(t.y)/200)
	for k, y := range t.y {
		if k >= t.m && k%stride == 0 && k+steps <= len(t.y) {
			ahead.l, ahead.c = state.l, state.c
			copy(ahead.d0, state.d0)
			copy(ahead.d1, state.d1)
			for j := range steps {
				at := (k + j) % t.m
				e := t.y[k+j] - ahead.expect(t.kind, at)
				if e == e {
					sum += e * e / (sd[j] * sd[j])
					count++
				}
				ahead.follow(t.kind, t.w, at, 0)
			}
		}
		e := y - state.expect(t.kind, k%t.m)
		if e != e {
			e = 0
		}
		one += e * e
		state.follow(t.kind, t.w, k%t.m, e)
	}
	one /= float64(t.n)
	if !(count > 0 && one > 0) {
		return 1
	}
	ratio := math.Sqrt(sum / count / one)
	if math.IsNaN(ratio) {
		return 1
	}
	return min(max(ratio, 1), 2)
}
