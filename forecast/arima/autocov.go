package arima

import (
	"math"

	"capcli/forecast/model"
)

// autocov computes the autocovariances of ARMA processes. It reuses its buffers.
type autocov struct {
	rows  []float64 // predictors of all orders, as a triangle
	pure  []float64 // autocovariances of the autoregression alone
	cross []float64 // autocovariances of the moving average alone
	gamma []float64 // autocovariances of the process
	psi   []float64 // weights of past innovations
}

// find sets gamma[0..r], for innovations of variance one, and psi[0..r), the weights of past
// innovations. It returns false when phi is not stationary. The autocovariances of the
// autoregression come from Levinson's recursion, run down to order 0 and up again, so the cost
// is quadratic in the order.
func (a *autocov) find(phi, theta []float64, r int) bool {
	p, q := trimmedLength(phi), trimmedLength(theta)
	a.rows = resize(a.rows, p*(p+1)/2)
	a.pure = resize(a.pure, r+q+1)
	a.cross = resize(a.cross, q+1)
	a.gamma = resize(a.gamma, r+1)
	a.psi = resize(a.psi, r)
	if !a.autoregression(phi[:p], r+q) {
		return false
	}
	weight := func(j int) float64 {
		if j == 0 {
			return 1
		}
		return theta[j-1]
	}
	for h := range a.cross {
		a.cross[h] = 0
	}
	for i := 0; i <= q; i++ {
		w := weight(i)
		if w == 0 {
			continue
		}
		for h := 0; i+h <= q; h++ {
			a.cross[h] += w * weight(i+h)
		}
	}
	for k := range a.gamma {
		sum := a.cross[0] * a.pure[k]
		for h := 1; h <= q; h++ {
			if c := a.cross[h]; c != 0 {
				sum += c * (a.pure[k+h] + a.pure[max(k-h, h-k)])
			}
		}
		a.gamma[k] = sum
	}
	for j := range a.psi {
		v := 0.0
		if j <= q {
			v = weight(j)
		}
		for i := 0; i < min(p, j); i++ {
			v += phi[i] * a.psi[j-1-i]
		}
		a.psi[j] = v
	}
	return !math.IsInf(a.gamma[0], 0) && !math.IsNaN(a.gamma[0])
}

// autoregression sets pure[0..top]. It returns false when phi is not stationary.
func (a *autocov) autoregression(phi []float64, top int) bool {
	p := len(phi)
	row := func(k int) []float64 { return a.rows[k*(k-1)/2 : k*(k+1)/2] }
	variance := 1.0
	if p > 0 {
		copy(row(p), phi)
	}
	for k := p; k >= 1; k-- {
		from := row(k)
		last := from[k-1]
		if !(math.Abs(last) < 1) {
			return false
		}
		variance /= 1 - last*last
		if k > 1 {
			model.StepDown(from, row(k-1))
		}
	}
	a.pure[0] = variance
	for k := 1; k <= top; k++ {
		use := phi
		if k < p {
			use = row(k)
		}
		sum := 0.0
		for j, v := range use {
			sum += v * a.pure[k-1-j]
		}
		a.pure[k] = sum
	}
	return true
}

// firstColumn sets col to the covariances of all states with the first one, in Harvey's form:
// state i is the part of the value i steps ahead that is known now.
func (a *autocov) firstColumn(phi, theta, col []float64) {
	r := len(col)
	clear(col)
	for j := range phi {
		if v := phi[j]; v != 0 {
			for i := 0; i <= j && i < r; i++ {
				col[i] += v * a.gamma[j-i+1]
			}
		}
	}
	for j := 0; j < r; j++ {
		v := 1.0
		if j > 0 {
			v = 0
			if j <= len(theta) {
				v = theta[j-1]
			}
		}
		if v != 0 {
			for i := 0; i <= j; i++ {
				col[i] += v * a.psi[j-i]
			}
		}
	}
}

// trimmedLength returns the length of x without the zeros at its end.
func trimmedLength(x []float64) int {
	n := len(x)
	for n > 0 && x[n-1] == 0 {
		n--
	}
	return n
}

// resize returns a slice of length n, x itself where its capacity allows. The content is
// arbitrary.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
