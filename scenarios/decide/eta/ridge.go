package eta

import "math"

// ridge is a linear regression with a penalty of 1 on the squares of its coefficients, of
// standardised features; the constant is free (Hoerl and Kennard, "Ridge Regression", Technometrics
// 12, 1970).
type ridge struct {
	mean, scale, coefficient []float64
	constant                 float64
}

func fitRidge(x [][]float32, y []float32) *ridge {
	n, m := float64(len(x)), len(x[0])
	r := &ridge{mean: make([]float64, m), scale: make([]float64, m), coefficient: make([]float64, m)}
	for i := range x {
		r.constant += float64(y[i]) / n
		for k, v := range x[i] {
			r.mean[k] += float64(v) / n
		}
	}
	for i := range x {
		for k, v := range x[i] {
			r.scale[k] += (float64(v) - r.mean[k]) * (float64(v) - r.mean[k]) / n
		}
	}
	for k, v := range r.scale {
		if r.scale[k] = math.Sqrt(v); v < 1e-12 {
			r.scale[k] = 1 // the same everywhere: it has no effect
		}
	}
	// The normal equations, the right side as the last column.
	a := make([][]float64, m)
	for k := range a {
		a[k] = make([]float64, m+1)
		a[k][k] = 1
	}
	z := make([]float64, m)
	for i := range x {
		for k, v := range x[i] {
			z[k] = (float64(v) - r.mean[k]) / r.scale[k]
		}
		for k := range a {
			for j := range m {
				a[k][j] += z[k] * z[j]
			}
			a[k][m] += z[k] * (float64(y[i]) - r.constant)
		}
	}
	solve(a, r.coefficient)
	return r
}

// solve solves a system whose matrix is positive definite, with the right side as the last column,
// by Gauss's elimination. It changes a.
func solve(a [][]float64, out []float64) {
	m := len(a)
	for k := range m {
		for i := k + 1; i < m; i++ {
			f := a[i][k] / a[k][k]
			for j := k; j <= m; j++ {
				a[i][j] -= f * a[k][j]
			}
		}
	}
	for k := m - 1; k >= 0; k-- {
		sum := a[k][m]
		for j := k + 1; j < m; j++ {
			sum -= a[k][j] * out[j]
		}
		out[k] = sum / a[k][k]
	}
}

// predict returns the value of row x; 0 of a nil ridge.
func (r *ridge) predict(x []float32) float32 {
	if r == nil {
		return 0
	}
	sum := r.constant
	for k, v := range x {
		sum += r.coefficient[k] * (float64(v) - r.mean[k]) / r.scale[k]
	}
	return float32(sum)
}
