package forecast

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// nonNegative puts in x the minimum of x'Ax/2 - b'x with x >= 0, A positive
// definite, by the active set method of Lawson & Hanson (1974) in the form of
// Bro & de Jong (1997, "A fast non-negativity-constrained least squares
// algorithm").
func nonNegative(x []float64, a *mat.SymDense, b []float64) {
	n := len(x)
	free, full := make([]bool, n), make([]float64, n)
	clear(x)
	scale := 0.0
	for _, v := range b {
		scale = math.Max(scale, math.Abs(v))
	}
	for range 3 * n {
		best := steepest(x, a, b, free, 1e-12*scale)
		if best < 0 {
			return
		}
		free[best] = true
		for {
			if !freeSolve(full, a, b, free) {
				free[best] = false
				return
			}
			if moveTowards(x, full, free, scale) {
				break
			}
		}
	}
}

// steepest returns the part held at zero that gains most by growing, or -1 where none
// gains more than least.
func steepest(x []float64, a *mat.SymDense, b []float64, free []bool, least float64) int {
	best := -1
	for j := range x {
		if free[j] {
			continue
		}
		slope := b[j]
		for k, v := range x {
			slope -= a.At(j, k) * v
		}
		if slope > least {
			best, least = j, slope
		}
	}
	return best
}

// moveTowards moves x to full, or until a free part would become negative. It fixes the
// parts that reach zero and reports whether x reached full.
func moveTowards(x, full []float64, free []bool, scale float64) bool {
	step := 1.0
	for j := range x {
		if free[j] && full[j] <= 0 {
			step = math.Min(step, x[j]/math.Max(x[j]-full[j], math.SmallestNonzeroFloat64))
		}
	}
	if step >= 1 {
		copy(x, full)
		return true
	}
	for j := range x {
		if !free[j] {
			continue
		}
		x[j] += step * (full[j] - x[j])
		if x[j] <= 1e-15*scale || full[j] <= 0 && x[j] <= 1e-12*math.Abs(full[j]) {
			x[j], free[j] = 0, false
		}
	}
	return false
}

// freeSolve solves the rows that are free, the others being nought.
func freeSolve(out []float64, a *mat.SymDense, b []float64, free []bool) bool {
	var at []int
	for j, f := range free {
		out[j] = 0
		if f {
			at = append(at, j)
		}
	}
	if len(at) == 0 {
		return true
	}
	sub, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, j := range at {
		right.SetVec(i, b[j])
		for k := i; k < len(at); k++ {
			sub.SetSym(i, k, a.At(j, at[k]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) {
		return false
	}
	if err := chol.SolveVecTo(right, right); err != nil && !isCondition(err) {
		return false
	}
	for i, j := range at {
		out[j] = right.AtVec(i)
	}
	return true
}
