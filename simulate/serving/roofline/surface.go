package roofline

import (
	"math"
)

// Surface gives a time over two sizes. The logarithm of the time is linear in the logarithms of the sizes
// within each field of a coarse grid, and beyond it.
type Surface struct {
	X      []float64   `json:"x"`
	Y      []float64   `json:"y"`
	Micros [][]float64 `json:"us"` // by X, then Y
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
