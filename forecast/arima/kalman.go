package arima

import "math"

// kalman is the exact Gaussian filter of ARMA processes without missing values.
//
// The state is Harvey's: element i is the part of the value at t+i that is known at time t. From
// the stationary start the covariance of the states changes by a matrix of rank one at each
// step. So the gains follow the recursions of Morf, Sidhu and Kailath (1974; for ARMA: Melard
// 1984, "Algorithm AS 197", Applied Statistics 33) in time linear in the order. Once the gains
// have converged, only nonzero coefficients matter. States are stored by absolute time, so that
// a step need not shift them.
type kalman struct {
	phi, theta []float64 // coefficients by lag, r of each
	covs       autocov
	// gain is the gain by state, before division by the variance. slim is the vector of the
	// rank-one change, by absolute time.
	gain, slim []float64
	states     [][]float64 // of each series, by absolute time
	column     []float64   // first column of the initial covariance
	sparse     []int       // lags-1 at which phi or theta is not zero
	logs       float64     // sum of the logs of the innovation variances
	variance   float64     // of the last innovation, in units of sigma2
	rank       float64     // factor of the rank-one change
}

// start readies the filter for a number of series of n values, with r states. It returns false
// when phi is not stationary.
func (k *kalman) start(phi, theta []float64, r, n, series int) bool {
	k.phi, k.theta = resize(k.phi, r), resize(k.theta, r)
	clear(k.phi)
	clear(k.theta)
	copy(k.phi, phi)
	copy(k.theta, theta)
	if !k.covs.find(phi, theta, r) {
		return false
	}
	k.column = resize(k.column, r)
	k.covs.firstColumn(phi, theta, k.column)
	k.gain = resize(k.gain, r)
	k.slim = resize(k.slim, n+r+1)
	clear(k.slim)
	k.sparse = k.sparse[:0]
	for i := range r {
		next := 0.0
		if i+1 < r {
			next = k.column[i+1]
		}
		k.gain[i] = k.phi[i]*k.column[0] + next
		if k.phi[i] != 0 || k.theta[i] != 0 {
			k.sparse = append(k.sparse, i)
		}
	}
	copy(k.slim, k.gain)
	k.variance = k.column[0]
	if !(k.variance > 0) || math.IsInf(k.variance, 0) {
		return false
	}
	k.rank = -1 / k.variance
	for len(k.states) < series {
		k.states = append(k.states, nil)
	}
	for s := range series {
		k.states[s] = resize(k.states[s], n+r+1)
		clear(k.states[s])
	}
	k.logs = 0
	return true
}

// run filters each of the series, which have the same length, and sets out to their innovations,
// scaled to the variance sigma2. Where keep is not nil, run adds the changes of the covariance
// to it, a matrix of r rows.
func (k *kalman) run(series, out [][]float64, keep []float64) {
	n := len(series[0])
	t, product := 0, 1.0
	for ; t < n; t++ {
		if t&7 == 7 && k.isSteady(t) {
			break
		}
		root := 1 / math.Sqrt(k.variance)
		product *= k.variance
		if product > 1e150 || product < 1e-150 {
			k.logs += math.Log(product)
			product = 1
		}
		if keep != nil {
			k.spread(keep, t)
		}
		if len(series) == 1 {
			out[0][t] = k.stepOfOne(k.states[0], series[0][t], t) * root
			continue
		}
		for s, y := range series[2:] {
			out[s+2][t] = k.observeDense(k.states[s+2], y[t], t) * root
		}
		a, b := k.stepOfTwo(k.states[0], k.states[1], series[0][t], series[1][t], t)
		out[0][t], out[1][t] = a*root, b*root
	}
	k.logs += math.Log(product) + float64(n-t)*math.Log(k.variance)
	if math.Abs(k.variance-1) > 1e-9 {
		root := 1 / math.Sqrt(k.variance)
		for ; t < n; t++ {
			for s, y := range series {
				out[s][t] = k.observeDense(k.states[s], y[t], t) * root
			}
		}
		return
	}
	for s, y := range series {
		k.runSteady(k.states[s], y, out[s], t)
	}
}

// observeDense updates a state by the value y at time t and returns the innovation.
func (k *kalman) observeDense(state []float64, y float64, t int) float64 {
	level := state[t]
	v := y - level
	g := v / k.variance
	r := len(k.gain)
	ahead := state[t+1 : t+1+r]
	phi, gain := k.phi[:r], k.gain[:r]
	for i := range ahead {
		ahead[i] += phi[i]*level + gain[i]*g
	}
	return v
}

// runSteady filters y from time t on with the converged gains, which are phi + theta.
func (k *kalman) runSteady(state, y, out []float64, t int) {
	for ; t < len(y); t++ {
		v := y[t] - state[t]
		out[t] = v
		ahead := state[t+1:]
		for _, i := range k.sparse {
			ahead[i] += k.phi[i]*y[t] + k.theta[i]*v
		}
	}
}

// isSteady reports whether the gains have converged.
func (k *kalman) isSteady(t int) bool {
	limit := 1e-13 * k.variance / math.Abs(k.rank)
	for _, v := range k.slim[t : t+len(k.gain)] {
		if v*v >= limit {
			return false
		}
	}
	return true
}

// move moves the variances from time t to t+1. It returns what the gains need: the element l of
// slim, the factor by of the change of a gain, and l over the next variance.
func (k *kalman) move(t int) (l, by, inverse float64) {
	l = k.slim[t]
	if l == 0 {
		return 0, 0, 0
	}
	old := k.variance
	by = k.rank * l
	k.variance += by * l
	if !(k.variance > 0) {
		k.variance = old
	}
	k.rank += by * by / old
	return l, by, l / k.variance
}

// stepOfOne updates a state by the value y at time t, moves the gains to t+1 and returns the
// innovation.
func (k *kalman) stepOfOne(state []float64, y float64, t int) float64 {
	level := state[t]
	v := y - level
	over := v / k.variance
	l, by, inverse := k.move(t)
	r := len(k.gain)
	phi, gain, rest, ahead := k.phi[:r], k.gain[:r], k.slim[t+1:][:r], state[t+1:][:r]
	for i, f := range phi {
		g := gain[i]
		ahead[i] += f*level + g*over
		moved := rest[i] + f*l
		g += moved * by
		gain[i] = g
		rest[i] = moved - g*inverse
	}
	return v
}

func (k *kalman) stepOfTwo(state, state2 []float64, y, y2 float64, t int) (v, v2 float64) {
	level, level2 := state[t], state2[t]
	v, v2 = y-level, y2-level2
	over, over2 := v/k.variance, v2/k.variance
	l, by, inverse := k.move(t)
	r := len(k.gain)
	phi, gain, rest, ahead, ahead2 := k.phi[:r], k.gain[:r], k.slim[t+1:][:r], state[t+1:][:r], state2[t+1:][:r]
	for i, f := range phi {
		g := gain[i]
		ahead[i] += f*level + g*over
		ahead2[i] += f*level2 + g*over2
		moved := rest[i] + f*l
		g += moved * by
		gain[i] = g
		rest[i] = moved - g*inverse
	}
	return v, v2
}

// spread adds the change of the covariance from t to t+1 to cov.
func (k *kalman) spread(cov []float64, t int) {
	r := len(k.gain)
	l := k.slim[t : t+r]
	for i, a := range l {
		if a == 0 {
			continue
		}
		row := cov[i*r : (i+1)*r]
		for j, b := range l {
			row[j] += k.rank * a * b
		}
	}
}

// covariance returns the stationary covariance of the states, row by row. It follows from
// P = T P T' + R R' and the first column, from the last element backwards.
func (k *kalman) covariance() []float64 {
	r := len(k.phi)
	p := make([]float64, r*r)
	at := func(x []float64, i int) float64 {
		if i < r {
			return x[i]
		}
		return 0
	}
	shock := func(i int) float64 {
		if i == 0 {
			return 1
		}
		return k.theta[i-1]
	}
	for i := r - 1; i >= 0; i-- {
		for j := r - 1; j >= i; j-- {
			v := k.phi[i]*k.phi[j]*k.column[0] + k.phi[i]*at(k.column, j+1) + k.phi[j]*at(k.column, i+1) + shock(i)*shock(j)
			if j+1 < r {
				v += p[(i+1)*r+j+1]
			}
			p[i*r+j], p[j*r+i] = v, v
		}
	}
	return p
}

// unknown is the variance, in units of sigma2, of the values before the series. It stands for an
// unknown value.
const unknown = 1e6

// space is an ARIMA model in state space: Harvey's form of the stationary part, then the last
// values, which undo the differences (Durbin and Koopman 2012, section 3.4). The covariance is
// in units of sigma2.
type space struct {
	r, n       int // number of states: of the stationary part, and in all
	phi, shock []float64
	delta      []float64   // coefficients of the last values; see differences
	lags       []int       // indices of the nonzero elements of delta
	mean       [][]float64 // of the state, for each series
	cov        []float64   // of the state, n rows
	work, z    []float64
}

// newSpace returns the space of a form with its state at zero, for a number of series.
func newSpace(f arimaForm, phi, theta []float64, series int) *space {
	r := f.states()
	s := &space{r: r, delta: f.differences()}
	s.n = r + len(s.delta)
	s.phi, s.shock = make([]float64, r), make([]float64, r)
	copy(s.phi, phi)
	s.shock[0] = 1
	copy(s.shock[1:], theta)
	for j, v := range s.delta {
		if v != 0 {
			s.lags = append(s.lags, j)
		}
	}
	s.mean = make([][]float64, series)
	for i := range s.mean {
		s.mean[i] = make([]float64, s.n)
	}
	s.cov, s.work = make([]float64, s.n*s.n), make([]float64, s.n*s.n)
	s.z = make([]float64, s.n)
	return s
}

// place sets the covariance of the stationary part.
func (s *space) place(p []float64) {
	for i := range s.r {
		copy(s.cov[i*s.n:i*s.n+s.r], p[i*s.r:(i+1)*s.r])
	}
}

// look returns the value of the series now that a state predicts.
func (s *space) look(state []float64) float64 {
	v := state[0]
	for _, j := range s.lags {
		v += s.delta[j] * state[s.r+j]
	}
	return v
}

// sight sets z to the covariances of the states with the value now and returns the variance of
// that value.
func (s *space) sight() float64 {
	for i := range s.n {
		s.z[i] = s.look(s.cov[i*s.n : (i+1)*s.n])
	}
	return s.look(s.z)
}

// step moves every mean and the covariance one step on.
func (s *space) step() {
	for _, m := range s.mean {
		s.move(m)
	}
	n, r := s.n, s.r
	// work = T cov, by rows.
	first := s.cov[:n]
	for i := range r {
		row := s.work[i*n : (i+1)*n]
		if i+1 < r {
			copy(row, s.cov[(i+1)*n:(i+2)*n])
		} else {
			clear(row)
		}
		if f := s.phi[i]; f != 0 {
			for j, v := range first {
				row[j] += f * v
			}
		}
	}
	if n > r {
		row := s.work[r*n : (r+1)*n]
		copy(row, first)
		for _, l := range s.lags {
			for j, v := range s.cov[(r+l)*n : (r+l+1)*n] {
				row[j] += s.delta[l] * v
			}
		}
		copy(s.work[(r+1)*n:], s.cov[r*n:(n-1)*n])
	}
	// cov = work T' + shock shock', by columns.
	for i := range n {
		row := s.work[i*n : (i+1)*n]
		copy(s.cov[i*n:], row)
		s.move(s.cov[i*n : (i+1)*n])
	}
	for i := range r {
		if s.shock[i] == 0 {
			continue
		}
		for j := range r {
			s.cov[i*n+j] += s.shock[i] * s.shock[j]
		}
	}
}

// move multiplies a state by T, the transition of one step, in place.
func (s *space) move(m []float64) {
	level, next := m[0], 0.0
	if s.n > s.r {
		next = s.look(m)
		copy(m[s.r+1:], m[s.r:s.n-1])
		m[s.r] = next
	}
	for i := range s.r - 1 {
		m[i] = m[i+1] + s.phi[i]*level
	}
	m[s.r-1] = s.phi[s.r-1] * level
}
