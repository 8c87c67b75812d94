package roofline

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// normal holds the normal equations of a least-squares problem: h = Σ w·a·aᵀ and g = Σ w·a·y over its rows.
type normal struct {
	h *mat.Dense
	g []float64
}

// term is a column of a row that is not 0.
type term struct {
	column int
	value  float64
}

func newNormal(columns int) *normal {
	return &normal{mat.NewDense(columns, columns, nil), make([]float64, columns)}
}

// add adds a row of the problem: weight · (terms·x - want)².
func (n *normal) add(weight, want float64, terms []term) {
	for _, a := range terms {
		n.g[a.column] += weight * a.value * want
		for _, b := range terms {
			n.h.Set(a.column, b.column, n.h.At(a.column, b.column)+weight*a.value*b.value)
		}
	}
}

// nonNegative returns the solution of which no part is below 0. Columns are scaled to length 1 first, so that
// their units do not matter.
func (n *normal) nonNegative() []float64 {
	columns := len(n.g)
	scale := make([]float64, columns)
	for j := range scale {
		if scale[j] = math.Sqrt(n.h.At(j, j)); scale[j] == 0 {
			scale[j] = 1
		}
	}
	for i := range columns {
		n.g[i] /= scale[i]
		for j := range columns {
			n.h.Set(i, j, n.h.At(i, j)/(scale[i]*scale[j]))
		}
	}
	x := lawsonHanson(n.h, n.g)
	for j := range x {
		x[j] /= scale[j]
	}
	return x
}

// lawsonHanson minimises x·h·x/2 - g·x over x that are not negative by their method of active sets
// ("Solving Least Squares Problems", 1974, chapter 23).
func lawsonHanson(h *mat.Dense, g []float64) []float64 {
	x := make([]float64, len(g))
	free := make([]bool, len(g))
	for range 3 * len(g) {
		at := steepest(h, g, x, free)
		if at < 0 {
			break
		}
		free[at] = true
		for blocked := true; blocked; {
			z, ok := solveFree(h, g, free)
			if !ok {
				return x
			}
			blocked = approach(x, z, free)
		}
	}
	return x
}

// steepest returns the coordinate at 0 along which the sum falls fastest; -1 if it falls along none.
func steepest(h *mat.Dense, g, x []float64, free []bool) int {
	at, most := -1, 1e-9
	for j := range g {
		gradient := g[j]
		for i := range g {
			gradient -= h.At(j, i) * x[i]
		}
		if !free[j] && h.At(j, j) > 0 && gradient > most {
			at, most = j, gradient
		}
	}
	return at
}

// approach moves the free coordinates of x towards z, as far as none falls below 0. It reports whether one
// stopped it; that one is then at 0 and no longer free.
func approach(x, z []float64, free []bool) bool {
	step, bound := 1.0, -1
	for j := range x {
		if free[j] && z[j] <= 0 {
			if s := x[j] / (x[j] - z[j]); s < step {
				step, bound = s, j
			}
		}
	}
	for j := range x {
		if free[j] {
			x[j] += step * (z[j] - x[j])
		}
	}
	if bound >= 0 {
		x[bound], free[bound] = 0, false
	}
	return bound >= 0
}

// solveFree solves the normal equations of the free coordinates.
func solveFree(h *mat.Dense, g []float64, free []bool) ([]float64, bool) {
	var at []int
	for j, f := range free {
		if f {
			at = append(at, j)
		}
	}
	sub := mat.NewSymDense(len(at), nil)
	rhs := mat.NewVecDense(len(at), nil)
	for i, p := range at {
		rhs.SetVec(i, g[p])
		for j := i; j < len(at); j++ {
			sub.SetSym(i, j, h.At(p, at[j]))
		}
		sub.SetSym(i, i, h.At(p, p)*(1+1e-10))
	}
	var chol mat.Cholesky
	if !chol.Factorize(sub) {
		return nil, false
	}
	var v mat.VecDense
	if err := chol.SolveVecTo(&v, rhs); err != nil {
		return nil, false
	}
	out := make([]float64, len(free))
	for i, p := range at {
		out[p] = v.AtVec(i)
	}
	return out, true
}
