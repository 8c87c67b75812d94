package arima

import "math"

// gapFilter is the exact filter of a series with missing values, for the model of space. The
// transition of space is little but a shift. So the states lie by absolute time in two rings,
// one for the stationary part and one for past values, and a step changes only what is not a
// shift. An observed past value has no covariance and is passed over. Once the gains have
// converged, a step touches only the lags of the model, until the next gap.
type gapFilter struct {
	r, lost, n int // number of states: stationary part, past values, in all
	phi, shock []float64
	delta      []float64
	inner      []int // indices of the nonzero elements of phi, without its last
	nzShock    []int // indices of the nonzero elements of shock
	lags       []int // indices of the nonzero elements of delta
	mean       [][]float64
	cov        []float64 // lower triangle, rows of n
	z          []float64 // covariances of the states with the value now
	first      []float64 // covariances of the states with the first state
	active     []int     // where z or first is not zero
	known      []bool    // which past values were observed
	open       []int     // places of the stationary part and of past values not observed
	base, past int       // places of the first state and of the oldest past value
	v          []float64 // innovation of each series
}

// start readies the filter for a form and a number of series. Coefficients are by lag, and p is
// the covariance of the stationary part, row by row.
func (g *gapFilter) start(f arimaForm, phi, theta, p []float64, series int) {
	g.r, g.delta = f.states(), f.differences()
	g.lost = len(g.delta)
	g.n = g.r + g.lost
	g.phi, g.shock = resize(g.phi, g.r), resize(g.shock, g.r)
	clear(g.phi)
	clear(g.shock)
	copy(g.phi, phi)
	g.shock[0] = 1
	copy(g.shock[1:], theta)
	g.inner, g.nzShock, g.lags = notZero(g.inner, g.phi[:g.r-1]), notZero(g.nzShock, g.shock), notZero(g.lags, g.delta)
	for len(g.mean) < series {
		g.mean = append(g.mean, nil)
	}
	g.mean = g.mean[:series]
	for i := range g.mean {
		g.mean[i] = resize(g.mean[i], g.n)
		clear(g.mean[i])
	}
	g.v, g.z, g.first = resize(g.v, series), resize(g.z, g.n), resize(g.first, g.n)
	clear(g.z)
	clear(g.first)
	g.cov = resize(g.cov, g.n*g.n)
	clear(g.cov)
	for i := range g.r {
		copy(g.cov[i*g.n:i*g.n+i+1], p[i*g.r:])
	}
	if cap(g.known) < g.lost {
		g.known = make([]bool, g.lost)
	}
	g.known = g.known[:g.lost]
	for j := range g.known {
		g.known[j] = false
		g.cov[(g.r+j)*(g.n+1)] = unknown
	}
	g.base, g.past = 0, 0
	g.reopen()
}

// notZero returns the indices of the nonzero elements of x, in the space of into.
func notZero(into []int, x []float64) []int {
	into = into[:0]
	for i, v := range x {
		if v != 0 {
			into = append(into, i)
		}
	}
	return into
}

// reopen lists the places that can have a covariance.
func (g *gapFilter) reopen() {
	g.open = g.open[:0]
	for i := range g.r {
		g.open = append(g.open, i)
	}
	for j, known := range g.known {
		if !known {
			g.open = append(g.open, g.r+j)
		}
	}
}

// place returns the place of state i of the stationary part.
func (g *gapFilter) place(i int) int {
	if i += g.base; i >= g.r {
		i -= g.r
	}
	return i
}

// pastPlace returns the place of the value j+1 steps ago.
func (g *gapFilter) pastPlace(j int) int {
	if j = g.past - 1 - j; j < 0 {
		j += g.lost
	}
	return g.r + j
}

func (g *gapFilter) covarianceIndex(i, j int) int {
	if j > i {
		i, j = j, i
	}
	return i*g.n + j
}

// look returns the value of the series now that a state predicts.
func (g *gapFilter) look(state []float64) float64 {
	v := state[g.base]
	for _, j := range g.lags {
		v += g.delta[j] * state[g.pastPlace(j)]
	}
	return v
}

// column adds by times the covariances of all states with place s to x.
func (g *gapFilter) column(s int, by float64, x []float64) {
	for _, i := range g.open {
		if i >= s {
			x[i] += by * g.cov[i*g.n+s]
		} else {
			x[i] += by * g.cov[s*g.n+i]
		}
	}
}

// sight sets z and active and returns the variance of the value now.
func (g *gapFilter) sight() float64 {
	for _, i := range g.open {
		g.z[i] = 0
	}
	g.column(g.base, 1, g.z)
	for _, j := range g.lags {
		if s := g.pastPlace(j); !g.known[s-g.r] {
			g.column(s, g.delta[j], g.z)
		}
	}
	f := g.look(g.z)
	g.trim(g.z, f)
	return f
}

// trim sets active to the places where x is not negligible beside variance, and clears x at the
// others.
func (g *gapFilter) trim(x []float64, variance float64) {
	g.active = g.active[:0]
	tiny := 1e-14 * math.Abs(variance)
	for _, i := range g.open {
		if math.Abs(x[i]) > tiny {
			g.active = append(g.active, i)
		} else {
			x[i] = 0
		}
	}
}

// observe updates means and covariance by a value of variance f with the innovations v.
func (g *gapFilter) observe(f float64) {
	for k, m := range g.mean {
		by := g.v[k] / f
		for _, i := range g.active {
			m[i] += g.z[i] * by
		}
	}
	dense := 2*len(g.active) > g.n
	for a, i := range g.active {
		by := g.z[i] / f
		row := g.cov[i*g.n : i*g.n+i+1]
		if dense {
			z := g.z[:len(row)]
			for j := range row {
				row[j] -= by * z[j]
			}
			continue
		}
		for _, j := range g.active[:a+1] {
			row[j] -= by * g.z[j]
		}
	}
}

// step moves to the next time. seen says whether the value now was observed; f is its variance.
func (g *gapFilter) step(values []float64, seen bool, f float64) {
	for k, m := range g.mean {
		now := g.look(m)
		if seen {
			now = values[k]
		}
		level := m[g.base]
		for _, i := range g.inner {
			m[g.place(i+1)] += g.phi[i] * level
		}
		m[g.base] = g.phi[g.r-1] * level
		if g.lost > 0 {
			m[g.r+g.past] = now
		}
	}
	g.spread()
	if g.lost > 0 {
		g.remember(seen, f)
		if g.past++; g.past == g.lost {
			g.past = 0
		}
	}
	if g.base++; g.base == g.r {
		g.base = 0
	}
}

// spread moves the covariances of the stationary part one step on: x(i) becomes x(i+1) + phi(i)
// x(0), plus the shock.
func (g *gapFilter) spread() {
	base, last := g.base, g.phi[g.r-1]
	level := g.cov[base*(g.n+1)]
	for _, i := range g.open {
		g.first[i] = 0
	}
	g.column(base, 1, g.first)
	g.trim(g.first, 1)
	g.first[base] = 0
	if len(g.active) > 0 {
		g.widen(level)
	}
	for _, i := range g.open {
		g.cov[g.covarianceIndex(base, i)] = last * g.first[i]
	}
	for _, i := range g.inner {
		g.cov[g.covarianceIndex(base, g.place(i+1))] += last * g.phi[i] * level
	}
	g.cov[base*(g.n+1)] = last * last * level
	for _, i := range g.nzShock {
		for _, j := range g.nzShock {
			a, b := g.place(i+1), g.place(j+1)
			if b <= a {
				g.cov[a*g.n+b] += g.shock[i] * g.shock[j]
			}
		}
	}
}

// widen adds phi first' + first phi' + phi phi' level to the covariances of all places but that
// of the first state.
func (g *gapFilter) widen(level float64) {
	for _, i := range g.inner {
		s, by := g.place(i+1), g.phi[i]
		for _, j := range g.active {
			if j != g.base {
				g.cov[g.covarianceIndex(s, j)] += by * g.first[j]
			}
		}
		g.cov[s*(g.n+1)] += by * g.first[s]
		for _, k := range g.inner {
			if j := g.place(k + 1); j <= s {
				g.cov[s*g.n+j] += by * g.phi[k] * level
			}
		}
	}
}

// remember stores the value now in the place of the oldest past value. f is its variance where
// it was not observed.
func (g *gapFilter) remember(seen bool, f float64) {
	s := g.r + g.past
	if !seen {
		// The stationary part has moved since z was computed.
		level := g.z[g.base]
		for _, i := range g.inner {
			g.z[g.place(i+1)] += g.phi[i] * level
		}
		g.z[g.base] = g.phi[g.r-1] * level
	}
	was := g.known[g.past]
	if was != seen {
		g.known[g.past] = seen
		g.reopen()
	}
	if seen {
		if !was {
			clear(g.cov[s*g.n : s*g.n+s+1])
			for i := s + 1; i < g.n; i++ {
				g.cov[i*g.n+s] = 0
			}
			g.z[s], g.first[s] = 0, 0
		}
		return
	}
	for _, i := range g.open {
		g.cov[g.covarianceIndex(s, i)] = g.z[i]
	}
	g.cov[s*(g.n+1)] = f
}

// run filters series, of which the first alone has missing values. It sets out to the
// standardised innovations, NaN where there is none, and returns the sum of the logs of their
// variances and their number. Innovations of nearly unknown variance do not count. Where
// expected is not nil, run sets it to the one-step forecasts of the first series, NaN where they
// are nearly unknown.
func (g *gapFilter) run(series, out [][]float64, expected []float64) (logs float64, used int) {
	values := make([]float64, len(series))
	product := 1.0
	for t, y := range series[0] {
		f := g.sight()
		sure, seen := f < 1e4, !math.IsNaN(y)
		root := math.Sqrt(f)
		for k := range series {
			values[k] = series[k][t]
			level := g.look(g.mean[k])
			g.v[k] = values[k] - level
			out[k][t] = math.NaN()
			if sure && seen {
				out[k][t] = g.v[k] / root
			}
			if k == 0 && expected != nil {
				expected[t] = math.NaN()
				if sure {
					expected[t] = level
				}
			}
		}
		if seen {
			if sure {
				if product *= f; product > 1e150 || product < 1e-150 {
					logs += math.Log(product)
					product = 1
				}
				used++
			}
			g.observe(f)
		}
		g.step(values, seen, f)
	}
	return logs + math.Log(product), used
}

// copyInto copies the filter's final state to s, in the order of its states.
func (g *gapFilter) copyInto(s *space) {
	where := make([]int, g.n)
	for i := range where {
		if i < g.r {
			where[i] = g.place(i)
		} else {
			where[i] = g.pastPlace(i - g.r)
		}
	}
	for i, a := range where {
		s.mean[0][i] = g.mean[0][a]
		for j, b := range where {
			s.cov[i*s.n+j] = g.cov[g.covarianceIndex(a, b)]
		}
	}
}
