package unconstrain

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/model"
)

const (
	chainWork  = 4_000_000 // number of draws in total
	chainMost  = 800       // the largest number of sweeps
	chainLeast = 60        // the least number of sweeps
)

// cutChain draws the cut values and the coefficients of the regression in turn (data
// augmentation: Tanner & Wong 1987; for the Tobit regression Chib 1992, "Bayes inference in the
// Tobit censored regression model"; with autocorrelated errors Wei 1999, "A Bayesian approach to
// dynamic Tobit models"). The errors are an autoregression of order one, e_t = a e_(t-1) + w_t:
// the expected value of a step at the limit is higher between two others at the limit than
// alone.
type cutChain struct {
	*cutFit
	at  []int
	rng *rand.Rand

	paired []bool // the value one step before is known
	// Sums of products of rows of x: of paired rows with themselves, of the rows before
	// them, of the two with each other, and of the other rows.
	own, before, cross, begin *mat.SymDense

	coef  []float64
	a, sd float64   // coefficient of the errors, and standard deviation of w
	e     []float64 // the errors: values minus mean
	mean  []float64 // the fitted values of the regression
}

// cutEstimate holds the estimates of a chain for the cut values.
type cutEstimate struct {
	full  []float64 // expected values
	draw  []float64 // one plausible series
	ar    float64
	sigma float64
	level [][]float64 // by draw: fitted values of the regression in the steps of the last season
	noise Uncertainty // of values about that level
}

func newCutChain(f *cutFit, at []int, seed capcli.Seed) *cutChain {
	n, p := f.x.Dims()
	c := &cutChain{
		cutFit: f, at: at, rng: seed.Stream("unconstrain"), paired: make([]bool, n),
		own: mat.NewSymDense(p, nil), before: mat.NewSymDense(p, nil), cross: mat.NewSymDense(p, nil), begin: mat.NewSymDense(p, nil),
		coef: slices.Clone(f.Coef), e: make([]float64, n), mean: make([]float64, n),
	}
	for i := range n {
		row := f.x.RawRowView(i)
		if c.paired[i] = i > 0 && at[i]-at[i-1] == 1; !c.paired[i] {
			c.begin.SymRankOne(c.begin, 1, f.x.RowView(i))
			continue
		}
		last := f.x.RawRowView(i - 1)
		for j := range p {
			for k := j; k < p; k++ {
				c.own.SetSym(j, k, c.own.At(j, k)+row[j]*row[k])
				c.before.SetSym(j, k, c.before.At(j, k)+last[j]*last[k])
				c.cross.SetSym(j, k, c.cross.At(j, k)+row[j]*last[k]+row[k]*last[j])
			}
		}
	}
	full := f.impute(f.y, f.x, f.cut)
	c.regress()
	for i, v := range full {
		c.e[i] = v - c.mean[i]
	}
	c.a, c.sd = autoregression(c.e, at)
	return c
}

// run runs the sweeps and averages the second half of them. top is the largest possible value,
// on the scale of the series.
func (c *cutChain) run(season int, top float64) cutEstimate {
	n := len(c.y)
	sweeps := min(chainMost, max(chainLeast, chainWork/n))
	out := cutEstimate{full: make([]float64, n), draw: make([]float64, n)}
	limit, used := c.scale.transform(top), 0.0
	for sweep := range sweeps {
		c.sweep(limit)
		c.drawCoef()
		c.drawFull()
		c.drawErrors()
		if sweep < sweeps/2 {
			continue
		}
		used++
		out.ar += (c.a - out.ar) / used
		out.sigma += (c.sd/math.Sqrt(1-c.a*c.a) - out.sigma) / used
		for i, v := range c.e {
			out.full[i] += (math.Min(top, c.scale.untransform(c.mean[i]+v)) - out.full[i]) / used
		}
		out.level = append(out.level, slices.Clone(c.mean[n-min(season, n):]))
	}
	c.subtractFullVariance(out.level, out.ar, out.sigma*math.Sqrt(1-out.ar*out.ar))
	out.noise = c.noise(out.level, model.ZScore(95)*out.sigma, top)
	for _, level := range out.level {
		for k, v := range level {
			level[k] = math.Min(top, c.scale.untransform(v))
		}
	}
	for i, v := range c.e {
		out.draw[i] = math.Min(top, c.scale.untransform(c.mean[i]+v))
	}
	return out
}

// regress sets mean to the fitted values of the coefficients.
func (c *cutChain) regress() {
	for i := range c.mean {
		c.mean[i] = model.Dot(c.x.RawRowView(i), c.coef)
	}
}

// vague is the prior standard deviation of the level about the mean of the observed values, in
// spreads of these values.
const vague = 3

// drawCoef draws the coefficients given the full series: from a normal distribution
// whose precision is X'V^-1 X plus that of the prior. V is the covariance of the errors.
func (c *cutChain) drawCoef() {
	n, p := c.x.Dims()
	y, g := make([]float64, n), make([]float64, n)
	middle := 0.0
	for i := range y {
		y[i] = c.mean[i] + c.e[i]
		middle += c.y[i] / float64(n)
	}
	for i := range y {
		if !c.paired[i] {
			g[i] += (1 - c.a*c.a) * y[i]
			continue
		}
		u := y[i] - c.a*y[i-1]
		g[i] += u
		g[i-1] -= c.a * u
	}
	q, r := c.precision(c.a, c.sd), make([]float64, p)
	s := 1 / (c.sd * c.sd)
	for i, v := range g {
		for j, x := range c.x.RawRowView(i) {
			r[j] += s * v * x
		}
	}
	for j := range p {
		if c.prior[j] == 0 {
			r[j] += middle / (vague * c.seen * vague * c.seen)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(q) {
		return
	}
	var u mat.TriDense
	chol.UTo(&u)
	z := make([]float64, p)
	for j := range z {
		z[j] = c.rng.NormFloat64()
	}
	var noise, coef mat.VecDense
	noise.MulVec(u.T(), mat.NewVecDense(p, z))
	noise.AddVec(&noise, mat.NewVecDense(p, r))
	if err := chol.SolveVecTo(&coef, &noise); err != nil && !model.IsCondition(err) {
		return
	}
	copy(c.coef, coef.RawVector().Data)
	c.regress()
	for i := range c.e {
		c.e[i] = y[i] - c.mean[i]
	}
}

// precision returns the precision of the coefficients given the full series: X'V^-1 X
// plus that of the prior. V is the covariance of errors with the coefficient a and the
// standard deviation sd.
func (c *cutChain) precision(a, sd float64) *mat.SymDense {
	_, p := c.x.Dims()
	q, s := mat.NewSymDense(p, nil), 1/(sd*sd)
	for j := range p {
		for k := j; k < p; k++ {
			q.SetSym(j, k, s*(c.own.At(j, k)-a*c.cross.At(j, k)+a*a*c.before.At(j, k)+(1-a*a)*c.begin.At(j, k)))
		}
		prior := cmp.Or(c.prior[j], vague*c.seen)
		q.SetSym(j, j, q.At(j, j)+1/(prior*prior))
	}
	return q
}

// subtractFullVariance shrinks draws of the level by the variance that the level would
// have if nothing were cut, since the spread of a forecasting model includes that
// variance. The variance of the level is its variance given the full series plus the
// variance of its mean over the plausible full series.
func (c *cutChain) subtractFullVariance(level [][]float64, a, sd float64) {
	var chol mat.Cholesky
	if len(level) == 0 || !chol.Factorize(c.precision(a, sd)) {
		return
	}
	n := len(c.y) - len(level[0])
	row := make([]float64, len(level))
	for k := range level[0] {
		x := c.x.RowView(n + k)
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, x); err != nil && !model.IsCondition(err) {
			return
		}
		for i := range level {
			row[i] = level[i][k]
		}
		mean, spread := moments(row)
		keep := math.Sqrt(math.Max(0, 1-mat.Dot(x, &solved)/(spread*spread)))
		if !model.IsFinite(keep) {
			keep = 0
		}
		for i := range level {
			level[i][k] = mean + keep*(row[i]-mean)
		}
	}
}

// noise returns the spread of values about the level, given draws of the level on the
// scale, and the distance far within which 95 of 100 errors lie there.
func (c *cutChain) noise(level [][]float64, far, top float64) Uncertainty {
	var out Uncertainty
	for k := range min(len(c.y), len(level[0])) {
		middle := 0.0
		for _, l := range level {
			middle += l[k] / float64(len(level))
		}
		to := func(v float64) float64 { return math.Min(top, c.scale.untransform(v)) }
		out.Below = append(out.Below, (to(middle)-to(middle-far))/model.ZScore(95))
		out.Above = append(out.Above, (to(middle+far)-to(middle))/model.ZScore(95))
	}
	return out
}

// drawFull draws the level of phases that are always full from its prior, above all
// limits there. It holds the errors of these steps fixed, so that level and values move
// together: with the values fixed, the level would stay near their mean (interweaving:
// Yu & Meng 2011, "To center or not to center").
func (c *cutChain) drawFull() {
	_, p := c.x.Dims()
	for j := p - len(c.full); j < p; j++ {
		least, free := math.Inf(-1), true
		for i := range c.e {
			if c.x.At(i, j) != 0 {
				free = free && c.cut[i]
				least = math.Max(least, c.y[i]-(c.mean[i]-c.coef[j])-c.e[i])
			}
		}
		if !free {
			continue
		}
		to := c.prior[j] * normalAbove(least/c.prior[j], c.rng)
		for i := range c.e {
			if c.x.At(i, j) != 0 {
				c.mean[i] += to - c.coef[j]
			}
		}
		c.coef[j] = to
	}
}

// mostAR is the largest coefficient of an error on the one before.
const mostAR = 0.99

// drawErrors draws the coefficient and the variance of the errors, given the errors. The
// chi-squared draw uses the approximation of Wilson & Hilferty (1931).
func (c *cutChain) drawErrors() {
	cross, square := 0.0, 0.0
	for i, e := range c.e {
		if c.paired[i] {
			cross += e * c.e[i-1]
			square += c.e[i-1] * c.e[i-1]
		}
	}
	if square > 0 {
		c.a = math.Max(-mostAR, math.Min(mostAR, cross/square+c.sd/math.Sqrt(square)*c.rng.NormFloat64()))
	}
	sum := 0.0
	for i, e := range c.e {
		if c.paired[i] {
			e -= c.a * c.e[i-1]
		} else {
			e *= math.Sqrt(1 - c.a*c.a)
		}
		sum += e * e
	}
	k := float64(len(c.e))
	chi := k * math.Pow(math.Max(0.1, 1-2/(9*k)+math.Sqrt(2/(9*k))*c.rng.NormFloat64()), 3)
	if sd := math.Sqrt(sum / chi); sd > 0 {
		c.sd = sd
	}
}

// sweep draws each error of a cut value given the errors beside it.
func (c *cutChain) sweep(limit float64) {
	n := len(c.e)
	for i := range c.e {
		if !c.cut[i] {
			continue
		}
		after := i+1 < n && c.paired[i+1]
		m, s := 0.0, c.sd
		switch {
		case c.paired[i] && after:
			m, s = c.a*(c.e[i-1]+c.e[i+1])/(1+c.a*c.a), c.sd/math.Sqrt(1+c.a*c.a)
		case c.paired[i]:
			m = c.a * c.e[i-1]
		case after:
			m = c.a * c.e[i+1]
		default:
			s = c.sd / math.Sqrt(1-c.a*c.a)
		}
		bound := c.y[i] - c.mean[i]
		if s > 0 {
			c.e[i] = m + s*normalAbove((bound-m)/s, c.rng)
		}
		c.e[i] = math.Max(math.Min(c.e[i], limit-c.mean[i]), bound)
	}
}

// normalAbove draws from the standard normal distribution above a bound. For a low bound
// it draws normals until one is above. Otherwise it draws an exponential from the bound
// on and keeps it with the ratio of the two densities as its probability (Robert 1995,
// "Simulation of truncated normal variables").
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

// autoregression returns the coefficient of each error on the one before, below 1, and
// the standard deviation of the rest.
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
		return 0, model.RMS(e)
	}
	a = math.Max(-mostAR, math.Min(mostAR, cross/square))
	return a, model.RMS(e) * math.Sqrt(1-a*a)
}
