package hierarchy

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// shrinkage returns the share, from 0 to 1, by which to shrink each covariance: the summed
// variance of the correlations over the sum of their squares.
func shrinkage(e [][]float64) float64 {
	if len(e) > len(e[0]) {
		return wideShrinkage(e)
	}
	n := float64(len(e[0]))
	scale := make([]float64, len(e))
	for i := range e {
		scale[i] = math.Sqrt(model.Dot(e[i], e[i]) / n)
	}
	noise, signal := 0.0, 0.0
	for i := range e {
		for j := range i {
			if scale[i] == 0 || scale[j] == 0 {
				continue
			}
			cross, square := 0.0, 0.0
			for t := range e[i] {
				p := e[i][t] / scale[i] * (e[j][t] / scale[j])
				cross += p
				square += p * p
			}
			noise += (square - cross*cross/n) / (n * (n - 1))
			signal += cross / n * (cross / n)
		}
	}
	if !(signal > 0) {
		return 1
	}
	return math.Max(0, math.Min(1, noise/signal))
}

// wideShrinkage is shrinkage for more series than steps. It computes the sums over all pairs of
// series from the products of the steps,
//
//	sum_ij (x_i'x_j)^2 = sum_st (sum_i x_is x_it)^2
//
// and so does not iterate over pairs of series.
func wideShrinkage(e [][]float64) float64 {
	length := len(e[0])
	n := float64(length)
	steps := mat.NewDense(length, len(e), nil)
	squares, own := make([]float64, length), 0.0 // own: the sum over pairs of a series with itself
	fourth := 0.0
	for i := range e {
		scale := math.Sqrt(model.Dot(e[i], e[i]) / n)
		if scale == 0 {
			continue
		}
		for t, v := range e[i] {
			x := v / scale
			steps.Set(t, i, x)
			squares[t] += x * x
			fourth += x * x * x * x
		}
		own += n * n
	}
	var gram mat.SymDense
	gram.SymOuterK(1, steps)
	pairs := 0.0
	for s := range length {
		for t := range length {
			pairs += gram.At(s, t) * gram.At(s, t)
		}
	}
	pairs -= own // sum over i != j of (x_i'x_j)^2
	noise := (model.Dot(squares, squares) - fourth - pairs/n) / (n * (n - 1))
	signal := pairs / (n * n)
	if !(signal > 0) {
		return 1
	}
	return math.Max(0, math.Min(1, noise/signal))
}
