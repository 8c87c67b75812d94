package smoothing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// CES is complex exponential smoothing (Svetunkov, Kourentzes and Ord, "Complex exponential
// smoothing", Naval Research Logistics 2022). It smooths a level l and a second component c,
// which holds what the level leaves, by one complex weight a0 + i a1. So one model follows
// level, trend and decay:
//
//	y  = l + e
//	l' = l - (1 - a1) c + (a0 - a1) e
//	c' = l + (1 - a0) c + (a0 + a1) e
//
// There are four kinds of season. None has no season. Simple gives each phase of the season its
// own l and c. Partial adds a seasonal state s' = s + b e to l and c. Full adds a second complex
// pair with weight b0 + i b1 for each phase. The weights and the first l and c minimise the
// squared one-step errors. Seasonal states start from a classical decomposition.
type CES struct {
	Period int    // season in steps; below 2 is without season
	Season string // "none", "simple", "partial" or "full"; "" chooses the least AICc
}

// Fit fits the model and passes over missing values. A constant series gets a fit without
// errors. It fails with ErrTooShort below 8 known values. It fails with ErrUnfit for values
// above 1e150 and where no kind of season fits: the seasonal kinds need two seasons and two
// values more.
func (c CES) Fit(y capcli.Series) (model.Fitted, error) {
	n := len(y.Values) - y.Missing()
	if n < 8 {
		return nil, fmt.Errorf("fit complex smoothing to %q: expected at least 8 values, found %d: %w", y.Name, n, model.ErrTooShort)
	}
	low, high := etsExtremes(y.Values)
	if math.Abs(low) > 1e150 || math.Abs(high) > 1e150 {
		return nil, fmt.Errorf("fit complex smoothing to %q: found values from %g to %g: %w", y.Name, low, high, model.ErrUnfit)
	}
	if low == high {
		return etsConstant(y.Values, low, 0), nil
	}
	search := newETSSearch(y.Values, max(c.Period, 1))
	var best *cesFit
	for kind := cesNone; kind <= cesFull; kind++ {
		if c.Season != "" && kind.String() != c.Season || kind != cesNone && (c.Period < 2 || n < 2*c.Period+2) {
			continue
		}
		if f := fitCES(search, kind); f != nil && (best == nil || f.info.AICc < best.info.AICc) {
			best = f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("fit complex smoothing to %q: expected season %q of %d steps to suit %d values: %w", y.Name, c.Season, c.Period, n, model.ErrUnfit)
	}
	best.guard = newETSGuard(y.Values)
	return best, nil
}

// cesFit is a fitted CES.
type cesFit struct {
	kind  cesKind
	m     int // season in steps; 1 without season
	w     cesWeights
	end   cesState // states after the series; phase 0 is that of the first forecast value
	sd    float64  // standard deviation of the one-step errors
	widen float64  // ratio of the errors several steps ahead to those that the model expects
	guard etsGuard
	info  model.Info
}

// Forecast returns means and normal intervals for the next h values. The model is linear in its
// errors: deviations finds the weight of an error in later values by sending one error through
// the model. The intervals are widened by the ratio of the errors several steps ahead, inside
// the series, to those that the model expects. It fails when h is below 1 or a level is invalid.
func (f *cesFit) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := etsAhead(h, levels); err != nil {
		return model.Forecast{}, err
	}
	mean, sd := make([]float64, h), f.deviations(h)
	state := f.end.clone()
	for i := range mean {
		mean[i] = state.expect(f.kind, i%f.m)
		state.follow(f.kind, f.w, i%f.m, 0)
		sd[i] *= f.sd * f.widen
	}
	f.guard.bound(mean, false)
	out := model.Forecast{Mean: mean, Intervals: model.NormalIntervals(mean, sd, levels)}
	for _, iv := range out.Intervals {
		for i, mu := range mean {
			iv.Lo[i], iv.Hi[i] = f.guard.ends(mu, iv.Lo[i], iv.Hi[i], false)
		}
	}
	return out, nil
}

// deviations returns the standard deviations of the errors 1 to h steps ahead, in units of the
// one-step error.
func (f *cesFit) deviations(h int) []float64 {
	out, sum := make([]float64, h), 1.0
	unit := newCESState(f.kind, f.m)
	unit.follow(f.kind, f.w, 0, 1)
	for i := range out {
		out[i] = math.Sqrt(sum)
		at := (i + 1) % f.m
		psi := unit.expect(f.kind, at)
		unit.follow(f.kind, f.w, at, 0)
		sum = min(sum+psi*psi, 1e12)
	}
	return out
}

// Path draws one future of h values with normal errors.
func (f *cesFit) Path(h int, rng model.Noise) []float64 {
	out, state := make([]float64, max(h, 0)), f.end.clone()
	for i := range out {
		mu := state.expect(f.kind, i%f.m)
		y := mu + f.sd*f.widen*model.Innovation(rng, i)
		out[i], _ = f.guard.ends(f.guard.low, y, y, false)
		state.follow(f.kind, f.w, i%f.m, out[i]-mu)
	}
	return out
}

// Info describes the fit. The weights have the paper's names.
func (f *cesFit) Info() model.Info {
	in := f.info
	in.Fitted = append([]float64(nil), f.info.Fitted...)
	return in
}

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
