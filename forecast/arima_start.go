package forecast

import "math"

// R gives the values before the series a normal distribution around zero with a
// variance of a million innovations, which is not quite nothing: it pulls the
// differenced series a little, by an amount that shows in the third decimal of
// the likelihood. So that likelihoods can be compared, the same is done here,
// to first order in the millionth: with D y the part of the first differences
// that the series itself gives, and B the differencing of what came before, the
// mean of the differenced series is Gamma (k B B')^-1 D y instead of zero, where
// Gamma are its autocovariances. Where the level is so far above the innovations
// that this would hurt, the start is wholly unknown instead.

// high says whether the level is more than 2,000 typical changes from zero.
func (l *arimaLikelihood) high() bool {
	y := l.whole[0]
	first, moves, n := finiteTop(y[:min(len(y), l.form.lost())]), 0.0, 0.0
	for _, v := range l.form.difference(y) {
		if v == v {
			moves += v * v
			n++
		}
	}
	return n == 0 || first > 2000*math.Sqrt(moves/n)
}

// lean finds the pull of each series.
func (l *arimaLikelihood) lean() {
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
	l.gamma = make([]float64, len(l.whole[0])+1)
}

// opening is the share of the sum of squares that the first values have under
// that start, given the last regression coefficients.
func (l *arimaLikelihood) opening() float64 {
	if l.pull == nil {
		return 0
	}
	delta := l.form.differences()
	sum := 0.0
	less := func(t int, rows [][]float64) float64 {
		v := rows[0][t]
		for j, b := range l.beta {
			v -= b * rows[j+1][t]
		}
		return v
	}
	for t := range delta {
		d := less(t, l.whole)
		for j := range t {
			d -= delta[j] * less(t-1-j, l.whole)
		}
		sum += d * less(t, l.pull)
	}
	return sum
}

// leaning are the differenced series less the means that their start gives them.
func (l *arimaLikelihood) leaning() [][]float64 {
	if l.pull == nil {
		return l.series
	}
	known := l.filter.covs.gamma
	top := copy(l.gamma, known)
	for k := top; k < len(l.gamma); k++ {
		v := 0.0
		for _, j := range l.filter.sparse {
			v += l.filter.phi[j] * l.gamma[k-1-j]
		}
		l.gamma[k] = v
	}
	n := len(l.pull[0])
	for s, w := range l.series {
		out, pull := l.pulled[s], l.pull[s]
		for t, v := range w {
			// Value t of the differenced series is n - i steps after start value i.
			near := l.gamma[t+1 : t+1+n]
			for i, g := range pull {
				v -= near[n-1-i] * g
			}
			out[t] = v
		}
	}
	return l.pulled
}
