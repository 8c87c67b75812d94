package arima

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// AutoARIMA chooses the order of an ARIMA model by the method of Hyndman and Khandakar (2008,
// "Automatic time series forecasting: the forecast package for R", J. Statistical Software 27).
// The strength of the season decides on a seasonal difference, repeated KPSS tests on other
// differences. AICc decides on the orders (at most 5, seasonal at most 2), in a search that
// moves from the best model so far to its neighbours. Models with a root within one percent of
// the unit circle, or without a proper maximum, are passed over.
type AutoARIMA struct {
	Period int // m; 1 or 0 means no season
	// Exact searches by exact likelihood even where the series is longer than 150 values or the
	// season longer than 12 steps.
	Exact bool
}

// Limits of the search.
const (
	autoMost         = 5     // highest p and q
	autoMostSeasonal = 2     // highest P and Q
	autoMostModels   = 94    // most models
	autoLongest      = 350   // longest season, in steps
	nearUnit         = 1.01  // a root must be at least this far from the origin
	autoValues       = 10000 // of a longer series the search uses the last values
)

// Fit implements model.Model. A constant series, or one that is constant after differencing,
// gets a fit without error. It fails with ErrTooShort below three values.
func (a AutoARIMA) Fit(y capcli.Series) (model.Fitted, error) {
	fit, err := a.FitARIMA(y)
	if err != nil {
		return nil, err
	}
	return fit, nil
}

// FitARIMA is Fit with the concrete type of the fit.
func (a AutoARIMA) FitARIMA(y capcli.Series) (*Fit, error) {
	if err := checkValues(y.Values); err != nil {
		return nil, err
	}
	if len(model.Observed(y.Values)) < 3 {
		return nil, fmt.Errorf("arima: %d values, want 3 or more: %w", len(model.Observed(y.Values)), model.ErrTooShort)
	}
	s, err := newArimaSeries(y.Values)
	if err != nil {
		return nil, err
	}
	if a.Period > autoLongest {
		s.notes = append(s.notes, fmt.Sprintf("the season of %d steps is left out: the longest for ARIMA is %d", a.Period, autoLongest))
		a.Period = 1
	}
	return newAutoSearch(a, s).run()
}

// autoSearch is one search for an order.
type autoSearch struct {
	s, look    *arimaSeries // the series, and its end that the search uses
	d, bigD, m int          // differences, seasonal differences, season in steps
	most       arimaForm    // highest orders
	constant   bool         // a mean or drift makes sense: at most one difference
	method     Method
	tried      map[autoTry]bool
	order      []autoTried // models tried, in the order of trial
	best       autoTry
	bestIC     float64 // AICc of best
	kept       *Fit    // the fit of best, where the search fits the whole series by exact likelihood; else nil
}

// autoTry is a model to try.
type autoTry struct {
	p, q, bigP, bigQ int
	constant         bool
}

// autoTried is a model tried and its AICc, +Inf where it does not qualify.
type autoTried struct {
	try autoTry
	ic  float64
}

// newAutoSearch returns a search over s, with the differences and limits chosen.
func newAutoSearch(a AutoARIMA, s *arimaSeries) *autoSearch {
	n := len(s.y)
	m := max(1, a.Period)
	if n <= m {
		m = 1
	}
	q := &autoSearch{s: s, look: s.lastValues(max(autoValues, 20*m)), m: m, method: CSSML, tried: map[autoTry]bool{}, bestIC: math.Inf(1)}
	x := q.look.remainder()
	q.bigD = nsdiffs(x, m)
	if q.bigD > 0 {
		x = lagged(x, m)
	}
	q.d = ndiffs(x, false)
	q.constant = q.d+q.bigD <= 1
	third := n / 3
	q.most = arimaForm{p: min(autoMost, third), q: min(autoMost, third)}
	if m > 1 {
		q.most.p, q.most.q = min(q.most.p, m-1), min(q.most.q, m-1)
		q.most.bigP = min(autoMostSeasonal, third/m)
		q.most.bigQ = q.most.bigP
	}
	if q.s.gaps() && n <= 200 && m <= 12 {
		return q // sums of squares say little of orders where values are missing
	}
	if !a.Exact && (n > 150 || m > 12) {
		q.method = CSS
	}
	return q
}

func (s *arimaSeries) gaps() bool { return len(model.Observed(s.y)) < len(s.y) }

// lastValues returns the last n values of the series, or a few more where the first of them
// would be missing.
func (s *arimaSeries) lastValues(n int) *arimaSeries {
	cut := len(s.y) - n
	if cut <= 0 {
		return s
	}
	short := *s
	for cut > 0 && math.IsNaN(s.y[cut]) {
		cut--
	}
	short.raw, short.y, short.lead = s.raw[cut:], s.y[cut:], s.lead+cut
	return &short
}

// remainder returns the series minus its least squares regression on the given regressors.
func (s *arimaSeries) remainder() []float64 {
	if len(s.given) == 0 {
		return s.y
	}
	x, _ := s.regressors(arimaForm{m: 1}, true, false)
	l, err := newArimaLikelihood(arimaForm{m: 1}, s.y, x)
	if err != nil {
		return s.y
	}
	return l.whole[0]
}

func (a *autoSearch) form(t autoTry) arimaForm {
	return arimaForm{p: t.p, d: a.d, q: t.q, bigP: t.bigP, bigD: a.bigD, bigQ: t.bigQ, m: a.m}
}

// fit fits a try to the whole series.
func (a *autoSearch) fit(t autoTry) (*Fit, error) { return a.fitTo(a.s, t, CSSML, true) }

// fitTo fits a try to s. The constant of the try is a mean without differences and a drift with
// one.
func (a *autoSearch) fitTo(s *arimaSeries, t autoTry, method Method, polish bool) (*Fit, error) {
	return s.fit(a.form(t), t.constant, t.constant && a.d+a.bigD == 1, method, polish)
}

func (a *autoSearch) run() (*Fit, error) {
	if a.degenerate() {
		return a.fit(autoTry{constant: a.constant})
	}
	a.stepwise()
	return a.finish()
}

// degenerate reports whether differencing leaves no variation.
func (a *autoSearch) degenerate() bool {
	w := model.Observed(a.form(autoTry{}).difference(a.s.y))
	return len(w) == 0 || model.IsFlat(w) || finiteTop(residualsOfLine(w, false)) <= flatness*finiteTop(a.s.y)
}

// finish fits the best model by exact likelihood. Where that fails it fits the next best, and at
// last the model without ARMA part.
func (a *autoSearch) finish() (*Fit, error) {
	if a.kept != nil {
		a.kept.finishFit()
		return a.kept, nil
	}
	for len(a.order) > 0 {
		i := 0
		for k, t := range a.order {
			if t.ic < a.order[i].ic {
				i = k
			}
		}
		if math.IsInf(a.order[i].ic, 1) {
			break
		}
		fit, err := a.fitTo(a.s, a.order[i].try, CSSML, false)
		if err == nil && fit.form.clearOfUnit(fit.par) && fit.variances() != nil {
			fit.finishFit()
			return fit, nil
		}
		a.order[i].ic = math.Inf(1)
	}
	fit, err := a.fit(autoTry{constant: a.constant})
	if err != nil && a.constant {
		fit, err = a.fit(autoTry{})
	}
	return fit, err
}

// stepwise tries a few common models and then moves to better neighbours of the best.
func (a *autoSearch) stepwise() {
	seasonal := a.m > 1
	one := func(on bool, most int) int {
		if on {
			return min(1, most)
		}
		return 0
	}
	starts := []autoTry{
		{min(2, a.most.p), min(2, a.most.q), one(seasonal, a.most.bigP), one(seasonal, a.most.bigQ), a.constant},
		{0, 0, 0, 0, a.constant},
		{min(1, a.most.p), 0, one(seasonal, a.most.bigP), 0, a.constant},
		{0, min(1, a.most.q), 0, one(seasonal, a.most.bigQ), a.constant},
		{},
	}
	for _, t := range starts {
		a.try(t)
	}
	// The neighbours keep the mean or drift even where a model without it has won so far. R does
	// the same, and its choices forecast short series better than models without a constant and
	// with a lower AICc.
	a.best.constant = a.constant
	for a.improve() {
	}
}

// autoMoves are the changes of p, q, P and Q to the neighbours, in the order of trial.
var autoMoves = [][4]int{
	{0, 0, -1, 0},
	{0, 0, 0, -1},
	{0, 0, 1, 0},
	{0, 0, 0, 1},
	{0, 0, -1, -1},
	{0, 0, -1, 1},
	{0, 0, 1, -1},
	{0, 0, 1, 1},
	{-1, 0, 0, 0},
	{0, -1, 0, 0},
	{1, 0, 0, 0},
	{0, 1, 0, 0},
	{-1, -1, 0, 0},
	{-1, 1, 0, 0},
	{1, -1, 0, 0},
	{1, 1, 0, 0},
}

// improve moves to the first better neighbour. It returns false when there is none.
func (a *autoSearch) improve() bool {
	at := a.best
	for _, m := range autoMoves {
		if a.try(autoTry{at.p + m[0], at.q + m[1], at.bigP + m[2], at.bigQ + m[3], at.constant}) {
			return true
		}
	}
	at.constant = !at.constant
	return a.constant && a.try(at)
}

// try fits a model not tried before and reports whether it is the best so far.
func (a *autoSearch) try(t autoTry) bool {
	inside := func(v, most int) bool { return v >= 0 && v <= most }
	if !inside(t.p, a.most.p) || !inside(t.q, a.most.q) || !inside(t.bigP, a.most.bigP) || !inside(t.bigQ, a.most.bigQ) {
		return false
	}
	if a.tried[t] || len(a.order) >= autoMostModels {
		return false
	}
	a.tried[t] = true
	ic := a.score(t)
	a.order = append(a.order, autoTried{t, ic})
	if !(ic < a.bestIC) {
		return false
	}
	a.best, a.bestIC = t, ic
	return true
}

// score returns the AICc of a try, or +Inf where it does not qualify. It skips the check of the
// curvature for models that cannot become the best.
func (a *autoSearch) score(t autoTry) float64 {
	fit, err := a.fitTo(a.look, t, a.method, false)
	if err != nil || !fit.form.clearOfUnit(fit.par) {
		return math.Inf(1)
	}
	ic := fit.searchScore()
	if math.IsNaN(ic) {
		return math.Inf(1)
	}
	if ic < a.bestIC {
		if fit.variance = fit.variances(); fit.variance == nil {
			return math.Inf(1)
		}
		if a.look == a.s && a.method == CSSML {
			a.kept = fit
		}
	}
	return ic
}

// searchScore returns the AICc of a fit in a search. For conditional sums of squares the mean
// square stands for the likelihood, so such a score compares only with others of its kind.
func (fit *Fit) searchScore() float64 {
	if fit.method != CSS {
		_, aicc, _ := fit.criteria()
		return aicc
	}
	n, k := float64(fit.like.used), float64(len(fit.par)+len(fit.beta)+fit.src.spent+1)
	if n-k-1 <= 0 {
		return math.Inf(1)
	}
	return n*math.Log(fit.like.ssq/float64(fit.like.counted)) + 2*k + 2*k*(k+1)/(n-k-1)
}
