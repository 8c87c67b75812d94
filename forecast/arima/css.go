package arima

import "math"

// armaTerm is a nonzero coefficient and its lag.
type armaTerm struct {
	lag  int
	coef float64
}

// conditional returns half the log of the mean squared residual, conditional on the first values
// and on residuals of zero before them.
func (l *arimaLikelihood) conditional(par []float64) float64 {
	l.form.expand(par, l.phi, l.theta)
	l.residuals()
	from := min(len(l.phi), len(l.series[0]))
	if len(l.beta) == 0 && l.gaps {
		l.syy = squares(l.out[0][from:len(l.series[0])])
	} else {
		l.sums(l.out, from, len(l.series[0]))
	}
	l.logs = 0
	return l.value()
}

// residuals sets out to the conditional residuals of every series for phi and theta.
func (l *arimaLikelihood) residuals() {
	l.terms = appendTerms(l.terms[:0], l.phi)
	ar := len(l.terms)
	l.terms = appendTerms(l.terms, l.theta)
	phi, theta := l.terms[:ar], l.terms[ar:]
	from := min(len(l.phi), len(l.series[0]))
	l.counted = len(l.series[0]) - from
	for s, w := range l.series {
		e := l.out[s][:len(w)]
		clear(e[:from])
		if l.gaps {
			l.residualsWithGaps(w, e, phi, theta, s == 0)
			continue
		}
		copy(e[from:], w[from:])
		for _, c := range phi {
			subtractLagged(e[from:], w[from-c.lag:], c.coef)
		}
	}
	if !l.gaps {
		subtractOwnOfAll(l.out, theta, from)
	}
}

// subtractLagged subtracts coef times an earlier part x of a series from e.
func subtractLagged(e, x []float64, coef float64) {
	x = x[:len(e)]
	for i, v := range x {
		e[i] -= coef * v
	}
}

// subtractOwnOfAll is subtractOwn for several series of one length.
func subtractOwnOfAll(rows [][]float64, terms []armaTerm, from int) {
	if len(terms) == 0 {
		return
	}
	if len(rows)%2 == 1 {
		subtractOwn(rows[0], terms, from)
		rows = rows[1:]
	}
	for ; len(rows) > 0; rows = rows[2:] {
		subtractOwnOfTwo(rows[0], rows[1], terms, from)
	}
}

// subtractOwn subtracts the terms of the series itself from its values in order, from step from
// on. The values before from are zero.
func subtractOwn(e []float64, terms []armaTerm, from int) {
	last := terms[len(terms)-1].lag
	for t := from; t < min(last, len(e)); t++ {
		for _, c := range terms {
			if c.lag <= t {
				e[t] -= c.coef * e[t-c.lag]
			}
		}
	}
	for t := max(from, last); t < len(e); t++ {
		e[t] = subtractTerms(e[t], e, terms, t)
	}
}

// subtractOwnOfTwo is subtractOwn for two series of one length. Step by step, neither waits for
// the other. One or two terms at the lags 1 and 2 are the most frequent.
func subtractOwnOfTwo(a, b []float64, terms []armaTerm, from int) {
	last := min(terms[len(terms)-1].lag, len(a))
	if from < last {
		subtractOwn(a[:last], terms, from)
		subtractOwn(b[:last], terms, from)
		from = last
	}
	b = b[:len(a)]
	switch {
	case from == len(a):
	case last == 1:
		c, p, q := terms[0].coef, a[from-1], b[from-1]
		for t := from; t < len(a); t++ {
			p, q = a[t]-c*p, b[t]-c*q
			a[t], b[t] = p, q
		}
	case last == 2 && len(terms) == 2:
		c, d, p, q, p2, q2 := terms[0].coef, terms[1].coef, a[from-1], b[from-1], a[from-2], b[from-2]
		for t := from; t < len(a); t++ {
			p, q, p2, q2 = a[t]-c*p-d*p2, b[t]-c*q-d*q2, p, q
			a[t], b[t] = p, q
		}
	default:
		for t := from; t < len(a); t++ {
			v, w := a[t], b[t]
			for _, c := range terms {
				v -= c.coef * a[t-c.lag]
				w -= c.coef * b[t-c.lag]
			}
			a[t], b[t] = v, w
		}
	}
}

// appendTerms appends the nonzero coefficients with their lags.
func appendTerms(terms []armaTerm, coef []float64) []armaTerm {
	for j, v := range coef {
		if v != 0 {
			terms = append(terms, armaTerm{j + 1, v})
		}
	}
	return terms
}

// subtractTerms returns v minus the sum of coef * x[t-lag] over the terms.
func subtractTerms(v float64, x []float64, terms []armaTerm, t int) float64 {
	for _, c := range terms {
		v -= c.coef * x[t-c.lag]
	}
	return v
}

// residualsWithGaps computes the conditional residuals e of a series w with missing values. A
// residual that needs a missing value is zero and does not count. main marks the first series,
// whose missing residuals the regressors follow.
func (l *arimaLikelihood) residualsWithGaps(w, e []float64, phi, theta []armaTerm, main bool) {
	from := min(len(l.phi), len(w))
	steady := from + len(l.theta)
	for t := from; t < len(w); t++ {
		if !main && l.missed[t] {
			e[t] = 0
			continue
		}
		v := subtractTerms(w[t], w, phi, t)
		if t >= steady {
			v = subtractTerms(v, e, theta, t)
		} else {
			for _, c := range theta {
				if t-c.lag < from {
					break
				}
				v -= c.coef * e[t-c.lag]
			}
		}
		if main {
			if l.missed[t] = v != v; l.missed[t] {
				l.counted--
				v = 0
			}
		}
		e[t] = v
	}
}

// R gives the values before the series a normal distribution around zero with a variance of a
// million innovations. That is not quite an unknown start: it moves the means of the differenced
// series a little, by an amount that shows in the third decimal of the likelihood. This file does
// the same, to first order in the millionth, so that likelihoods compare with R's. Let D y be the
// part of the first differences that comes from the series itself, B the differencing of the
// values before the series, k their variance and Gamma the autocovariances of the differenced
// series. Then the mean of the differenced series is Gamma (k B B')^-1 D y instead of zero. Where
// the level is so far above the innovations that this would do harm, the start is wholly unknown
// instead.

// isFarFromZero reports whether one of the values lost by differencing exceeds 2,000 typical
// changes of the differenced series, or no change is known.
func (l *arimaLikelihood) isFarFromZero() bool {
	y := l.whole[0]
	first, moves, n := finiteTop(y[:min(len(y), l.form.lostValues())]), 0.0, 0.0
	for _, v := range l.form.difference(y) {
		if v == v {
			moves += v * v
			n++
		}
	}
	return n == 0 || first > 2000*math.Sqrt(moves/n)
}

// findMeans sets the pull of each series.
func (l *arimaLikelihood) findMeans() {
	delta := l.form.differences()
	n := len(delta)
	l.pull, l.pulled = nil, nil
	for _, y := range l.whole {
		u := make([]float64, n)
		for t := range u {
			u[t] = y[t]
			for j := range t {
				u[t] -= delta[j] * y[t-1-j]
			}
			u[t] /= unknown
		}
		// B is a symmetric triangle: its row t holds delta(t), delta(t+1), ...
		for range 2 {
			x := make([]float64, n)
			for t := n - 1; t >= 0; t-- {
				v := u[t]
				for i := range n - 1 - t {
					v -= delta[t+i] * x[i]
				}
				x[n-1-t] = v / delta[n-1]
			}
			copy(u, x)
		}
		l.pull = append(l.pull, u)
		l.pulled = append(l.pulled, make([]float64, len(y)-n))
	}
}

// openingShare returns the contribution of the first values to the sum of squares under this
// start, given the last regression coefficients.
func (l *arimaLikelihood) openingShare() float64 {
	if l.pull == nil {
		return 0
	}
	delta := l.form.differences()
	sum := 0.0
	rest := func(t int, rows [][]float64) float64 {
		v := rows[0][t]
		for j, b := range l.beta {
			v -= b * rows[j+1][t]
		}
		return v
	}
	for t := range delta {
		d := rest(t, l.whole)
		for j := range t {
			d -= delta[j] * rest(t-1-j, l.whole)
		}
		sum += d * rest(t, l.pull)
	}
	return sum
}

// withoutMeans returns the differenced series minus the means that the start gives them.
func (l *arimaLikelihood) withoutMeans() [][]float64 {
	if l.pull == nil {
		return l.series
	}
	// The pull of start value i on value t is gamma(t + n - i), which follows the
	// autoregression as soon as all lags are past the moving average.
	f := &l.filter
	direct := max(len(f.phi), len(l.phi)+len(l.theta))
	l.reachGamma(direct + len(l.pull[0]) + 1)
	n := len(l.pull[0])
	for s, w := range l.series {
		out, pull := l.pulled[s], l.pull[s]
		for t := range min(direct, len(w)) {
			near := l.gamma[t+1 : t+1+n]
			v := 0.0
			for i, g := range pull {
				v += near[n-1-i] * g
			}
			out[t] = v
		}
		clear(out[min(direct, len(w)):])
	}
	l.terms = appendTerms(l.terms[:0], l.phi)
	for i := range l.terms {
		l.terms[i].coef = -l.terms[i].coef
	}
	subtractOwnOfAll(l.pulled, l.terms, direct)
	for s, w := range l.series {
		out := l.pulled[s][:len(w)]
		for t, v := range w {
			out[t] = v - out[t]
		}
	}
	return l.pulled
}

// reachGamma sets gamma to the first n autocovariances.
func (l *arimaLikelihood) reachGamma(n int) {
	l.gamma = resize(l.gamma, n)
	for k := copy(l.gamma, l.filter.covs.gamma); k < n; k++ {
		v := 0.0
		for j, c := range l.phi {
			v += c * l.gamma[k-1-j]
		}
		l.gamma[k] = v
	}
}
