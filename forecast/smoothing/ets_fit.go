package smoothing

import (
	"math"
	"slices"
	"sort"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/minimise"
)

// etsFit is a fitted form. Parameters and states are on the scale of the series.
type etsFit struct {
	form   etsForm
	m      int       // season in steps; 1 without season
	par    etsParams // parameters and first states
	end    etsParams // parameters and last states; s[0] is for the first forecast value
	n      int       // known values
	sigma2 float64   // variance of the errors, relative ones where they are multiplicative
	loglik float64
	aic    float64
	aicc   float64
	bic    float64
	fitted []float64
	guard  etsGuard
	seed   capcli.Seed // for the futures of simulated intervals
	notes  []string
}

// etsTolerance is the gain in -2 log L below which a search ends.
const etsTolerance = 1e-5

// First each guess gets etsFirstSteps iterations, or fewer when they gain less than
// etsFirstGain. Then the best etsFollowed guesses are searched to the end. A Quick search tries
// and follows fewer. Two vectors of smoothing parameters count as the same within etsSame among
// the guesses at the start, and within etsNearBy among those to follow.
const (
	etsFirstSteps = 8
	etsFirstGain  = 0.1
	etsFollowed   = 4

	etsQuickGuesses  = 4
	etsQuickFollowed = 2

	etsNearBy = 0.05
	etsSame   = 0.01
)

// etsSearch fits forms to one series. It computes once what all forms share.
type etsSearch struct {
	y, filled []float64 // values divided by scale; filled has lines through the gaps
	scale     float64   // mean absolute value of the series
	m         int       // season in steps; 1 without season
	quick     bool
}

// newETSSearch returns the search over a series that is not all zeros.
func newETSSearch(values []float64, m int) *etsSearch {
	s := &etsSearch{m: m, y: make([]float64, len(values))}
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

// fit returns the fit of maximum likelihood, or nil where no parameters suit the form or the
// series is too short for their number. The likelihood may have several optima. So every guess
// is improved by a few steps, and the best guesses that differ are searched to the end.
func (s *etsSearch) fit(form etsForm) *etsFit {
	task := newETSTask(form, s.m, s.y)
	if task.pass.n < form.parameterCount(s.m)+2 {
		return nil
	}
	work := minimise.NewBFGS(task.size())
	guesses := s.guesses(task)
	for i := range guesses {
		task.climb(work, &guesses[i], etsFirstSteps, etsFirstGain)
	}
	followed := etsFollowed
	if s.quick {
		followed = etsQuickFollowed
	}
	guesses = etsApart(guesses, followed)
	for i := range guesses {
		task.climb(work, &guesses[i], 40+10*work.N, etsTolerance)
	}
	etsSort(guesses)
	if len(guesses) == 0 || math.IsInf(guesses[0].value, 1) {
		return nil
	}
	return s.finish(task, guesses[0].par)
}

// climb improves the guess g until two iterations gain less than tol each, for up to most
// iterations. A guess that is not admissible gets the value +Inf.
func (t *etsTask) climb(work *minimise.BFGS, g *etsGuess, most int, tol float64) {
	x, scale := make([]float64, work.N), make([]float64, work.N)
	t.units(&g.par)
	t.encode(&g.par, x)
	t.reach(scale)
	if !t.Admits(x) {
		g.value = math.Inf(1)
		return
	}
	g.value = work.Minimise(t, x, scale, most, tol)
	t.decode(x)
	g.par = t.par
	g.par.s = append([]float64(nil), t.par.s...)
}

// etsApart returns the best guesses, up to most of them. No two of them have nearly the same
// smoothing parameters.
func etsApart(guesses []etsGuess, most int) []etsGuess {
	etsSort(guesses)
	var out []etsGuess
	for _, g := range guesses {
		near := slices.ContainsFunc(out, func(o etsGuess) bool { return g.par.isNear(&o.par, etsNearBy) })
		if !near && len(out) < most {
			out = append(out, g)
		}
	}
	return out
}

// isNear reports whether the smoothing parameters of p and o differ by less than within.
func (p *etsParams) isNear(o *etsParams, within float64) bool {
	return max(math.Abs(p.alpha-o.alpha), math.Abs(p.beta-o.beta),
		math.Abs(p.gamma-o.gamma), 3*math.Abs(p.phi-o.phi)) < within
}

// etsSort sorts guesses by value, the best first.
func etsSort(guesses []etsGuess) {
	sort.SliceStable(guesses, func(i, j int) bool { return guesses[i].value < guesses[j].value })
}

// etsGuess is a starting point of the search and its -2 log L.
type etsGuess struct {
	par   etsParams
	value float64
}

// guesses returns the guesses that suit the form. It joins the first states, from the whole
// series and from its beginning, with each of etsGuesses.
func (s *etsSearch) guesses(task *etsTask) []etsGuess {
	form := task.pass.form
	starts := []etsParams{etsStart(form, s.m, s.filled)}
	if head := 2*s.m + 1; form.Season != etsNone && len(s.filled) >= 2*head {
		starts = append(starts, etsStart(form, s.m, s.filled[:head]))
	}
	places := etsGuesses[:]
	if s.quick {
		places = places[:etsQuickGuesses]
	}
	var all []etsGuess
	for _, start := range starts {
		var tried []etsParams
		for _, g := range places {
			g.l, g.b, g.s = start.l, start.b, start.s
			if !form.Damped {
				g.phi = 1
			}
			if form.Trend == etsNone {
				g.beta, g.b = 0, 0
			}
			if form.Season == etsNone {
				g.gamma = 0
			}
			if slices.ContainsFunc(tried, func(o etsParams) bool { return g.isNear(&o, etsSame) }) {
				continue
			}
			tried = append(tried, g)
			if v, ok := task.soften(&g); ok {
				all = append(all, etsGuess{g, v})
			}
		}
	}
	return all
}

// soften halves the slope and the seasonal swing of a guess until the likelihood is finite,
// which it returns. ok is false after six failures.
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

// units sets the units in which the search measures states: the root mean square error at g for
// level and season, a quarter of it for the slope. So a step of one matters in each coordinate.
func (t *etsTask) units(g *etsParams) {
	t.pass.run(g)
	sd := math.Sqrt(t.pass.sse/float64(t.pass.n)) + 1e-9
	t.unit.l, t.unit.b, t.unit.s = sd, sd/4, sd
}

// reach sets the longest step in each coordinate: half a radian for the angles, two units for
// the states.
func (t *etsTask) reach(scale []float64) {
	for i := range scale {
		if i < t.pass.form.smoothing() {
			scale[i] = 0.5
		} else {
			scale[i] = 2
		}
	}
}

// finish runs the best parameters once more and returns the fit on the scale of the series. The
// first seasonal states sum to zero, or average one. It returns nil where the likelihood is
// infinite.
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

// normalise moves the mean of the seasonal states into the level. No forecast changes.
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

// rescale changes the states to those of the series multiplied by c.
func (p *etsParams) rescale(c float64, season byte) {
	p.l *= c
	p.b *= c
	if season == etsAdd {
		for i := range p.s {
			p.s[i] *= c
		}
	}
}

// apply runs the parameters over the series y, which is divided by scale. It sets likelihood,
// criteria, variance, fitted values and last states. The counts are R's: the variance is one
// parameter, and its divisor is the number of values minus the other parameters.
func (f *etsFit) apply(y []float64, scale float64) {
	par := f.par
	par.s = append([]float64(nil), f.par.s...)
	par.rescale(1/scale, f.form.Season)
	pass := newETSPass(f.form, f.m, y)
	lik := pass.run(&par)
	n, k := float64(pass.n), float64(f.form.parameterCount(f.m)+1)
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

// etsStart returns first states for a form. Seasonal figures come from a classical
// decomposition: from a centred moving average, or from a straight line where there are fewer
// than three seasons. Level and slope come from a line through the first values without season
// (Hyndman et al. 2008, sec. 2.6.1). y has no missing values and a mean absolute value of one.
func etsStart(form etsForm, m int, y []float64) etsParams {
	p := etsParams{phi: 1}
	flat := y
	if form.Season != etsNone {
		p.s, flat = etsFigures(form.Season, m, y)
	}
	head := flat[:min(len(flat), max(10, 2*m))]
	if form.Trend == etsNone {
		p.l = etsMean(head)
		return p
	}
	p.l, p.b = etsLine(head)
	if form.Error == etsMul || form.Season == etsMul {
		lowest, _ := etsExtremes(head)
		if p.l+p.b <= 0.1*lowest {
			p.l, p.b = head[0], 0
		}
	}
	return p
}

func etsMean(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// etsExtremes returns the smallest and the largest known value, +Inf and -Inf where all are
// missing.
func etsExtremes(y []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range y {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	return low, high
}

// etsLine returns the least squares line through y at 1, 2, …: its value at 0 and its slope.
func etsLine(y []float64) (at0, slope float64) {
	n := float64(len(y))
	mid, mean := (n+1)/2, etsMean(y)
	var sxy, sxx float64
	for i, v := range y {
		x := float64(i+1) - mid
		sxy += x * (v - mean)
		sxx += x * x
	}
	if sxx > 0 {
		slope = sxy / sxx
	}
	return mean - slope*mid, slope
}

// etsFigures returns the seasonal figures of y by phase, and y without them.
func etsFigures(season byte, m int, y []float64) (figures, flat []float64) {
	trend := make([]float64, len(y))
	if len(y) >= 3*m {
		decompose.CentredAverage(y, m, trend)
	} else {
		a, b := etsLine(y)
		for i := range trend {
			trend[i] = a + b*float64(i+1)
		}
	}
	figures = etsPhases(season, m, y, trend)
	flat = make([]float64, len(y))
	for i, v := range y {
		if season == etsMul {
			figures[i%m] = max(figures[i%m], 1e-2)
			flat[i] = v / figures[i%m]
		} else {
			flat[i] = v - figures[i%m]
		}
	}
	return figures, flat
}

// etsPhases returns the means by phase of y - trend, centred on zero, or for a multiplicative
// season of y / trend, scaled to average one. It passes over steps where trend is NaN.
func etsPhases(season byte, m int, y, trend []float64) []float64 {
	figures, counts := make([]float64, m), make([]float64, m)
	for i, v := range y {
		switch {
		case math.IsNaN(trend[i]):
		case season != etsMul:
			figures[i%m] += v - trend[i]
			counts[i%m]++
		case trend[i] > 0:
			figures[i%m] += v / trend[i]
			counts[i%m]++
		}
	}
	centre := 0.0
	for i := range figures {
		if counts[i] > 0 {
			figures[i] /= counts[i]
		} else if season == etsMul {
			figures[i] = 1
		}
		centre += figures[i] / float64(m)
	}
	for i := range figures {
		if season != etsMul {
			figures[i] -= centre
		} else if centre > 0 {
			figures[i] /= centre
		}
	}
	return figures
}

// etsGuesses are starting values of alpha, beta, gamma and phi: for series whose level hardly
// moves, for series whose level moves with every value, and between. The corners matter: the
// likelihood of a seasonal form has optima of its own there.
var etsGuesses = [...]etsParams{
	{alpha: 0.1, beta: 0.01, gamma: 0.05, phi: 0.97},
	{alpha: 0.5, beta: 0.05, gamma: 0.1, phi: 0.95},
	{alpha: 0.9, beta: 0.2, gamma: 0.01, phi: 0.9},
	{alpha: 0.1, beta: 0.08, gamma: 0.5, phi: 0.97},
	{alpha: 0.95, beta: 0.9, gamma: 0.01, phi: 0.85},
	{alpha: 0.02, beta: 0.005, gamma: 0.01, phi: 0.975},
	{alpha: 0.97, beta: 0.07, gamma: 0.01, phi: 0.95},
	{alpha: 0.97, beta: 0.01, gamma: 0.001, phi: 0.97},
	{alpha: 0.3, beta: 0.2, gamma: 0.4, phi: 0.9},
	{alpha: 0.005, beta: 0.0005, gamma: 0.001, phi: 0.85},
	{alpha: 0.4, beta: 0.1, gamma: 0.2, phi: 0.81},
}

// etsFill returns y with missing values replaced by the line between their neighbours, or by the
// nearest value at the ends. Only the first states are found from it.
func etsFill(y []float64) []float64 {
	out := append([]float64(nil), y...)
	last := -1
	for i, v := range y {
		if math.IsNaN(v) {
			continue
		}
		for k := last + 1; k < i; k++ {
			if last < 0 {
				out[k] = v
			} else {
				out[k] = y[last] + (v-y[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
	}
	for k := last + 1; k < len(out); k++ {
		out[k] = y[last]
	}
	return out
}
