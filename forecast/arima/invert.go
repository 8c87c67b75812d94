package arima

import (
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// invertible replaces the roots of 1 + sum theta(j) z^j inside the unit circle by their
// inverses, in place. The autocorrelations stay the same. It leaves theta as it is where the
// roots cannot be computed.
func invertible(theta []float64) {
	q := len(theta)
	for q > 0 && theta[q-1] == 0 {
		q--
	}
	negative := make([]float64, q)
	for j := range negative {
		negative[j] = -theta[j]
	}
	if q == 0 || stationary(negative, 1) {
		return
	}
	companion := mat.NewDense(q, q, nil)
	for j := range q {
		companion.Set(0, j, -theta[j])
		if j > 0 {
			companion.Set(j, j-1, 1)
		}
	}
	var e mat.Eigen
	if !e.Factorize(companion, mat.EigenNone) {
		return
	}
	// The eigenvalues are the inverses of the roots.
	poly := make([]complex128, q+1)
	poly[0] = 1
	changed := false
	for k, v := range e.Values(nil) {
		if cmplx.Abs(v) > 1+1e-9 {
			v = 1 / v
			changed = true
		}
		for j := k + 1; j > 0; j-- {
			poly[j] -= v * poly[j-1]
		}
	}
	if changed {
		for j := range q {
			theta[j] = real(poly[j+1])
		}
	}
}
