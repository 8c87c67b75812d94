package smoothing

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// CES is complex exponential smoothing (Svetunkov, Kourentzes and Ord,
// "Complex exponential smoothing", Naval Research Logistics 2022): a level and
// a second component that holds what the level leaves, smoothed together by a
// complex weight a0 + i a1, so that one model follows level, trend and decay:
//
//	y  = l + e
//	l' = l - (1 - a1) c + (a0 - a1) e
//	c' = l + (1 - a0) c + (a0 + a1) e
//
// Season is one of four: none; simple, where both components belong to a phase
// of the season; partial, an additive season s' = s + b e beside them; full, a
// second complex pair with weight b0 + i b1 for each phase. Weights, level and
// second component are those of least squared one-step errors; seasonal states
// start from a classical decomposition.
type CES struct {
	Period int
	Season string // "none", "simple", "partial", "full"; "" is the one with the least AICc
}

// Fit needs 8 values at least, and two seasons for the seasonal kinds; missing
// values are passed over.
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

// cesFit is a fitted model; end holds the states after the series, phase 0 for
// the first value to come.
type cesFit struct {
	kind  cesKind
	m     int
	w     cesWeights
	end   cesState
	sd    float64 // of the one-step errors
	widen float64 // how much larger errors some steps ahead were than the model says
	guard etsGuard
	info  model.Info
}

// Forecast gives normal intervals: the model is linear in its errors, whose
// weights j steps later are found by sending one error through it. They are
// widened by what the errors several steps ahead, inside the series, were
// beyond the model's.
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

// deviations are those of the errors 1 to h steps ahead for errors of one.
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

// Path draws normal errors.
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

// Info names the weights as the paper does.
func (f *cesFit) Info() model.Info {
	in := f.info
	in.Fitted = append([]float64(nil), f.info.Fitted...)
	return in
}
