package arima

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
