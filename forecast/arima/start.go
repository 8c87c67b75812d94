package arima

import "math"

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
