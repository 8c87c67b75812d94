package forecast

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// wideShrinkage is shrinkage where there are more series than steps: the sums
// over all pairs of series come from the products of the steps,
//
//	sum_ij (x_i'x_j)^2 = sum_st (sum_i x_is x_it)^2
//
// so that pairs of series are never gone through.
func wideShrinkage(e [][]float64) float64 {
	length := len(e[0])
	n := float64(length)
	steps := mat.NewDense(length, len(e), nil)
	squares, own := make([]float64, length), 0.0 // own: what pairs of a series with itself add
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

// Paths reconciles joint futures: paths[i][k] is future k of series i. Each
// future of all series then agrees, so that quantiles of a sum come from sums.
func (r *Reconciler) Paths(paths [][][]float64, floor bool) ([][][]float64, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("reconcile: no paths: %w", model.ErrUnfit)
	}
	out := make([][][]float64, len(paths))
	for i, own := range paths {
		if len(own) != len(paths[0]) {
			return nil, fmt.Errorf("reconcile: series %d has %d paths, want %d as the first: %w", i+1, len(own), len(paths[0]), model.ErrUnfit)
		}
		out[i] = make([][]float64, len(own))
	}
	base := make([][]float64, len(paths))
	for k := range paths[0] {
		for i := range paths {
			base[i] = paths[i][k]
		}
		agreed, err := r.Reconcile(base, floor)
		if err != nil {
			return nil, err
		}
		for i := range agreed {
			out[i][k] = agreed[i]
		}
	}
	return out, nil
}

// correlation is of deviations from nought, as residuals have; 0 where one has none.
func correlation(a, b []float64) float64 {
	s := model.Dot(a, a) * model.Dot(b, b)
	if !(s > 0) {
		return 0
	}
	return model.Dot(a, b) / math.Sqrt(s)
}
