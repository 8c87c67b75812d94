package roofline

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// Surface gives a time over two sizes. The logarithm of the time is linear in the logarithms of the sizes
// within each field of a coarse grid, and beyond it.
type Surface struct {
	X      []float64   `json:"x"`
	Y      []float64   `json:"y"`
	Micros [][]float64 `json:"us"` // by X, then Y
}

// observation is a measured time of two sizes.
type observation struct{ x, y, micros float64 }

// stiffness is the weight of a second difference of the grid beside that of an observation. It decides only
// where observations do not.
const stiffness = 1e-3

// fitSurface returns the surface over a grid that is nearest to the observations, by least squares of the
// logarithm of the time.
func fitSurface(xs, ys []float64, seen []observation) Surface {
	nx, ny := len(xs), len(ys)
	h := mat.NewSymDense(nx*ny, nil)
	g := mat.NewVecDense(nx*ny, nil)
	for _, o := range seen {
		i, u := locate(xs, o.x)
		j, v := locate(ys, o.y)
		add(h, g, []int{i*ny + j, i*ny + j + 1, (i+1)*ny + j, (i+1)*ny + j + 1}, []float64{(1 - u) * (1 - v), (1 - u) * v, u * (1 - v), u * v}, math.Log(o.micros), 1)
	}
	bend := []float64{1, -2, 1}
	for i := range nx {
		for j := range ny {
			if i+2 < nx {
				add(h, g, []int{i*ny + j, (i+1)*ny + j, (i+2)*ny + j}, bend, 0, stiffness)
			}
			if j+2 < ny {
				add(h, g, []int{i*ny + j, i*ny + j + 1, i*ny + j + 2}, bend, 0, stiffness)
			}
		}
	}
	var chol mat.Cholesky
	var v mat.VecDense
	if !chol.Factorize(h) || chol.SolveVecTo(&v, g) != nil {
		return Surface{}
	}
	s := Surface{X: xs, Y: ys, Micros: make([][]float64, nx)}
	for i := range nx {
		for j := range ny {
			s.Micros[i] = append(s.Micros[i], significant(math.Exp(v.AtVec(i*ny+j))))
		}
	}
	return s
}

// add adds weight · (shares·v[at] - want)² to normal equations.
func add(h *mat.SymDense, g *mat.VecDense, at []int, shares []float64, want, weight float64) {
	for a, i := range at {
		g.SetVec(i, g.AtVec(i)+weight*shares[a]*want)
		for b, j := range at {
			if i <= j {
				h.SetSym(i, j, h.At(i, j)+weight*shares[a]*shares[b])
			}
		}
	}
}

// significant rounds to three digits.
func significant(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return short
}

// locate returns the field of a grid in which x lies, or the nearest, and how far along it, in logarithms.
func locate(xs []float64, x float64) (field int, along float64) {
	i := 0
	for i+2 < len(xs) && x >= xs[i+1] {
		i++
	}
	return i, math.Log(x/xs[i]) / math.Log(xs[i+1]/xs[i])
}

// At is the time at two sizes, in microseconds.
func (s *Surface) At(x, y float64) float64 {
	i, u := locate(s.X, x)
	j, v := locate(s.Y, y)
	low := (1-v)*math.Log(s.Micros[i][j]) + v*math.Log(s.Micros[i][j+1])
	high := (1-v)*math.Log(s.Micros[i+1][j]) + v*math.Log(s.Micros[i+1][j+1])
	return math.Exp((1-u)*low + u*high)
}
