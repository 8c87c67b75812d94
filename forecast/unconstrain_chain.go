package forecast

import (
	"math"
	"math/rand/v2"

	"capcli"
)

const (
	chainWork  = 20_000_000 // draws in all
	chainMost  = 1600       // sweeps
	chainLeast = 40
)

// chain gives the expected full series where the errors of the regression are
// an autoregression of order one, e_t = a e_(t-1) + w_t: a step held at the
// limit between two others that are is expected higher than one alone. The
// values that were cut are drawn in turn given their neighbours and their bound,
// and the regression and a are fitted anew to each full series (data
// augmentation: Wei 1999, "A Bayesian approach to dynamic Tobit models");
// the second half of the sweeps is averaged. It gives the last draw and a as
// well: what is expected is smoother than what was, and a draw is not.
func (f *cutFit) chain(at []int, seed capcli.Seed) (full, last []float64, ar float64) {
	n := len(f.y)
	sweeps := min(chainMost, max(chainLeast, chainWork/n))
	rng := seed.Stream("unconstrain")
	draw := f.Impute(f.y, f.x, f.cut)
	e, mean, sum := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		mean[i] = dot(f.x.RawRowView(i), f.Coef)
		e[i] = draw[i] - mean[i]
	}
	used := 0.0
	for sweep := range sweeps {
		a, sd := autoregression(e, at)
		f.sweep(e, mean, at, a, sd, rng)
		if sweep >= sweeps/2 {
			used++
			ar += (a - ar) / used
			for i, v := range e {
				sum[i] += mean[i] + v
			}
		}
	}
	for i := range sum {
		sum[i] /= math.Max(1, used)
	}
	for i := range mean {
		mean[i] += e[i]
	}
	return sum, mean, ar
}

// sweep draws each error of a value that was cut given the errors beside it.
func (f *cutFit) sweep(e, mean []float64, at []int, a, sd float64, rng *rand.Rand) {
	n := len(e)
	for i := range e {
		if !f.cut[i] {
			continue
		}
		before := i > 0 && at[i]-at[i-1] == 1
		after := i+1 < n && at[i+1]-at[i] == 1
		m, s := 0.0, sd
		switch {
		case before && after:
			m, s = a*(e[i-1]+e[i+1])/(1+a*a), sd/math.Sqrt(1+a*a)
		case before:
			m = a * e[i-1]
		case after:
			m = a * e[i+1]
		default:
			s = sd / math.Sqrt(1-a*a)
		}
		bound := f.y[i] - mean[i]
		if s > 0 {
			e[i] = m + s*normalAbove((bound-m)/s, rng)
		}
		e[i] = math.Max(e[i], bound)
	}
}

// normalAbove draws from the standard normal distribution above a bound: the
// normal itself until one is over it where that is soon, else an exponential from
// the bound on, kept with the odds of the ratio of the two densities (Robert
// 1995, "Simulation of truncated normal variables").
func normalAbove(bound float64, rng *rand.Rand) float64 {
	if bound < 0.4 {
		for {
			if z := rng.NormFloat64(); z >= bound {
				return z
			}
		}
	}
	rate := (bound + math.Sqrt(bound*bound+4)) / 2
	for {
		z := bound + rng.ExpFloat64()/rate
		if d := z - rate; rng.Float64() <= math.Exp(-d*d/2) {
			return z
		}
	}
}

// autoregression is the coefficient of each error on the one before, kept under
// 1, and the standard deviation of what is left.
func autoregression(e []float64, at []int) (a, sd float64) {
	cross, square, pairs := 0.0, 0.0, 0
	for i := 1; i < len(e); i++ {
		if at[i]-at[i-1] == 1 {
			cross += e[i] * e[i-1]
			square += (e[i]*e[i] + e[i-1]*e[i-1]) / 2
			pairs++
		}
	}
	if pairs < 2 || square == 0 {
		return 0, rms(e)
	}
	a = math.Max(-0.99, math.Min(0.99, cross/square))
	return a, rms(e) * math.Sqrt(1-a*a)
}
