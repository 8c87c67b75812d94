package smoothing

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// etsGuard keeps forecasts near the values of the series. It bounds means at ten times the range
// of the series beyond its extremes, and interval ends and paths at nine times the range beyond
// the extremes or the mean. No sensible forecast gets there; forecasts of multiplicative forms
// near zero do.
type etsGuard struct {
	low, high float64 // extremes of the series
	positive  bool    // all values of the series are above zero
}

// newETSGuard returns the guard for forecasts of y.
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
