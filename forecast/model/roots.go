package model

import "math"

// StepDown computes the coefficients of the predictor of one order less than from (Levinson's
// recursion backwards) and writes them to to. to may be from without its last element.
func StepDown(from, to []float64) {
	k := len(from) - 1
	a := from[k]
	scale := 1 / (1 - a*a)
	for i, j := 0, k-1; i <= j; i, j = i+1, j-1 {
		lo, hi := from[i], from[j]
		to[i], to[j] = (lo+a*hi)*scale, (hi+a*lo)*scale
	}
}

// IsStationary reports whether all roots of 1 - sum phi(j) z^j lie outside the unit
// circle (Schur and Cohn, by the step-down recursion). It overwrites phi.
func IsStationary(phi []float64) bool {
	for k := len(phi) - 1; k >= 0; k-- {
		if !(math.Abs(phi[k]) < 1) {
			return false
		}
		StepDown(phi[:k+1], phi[:k])
	}
	return true
}
