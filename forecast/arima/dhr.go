package arima

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// DHR is the dynamic harmonic regression of Hyndman and Athanasopoulos ("Forecasting: Principles
// and Practice", 3rd edition, section 10.5):
//
//	y(t) = a + sum over seasons m, k = 1..K(m) of (b sin(2 pi k t / m) + c cos(2 pi k t / m)) + n(t)
//
// where n is an ARIMA process without season, of an order chosen as by AutoARIMA. The season
// keeps its shape, and the ARIMA errors take the remainder. DHR suits long seasons, and several
// at once. A frequency common to two seasons counts once, with the shorter season.
//
// AICc chooses the number of harmonics of each season, in one orthogonal decomposition of all
// harmonics (harmonicSearch). The coefficients then maximise the exact likelihood, of regression
// and errors in turn (Cochrane and Orcutt 1949, with the likelihood of both). Standard errors
// treat the two as independent, as they are in large samples (Pierce 1971).
type DHR struct {
	Seasons []float64 // lengths in steps, not necessarily whole
}

var _ model.Model = DHR{}

// Limits of the harmonics and of the search.
const (
	dhrMost  = 25   // most harmonics of a season
	dhrShare = 3    // all harmonics together have at most values/dhrShare columns
	dhrExact = 3000 // longest series, in values, with a search of the errors by exact likelihood too
	dhrLook  = 5000 // the order of the errors is chosen on this many last values
	dhrTries = 8    // most combinations of harmonics that are fitted
)

// harmonic is one wave of a season.
type harmonic struct {
	season int     // index of the season
	number int     // cycles in the season; 1 is the season itself
	turns  float64 // cycles in a step
	single bool    // a cycle of two steps, which has no sine
}

// columns returns the number of regressors: sine and cosine, or the cosine alone.
func (h harmonic) columns() int {
	if h.single {
		return 1
	}
	return 2
}

// valueAt returns a column of the wave at step t. Column 0 is the sine, unless the wave has only
// a cosine.
func (h harmonic) valueAt(column int, t float64) float64 {
	sin, cos := math.Sincos(2 * math.Pi * math.Mod(h.turns*t, 1))
	if h.single || column == 1 {
		return cos
	}
	return sin
}

// Fit implements model.Model. A season without more than two cycles in the series is left out;
// without any season the model is AutoARIMA without season. It fails with ErrTooShort below
// three values.
func (m DHR) Fit(y capcli.Series) (model.Fitted, error) {
	if err := checkValues(y.Values); err != nil {
		return nil, err
	}
	if n := len(model.Observed(y.Values)); n < 3 {
		return nil, fmt.Errorf("dhr: %d values, want 3 or more: %w", n, model.ErrTooShort)
	}
	s, err := newArimaSeries(y.Values)
	if err != nil {
		return nil, err
	}
	seasons := slices.Sorted(slices.Values(m.Seasons))
	waves := s.waves(seasons)
	if len(waves) == 0 {
		fit, err := newAutoSearch(AutoARIMA{}, s).run()
		if err != nil {
			return nil, err
		}
		fit.info.Notes = append(fit.info.Notes, "no season of which there are two cycles: no harmonics")
		return fit, nil
	}
	return s.regress(waves, seasons)
}

// waves returns the harmonics to choose from. Seasons are in ascending order of length.
func (s *arimaSeries) waves(seasons []float64) (waves []harmonic) {
	n, columns := len(model.Observed(s.y)), 0
	for i, length := range seasons {
		most := min(int(length/2), dhrMost)
		if !(length >= 2) || 2*length >= float64(n) {
			continue
		}
		for j := 1; j <= most; j++ {
			h := harmonic{season: i, number: j, turns: float64(j) / length, single: 2*float64(j) == length}
			same := func(o harmonic) bool { return math.Abs(o.turns-h.turns) < 1e-12 }
			if slices.ContainsFunc(waves, same) || columns+h.columns() > n/dhrShare {
				continue
			}
			waves = append(waves, h)
			columns += h.columns()
		}
	}
	return waves
}

// regress chooses the harmonics and fits the model. It compares the choice with
// its neighbours and with the shorter seasons alone: what a long season seems to add may belong
// to the errors.
func (s *arimaSeries) regress(waves []harmonic, seasons []float64) (*Fit, error) {
	search := newHarmonicSearch(waves, s)
	trial := dhrTrial{s: s, search: search, tried: map[string]bool{}}
	trial.searchAround(search.choose())
	if trial.best == nil {
		return nil, trial.failure
	}
	trial.best.describeWaves(search.take(trial.k), seasons)
	return trial.best, nil
}

// dhrTrial fits combinations of harmonics and keeps the best by AICc.
type dhrTrial struct {
	s       *arimaSeries
	search  *harmonicSearch
	tried   map[string]bool // combinations fitted already
	best    *Fit
	k       []int // number of harmonics of each season in best
	failure error // of the last fit that failed
}

// try fits the first k harmonics of each season and reports whether they are the best so far.
func (t *dhrTrial) try(k []int) bool {
	key := fmt.Sprint(k)
	if t.tried[key] {
		return false
	}
	t.tried[key] = true
	fit, err := t.s.addWaves(t.search.take(k)).withErrors(t.search.d)
	if err != nil {
		t.failure = err
		return false
	}
	if t.best != nil && !(fit.info.AICc < t.best.info.AICc) {
		return false
	}
	t.best, t.k = fit, slices.Clone(k)
	return true
}

// searchAround tries k, then k without its longer seasons. For series of at most dhrExact values
// it then moves to better neighbours of the best.
func (t *dhrTrial) searchAround(k []int) {
	t.try(k)
	for i := len(k) - 1; i > 0; i-- {
		k = slices.Clone(k)
		k[i] = 0
		t.try(k)
	}
	if t.best == nil || len(t.s.y) > dhrExact {
		return
	}
	most := t.search.waveCounts()
	for i := range k {
		for _, move := range []int{1, -1} {
			for len(t.tried) < dhrTries {
				next := slices.Clone(t.k)
				if next[i] += move; next[i] < 0 || next[i] > most[i] || !t.try(next) {
					break
				}
			}
		}
	}
}

// describeWaves names the number of harmonics of each season in the method of the fit.
func (fit *Fit) describeWaves(waves []harmonic, seasons []float64) {
	var parts []string
	for i, length := range seasons {
		k := 0
		for _, h := range waves {
			if h.season == i {
				k = max(k, h.number)
			}
		}
		if k > 0 {
			parts = append(parts, fmt.Sprintf("%d of %g", k, length))
		}
	}
	if len(parts) > 0 {
		fit.info.Method = fmt.Sprintf("Harmonic regression (%s) with %s errors", strings.Join(parts, ", "), fit.form.title())
	}
}

// harmonicSearch chooses how many harmonics each season has. One orthogonal decomposition gives
// the residuals of the series for any number of harmonics: waves of different length are nearly
// orthogonal, and in long series ordinary least squares is as good for them as generalised least
// squares (Grenander 1954). The score of the residuals is the error variance of the best
// autoregression of them.
type harmonicSearch struct {
	waves []harmonic
	basis [][]float64 // orthonormal: a constant, then the columns of the waves; nil if dependent
	first []int       // index in basis of the first column of each wave
	d     int         // number of differences of the errors
	y     []float64   // the series, with gaps filled, differenced
	size  float64     // largest absolute value of the series before differencing
	order int         // highest order of the autoregressions
}

// dhrOrder is the highest order of the autoregressions. With more, an autoregression would
// imitate a season.
const dhrOrder = 8

func newHarmonicSearch(waves []harmonic, s *arimaSeries) *harmonicSearch {
	h := &harmonicSearch{waves: waves, y: model.SpanGaps(s.y)}
	n := len(h.y)
	h.size = finiteTop(h.y)
	h.add(filled(n, func(int) float64 { return 1 }))
	// The slow waves of all seasons come before the fast ones: large effects come first.
	order := make([]int, len(waves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return waves[a].number - waves[b].number })
	h.first = make([]int, len(waves))
	for _, i := range order {
		w := waves[i]
		h.first[i] = len(h.basis)
		for c := range w.columns() {
			h.add(filled(n, func(t int) float64 { return w.valueAt(c, float64(s.lead+t+1)) }))
		}
	}
	rest := h.y
	for _, q := range h.basis {
		rest = projectOut(rest, q)
	}
	h.d = ndiffs(rest, false)
	if h.order = dhrOrder; finiteTop(rest) <= flatness*h.size {
		h.d, h.order = 0, 0
	}
	for range h.d {
		h.y = append([]float64{0}, lagged(h.y, 1)...)
	}
	for i := range h.d {
		h.y[i] = 0
	}
	return h
}

// add appends a column to the basis (modified Gram-Schmidt), nil where it depends on the columns
// before.
func (h *harmonicSearch) add(x []float64) {
	before := math.Sqrt(squares(x))
	for _, q := range h.basis {
		if q == nil {
			continue
		}
		by := model.Dot(q, x)
		for t, v := range q {
			x[t] -= by * v
		}
	}
	size := math.Sqrt(squares(x))
	if !(size > 1e-6*before) {
		h.basis = append(h.basis, nil)
		return
	}
	for t := range x {
		x[t] /= size
	}
	h.basis = append(h.basis, x)
}

// projectOut returns x minus its projection on the unit vector q.
func projectOut(x, q []float64) []float64 {
	out := append([]float64(nil), x...)
	if q != nil {
		by := model.Dot(q, x)
		for t, v := range q {
			out[t] -= by * v
		}
	}
	return out
}

// choose returns the number of harmonics of each season with the least AICc. It starts from all
// harmonics and goes through the seasons twice, choosing the best number for each given the
// others.
func (h *harmonicSearch) choose() []int {
	best := h.waveCounts()
	for range 2 {
		for i := range best {
			best[i] = h.bestCount(best, i)
		}
	}
	return best
}

// bestCount returns the best number of harmonics of season i when the other seasons
// have k.
func (h *harmonicSearch) bestCount(k []int, i int) int {
	others := append([]int(nil), k...)
	others[i] = 0
	rest := projectOut(h.y, h.basis[0])
	columns := 0
	take := func(w int) {
		columns += h.waves[w].columns()
		for c := range h.waves[w].columns() {
			rest = projectOut(rest, h.basis[h.first[w]+c])
		}
	}
	var mine []int
	seen := make([]int, len(k))
	for w, wave := range h.waves {
		if wave.season == i {
			mine = append(mine, w)
		}
		if seen[wave.season]++; seen[wave.season] <= others[wave.season] {
			take(w)
		}
	}
	best, bestIC := 0, h.criterion(rest, columns)
	for n, w := range mine {
		take(w)
		if ic := h.criterion(rest, columns); ic < bestIC {
			best, bestIC = n+1, ic
		}
	}
	return best
}

// criterion returns the AICc, less a constant, of the residuals of a regression with
// the given number of columns.
func (h *harmonicSearch) criterion(rest []float64, columns int) float64 {
	rest = rest[h.d:]
	n := float64(len(rest))
	phi, variance := burg(rest, min(h.order, len(rest)/8))
	p := float64(columns + len(phi) + 2)
	if n-p-1 <= 0 {
		return math.Inf(1)
	}
	return n*math.Log(math.Max(variance, flatness*h.size*flatness*h.size)) + 2*p*n/(n-p-1)
}

// waveCounts returns the number of waves of each season.
func (h *harmonicSearch) waveCounts() []int {
	var k []int
	for _, w := range h.waves {
		for w.season >= len(k) {
			k = append(k, 0)
		}
		k[w.season]++
	}
	return k
}

// take returns the first k[i] waves of each season i.
func (h *harmonicSearch) take(k []int) []harmonic {
	var out []harmonic
	seen := make([]int, len(k))
	for _, w := range h.waves {
		if seen[w.season]++; seen[w.season] <= k[w.season] {
			out = append(out, w)
		}
	}
	return out
}

// burg returns the autoregression of x, of an order up to most, chosen by AICc, and the variance
// of its errors (Burg 1975: the reflections minimise forward and backward errors).
func burg(x []float64, most int) (best []float64, least float64) {
	n := len(x)
	forward, back := append([]float64(nil), x...), append([]float64(nil), x...)
	var phi []float64
	variance := squares(x) / float64(n)
	ic := func(k int) float64 {
		return float64(n)*math.Log(variance) + 2*float64(k+1)*float64(n)/math.Max(1, float64(n-k-2))
	}
	if !(variance > 0) {
		return nil, 0
	}
	bestIC := ic(0)
	least = variance
	for k := 1; k <= most; k++ {
		above, below := 0.0, 0.0
		for t := k; t < n; t++ {
			above += forward[t] * back[t-1]
			below += forward[t]*forward[t] + back[t-1]*back[t-1]
		}
		if !(below > 0) {
			break
		}
		a := 2 * above / below
		next := make([]float64, k)
		next[k-1] = a
		for j := range k - 1 {
			next[j] = phi[j] - a*phi[k-2-j]
		}
		phi = next
		for t := n - 1; t >= k; t-- {
			forward[t], back[t] = forward[t]-a*back[t-1], back[t-1]-a*forward[t]
		}
		if variance *= 1 - a*a; !(variance > 0) {
			break
		}
		if v := ic(k); v < bestIC {
			best, bestIC, least = phi, v, variance
		}
	}
	return best, least
}

// addWaves returns the series with the waves as its given regressors.
func (s *arimaSeries) addWaves(waves []harmonic) *arimaSeries {
	out := *s
	out.given = nil
	type column struct {
		harmonic
		number int
	}
	var columns []column
	for _, h := range waves {
		for c := range h.columns() {
			columns = append(columns, column{h, c})
			out.given = append(out.given, filled(s.lead+len(s.y), func(t int) float64 { return h.valueAt(c, float64(t+1)) }))
		}
	}
	out.further = func(j, t int) float64 {
		return columns[j].valueAt(columns[j].number, float64(s.lead+t+1))
	}
	return &out
}

// withErrors fits the regression on the given regressors with ARIMA errors of d differences.
func (s *arimaSeries) withErrors(d int) (*Fit, error) {
	plain := arimaForm{d: d, m: 1}
	x, _ := s.regressors(plain, d == 0, d == 1)
	like, err := newArimaLikelihood(plain, s.y, x)
	if err != nil {
		return nil, err
	}
	if like.isResidualZero() {
		return s.fit(plain, d == 0, d == 1, CSSML, true)
	}
	rest := s.subtractRegressors(like.first, like.length, x)
	look := rest.lastValues(dhrLook)
	inner, err := look.errorsOf(d, false)
	if err != nil {
		return nil, err
	}
	if n := len(s.y); n > 150 && n <= dhrExact {
		if other, err := look.errorsOf(d, true); err == nil && other.info.AICc < inner.info.AICc {
			inner = other
		}
	}
	fit, err := s.alternate(inner)
	if err != nil {
		return nil, err
	}
	// The first regression assumes plain errors and can be far from the best: three short forms
	// of the errors may lead to a better one.
	for _, f := range []arimaForm{{p: 1, d: d, m: 1}, {d: d, q: 1, m: 1}, {p: 1, d: d, q: 1, m: 1}} {
		plain, err := look.fit(f, d == 0, false, CSSML, false)
		if err != nil {
			continue
		}
		if other, err := s.alternate(plain); err == nil && other.info.AICc < fit.info.AICc && other.form.clearOfUnit(other.par) {
			fit = other
		}
	}
	return fit, nil
}

// errorsOf chooses and fits an ARIMA of d differences. exact searches by exact likelihood.
func (s *arimaSeries) errorsOf(d int, exact bool) (*Fit, error) {
	search := newAutoSearch(AutoARIMA{Exact: exact}, s)
	search.d, search.constant = d, d <= 1
	return search.run()
}

// subtractRegressors returns the series minus the given regressors x with the coefficients
// b/length. Mean and drift, which come first in x, stay.
func (s *arimaSeries) subtractRegressors(b, length []float64, x [][]float64) *arimaSeries {
	out := *s
	out.y = slices.Clone(s.y)
	for j := len(x) - len(s.given); j < len(x); j++ {
		by := b[j] / length[j]
		for t, v := range x[j][:len(out.y)] {
			out.y[t] -= by * v
		}
	}
	out.raw, out.given, out.further, out.lead, out.spent = out.y, nil, nil, 0, len(s.given)
	return &out
}

// dhrRounds is the most rounds of regression and errors in turn. A round that gains less than
// dhrGain in log-likelihood is the last.
const (
	dhrRounds = 6
	dhrGain   = 1e-4
)

// alternate maximises the likelihood over the regression and the errors in turn. It starts from
// inner, the fit of the errors to the remainder of a first regression.
func (s *arimaSeries) alternate(inner *Fit) (*Fit, error) {
	drift := slices.Contains(inner.names, "drift")
	mean := slices.Contains(inner.names, "intercept")
	fit := &Fit{form: inner.form, src: s, method: CSSML, best: inner.best}
	fit.x, fit.names = s.regressors(fit.form, mean, drift)
	var err error
	if fit.like, err = newArimaLikelihood(fit.form, s.y, fit.x); err != nil {
		return nil, err
	}
	last := math.Inf(1)
	for range dhrRounds {
		value := fit.like.exact(fit.best)
		if !(last-value > dhrGain/float64(fit.like.used)) {
			break
		}
		last = value
		b := make([]float64, len(fit.like.beta))
		for j := range b {
			b[j] = fit.like.first[j] + fit.like.beta[j]
		}
		rest := s.subtractRegressors(b, fit.like.length, fit.x)
		inner = &Fit{form: fit.form, src: rest, method: CSSML, best: slices.Clone(fit.best)}
		inner.x, inner.names = rest.regressors(fit.form, mean, drift)
		if inner.like, err = newArimaLikelihood(fit.form, rest.y, inner.x); err != nil || inner.like.isResidualZero() {
			break
		}
		minimise.Descent{Step: 1e-3, Tol: 1e-9, Most: 50}.Minimise(inner.like.exact, inner.best)
		fit.form.invert(inner.best)
		if fit.like.exact(inner.best) < value {
			fit.best = slices.Clone(inner.best)
		}
	}
	fit.settle()
	if fit.variance = fit.blocks(inner); fit.variance == nil {
		fit.variance = model.NaNs(len(fit.par) + len(fit.beta))
	}
	fit.finish()
	return fit, nil
}

// blocks returns the variances of the coefficients: of the errors from inner, and of the
// regression given the errors. It returns nil where inner has none.
func (fit *Fit) blocks(inner *Fit) []float64 {
	if inner.like == nil || inner.like.isResidualZero() {
		return nil
	}
	inner.best = slices.Clone(fit.best)
	inner.settle()
	of := inner.variances()
	if of == nil {
		return nil
	}
	out := slices.Clone(of[:len(fit.best)])
	l := fit.like
	k := len(l.beta)
	u := make([]float64, k)
	for j := range k {
		// Column j of the inverse of the Cholesky factor.
		sum := 0.0
		for i := j; i < k; i++ {
			u[i] = 0
			if i == j {
				u[i] = 1
			}
			u[i] = (u[i] - model.Dot(l.choleskyOf[i*k+j:i*k+i], u[j:i])) / l.choleskyOf[i*k+i]
			sum += u[i] * u[i]
		}
		out = append(out, sum*l.ssq/float64(l.counted)/(l.length[j]*l.length[j]))
	}
	return out
}
