package forecast

import (
	"math"
	"sort"

	"capcli"
)

// etsFit is a fitted form: the parameters on the scale of the series.
type etsFit struct {
	form   ETSForm
	m      int
	par    etsParams // with the first states
	end    etsParams // with the last: s[0] is for the first value to come
	n      int
	sigma2 float64
	loglik float64
	aic    float64
	aicc   float64
	bic    float64
	fitted []float64
	guard  etsGuard
	seed   capcli.Seed
	notes  []string
}

// etsTolerance is the gain in -2 log L below which the search has ended.
const etsTolerance = 1e-4

// etsSearch fits forms to one series; what they share is computed once.
type etsSearch struct {
	y, filled []float64 // divided by scale
	scale     float64
	m         int
	starts    int // searches from so many of the guesses
}

func newETSSearch(values []float64, m int) *etsSearch {
	s := &etsSearch{m: m, starts: 4, y: make([]float64, len(values))}
	count := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			s.scale = max(s.scale, math.Abs(v))
		}
	}
	sum := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += math.Abs(v / s.scale)
			count++
		}
	}
	s.scale *= sum / count
	for i, v := range values {
		s.y[i] = v / s.scale
	}
	s.filled = etsFill(s.y)
	return s
}

// fit finds the parameters of most likelihood; nil where the form suits no
// parameters, or where the series is too short for their number.
func (s *etsSearch) fit(form ETSForm) *etsFit {
	task := newETSTask(form, s.m, s.y)
	if task.pass.n < form.free(s.m)+2 {
		return nil
	}
	n := task.size()
	guesses := s.rank(task)
	if len(guesses) == 0 {
		return nil
	}
	var best etsParams
	least := math.Inf(1)
	x, scale, work := make([]float64, n), make([]float64, n), newETSBFGS(n)
	for _, g := range guesses[:min(len(guesses), s.starts)] {
		task.units(&g)
		task.encode(&g, x)
		task.reach(scale)
		v := work.minimise(task, x, scale, 40+10*n, etsTolerance)
		if v < least {
			least = v
			task.decode(x)
			best = task.par
			best.s = append([]float64(nil), task.par.s...)
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	return s.finish(task, best)
}

// etsGuess is a place to start from and its -2 log L.
type etsGuess struct {
	par   etsParams
	value float64
}

// rank gives the guesses that suit the form, most likely first: first states
// from the whole series and from its beginning, with each of the guesses for
// the smoothing parameters.
func (s *etsSearch) rank(task *etsTask) []etsParams {
	form := task.pass.form
	starts := []etsParams{etsStart(form, s.m, s.filled)}
	if head := 2*s.m + 1; form.Season != etsNone && len(s.filled) >= 2*head {
		starts = append(starts, etsStart(form, s.m, s.filled[:head]))
	}
	var all []etsGuess
	for _, start := range starts {
		for _, g := range etsGuesses {
			g.l, g.b, g.s = start.l, start.b, start.s
			if !form.Damped {
				g.phi = 1
			}
			if form.Trend == etsNone {
				g.beta, g.b = 0, 0
			}
			if v, ok := task.soften(&g); ok {
				all = append(all, etsGuess{g, v})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].value < all[j].value })
	out := make([]etsParams, len(all))
	for i, g := range all {
		out[i] = g.par
	}
	return out
}

// soften halves the slope and the seasonal swing of a guess until the form
// takes it.
func (t *etsTask) soften(g *etsParams) (v float64, ok bool) {
	for range 6 {
		if v = t.pass.run(g); !math.IsInf(v, 1) {
			return v, true
		}
		g.b /= 2
		g.s = append([]float64(nil), g.s...)
		middle := 0.0
		if t.pass.form.Season == etsMul {
			middle = 1
		}
		for i, v := range g.s {
			g.s[i] = middle + (v-middle)/2
		}
	}
	return 0, false
}

// units sets the lengths in which states are measured: the error of the
// likelihood at g, so that a step of one matters in each.
func (t *etsTask) units(g *etsParams) {
	t.pass.run(g)
	sd := math.Sqrt(t.pass.sse/float64(t.pass.n)) + 1e-9
	t.unit.l, t.unit.b, t.unit.s = sd, sd/4, sd
}

// reach sets the longest step in each coordinate: a fraction of a turn for
// the angles, a few errors for the states.
func (t *etsTask) reach(scale []float64) {
	for i := range scale {
		if i < t.pass.form.smoothing() {
			scale[i] = 0.5
		} else {
			scale[i] = 2
		}
	}
}

// finish runs the best parameters once more, makes the seasonal states sum to
// zero (or average one), and goes back to the scale of the series.
func (s *etsSearch) finish(task *etsTask, par etsParams) *etsFit {
	par.normalise(task.pass.form.Season)
	par.rescale(s.scale, task.pass.form.Season)
	f := &etsFit{form: task.pass.form, m: s.m, par: par}
	values := make([]float64, len(s.y))
	for i, v := range s.y {
		values[i] = v * s.scale
	}
	f.guard = newETSGuard(values)
	f.apply(s.y, s.scale)
	if math.IsInf(f.loglik, 0) {
		return nil
	}
	return f
}

// normalise takes from the seasonal states what belongs to the level: no
// forecast changes.
func (p *etsParams) normalise(season byte) {
	switch {
	case len(p.s) == 0:
	case season == etsAdd:
		c := etsMean(p.s)
		for i := range p.s {
			p.s[i] -= c
		}
		p.l += c
	default:
		c := etsMean(p.s)
		for i := range p.s {
			p.s[i] /= c
		}
		p.l *= c
		p.b *= c
	}
}

// rescale multiplies the series, and so the states, by c.
func (p *etsParams) rescale(c float64, season byte) {
	p.l *= c
	p.b *= c
	if season == etsAdd {
		for i := range p.s {
			p.s[i] *= c
		}
	}
}

// apply runs the parameters over the series y (divided by scale) and fills in
// what follows: likelihood, criteria, variance, fitted values, last states.
// The counts are R's: the variance is one parameter, and the divisor of the
// variance is the number of values less the others.
func (f *etsFit) apply(y []float64, scale float64) {
	par := f.par
	par.s = append([]float64(nil), f.par.s...)
	par.rescale(1/scale, f.form.Season)
	pass := newETSPass(f.form, f.m, y)
	lik := pass.run(&par)
	n, k := float64(pass.n), float64(f.form.free(f.m)+1)
	f.n = pass.n
	lik += 2 * n * math.Log(scale)
	f.loglik = -0.5 * lik
	f.aic = lik + 2*k
	f.aicc = f.aic + 2*k*(k+1)/(n-k-1)
	if n-k-1 <= 0 {
		f.aicc = math.Inf(1)
	}
	f.bic = lik + math.Log(n)*k
	f.sigma2 = pass.sse / max(n-k+1, 1)
	if f.form.Error == etsAdd {
		f.sigma2 *= scale * scale
	}
	f.fitted = make([]float64, len(y))
	for t := range y {
		f.fitted[t] = pass.forecast(t) * scale
	}
	f.end = etsParams{alpha: par.alpha, beta: par.beta, gamma: par.gamma, phi: par.phi, l: pass.endL, b: pass.endB}
	for i := range par.s {
		f.end.s = append(f.end.s, pass.ring[(len(y)+i)%f.m])
	}
	f.end.rescale(scale, f.form.Season)
}
