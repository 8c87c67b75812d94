package arima

import "math"

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
