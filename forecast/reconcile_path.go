package forecast

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Couple reorders the drawn futures of each series so that those drawn together
// go together as the residuals do: paths[i][k] is future k of series i, drawn
// for each series alone. A pattern of joint normal ranks is drawn with the
// residuals' shrunk correlation, and each series' futures, sorted by their sum,
// take the places that its ranks say (Iman & Conover 1982, "A distribution-free
// approach to inducing rank correlation"). Each series keeps its futures, and
// with them its own distribution and its correlation over time.
func Couple(paths [][][]float64, residuals [][]float64, rng *rand.Rand) ([][][]float64, error) {
	if len(paths) != len(residuals) || len(paths) == 0 {
		return nil, fmt.Errorf("couple: paths of %d series and residuals of %d, want as many: %w", len(paths), len(residuals), ErrUnfit)
	}
	e, err := commonErrors(residuals)
	if err != nil {
		return nil, fmt.Errorf("couple: %w", err)
	}
	draws := len(paths[0])
	pattern := jointNormals(e, draws, rng)
	out := make([][][]float64, len(paths))
	for i, own := range paths {
		if len(own) != draws {
			return nil, fmt.Errorf("couple: series %d has %d paths, want %d as the first: %w", i+1, len(own), draws, ErrUnfit)
		}
		totals := make([]float64, draws)
		for k, p := range own {
			for _, v := range p {
				totals[k] += v
			}
		}
		from, to := ranked(totals), ranked(pattern[i])
		out[i] = make([][]float64, draws)
		for k := range draws {
			out[i][to[k]] = own[from[k]]
		}
	}
	return out, nil
}

// jointNormals draws for each series, with the correlation of e shrunk. That is a
// share s of nothing in common and a rest of the standardised residuals' own
// products, so a draw is sqrt(s) times one normal for each series and sqrt((1-s)/T)
// times the residuals, each step by a normal of its own: no correlation of all
// series by all is ever held.
func jointNormals(e [][]float64, draws int, rng *rand.Rand) [][]float64 {
	length := len(e[0])
	alone := shrinkage(e)
	own, common := math.Sqrt(alone), math.Sqrt((1-alone)/float64(length))
	scale := make([]float64, len(e))
	for i := range e {
		scale[i] = math.Sqrt(dot(e[i], e[i]) / float64(length))
	}
	out := make([][]float64, len(e))
	for i := range out {
		out[i] = make([]float64, draws)
	}
	z := make([]float64, length)
	for k := range draws {
		for t := range z {
			z[t] = rng.NormFloat64()
		}
		for i := range e {
			one := rng.NormFloat64()
			if scale[i] == 0 {
				out[i][k] = one
				continue
			}
			out[i][k] = own*one + common*dot(e[i], z)/scale[i]
		}
	}
	return out
}

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
		scale := math.Sqrt(dot(e[i], e[i]) / n)
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
	noise := (dot(squares, squares) - fourth - pairs/n) / (n * (n - 1))
	signal := pairs / (n * n)
	if !(signal > 0) {
		return 1
	}
	return math.Max(0, math.Min(1, noise/signal))
}

// ranked are the places of v in rising order, ties by place.
func ranked(v []float64) []int {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Or(cmp.Compare(v[a], v[b]), cmp.Compare(a, b)) })
	return at
}

// Paths reconciles joint futures: paths[i][k] is future k of series i. Each
// future of all series then agrees, so that quantiles of a sum come from sums.
func (r *Reconciler) Paths(paths [][][]float64, floor bool) ([][][]float64, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("reconcile: no paths: %w", ErrUnfit)
	}
	out := make([][][]float64, len(paths))
	for i, own := range paths {
		if len(own) != len(paths[0]) {
			return nil, fmt.Errorf("reconcile: series %d has %d paths, want %d as the first: %w", i+1, len(own), len(paths[0]), ErrUnfit)
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

// commonErrors are the residuals at the steps where all series have one, or where
// that leaves under half of the steps, or under 30, at all steps with nought for a
// missing one, which takes correlations towards nought.
func commonErrors(residuals [][]float64) ([][]float64, error) {
	if e, err := wholeColumns(residuals); err == nil && len(e[0]) >= max(30, len(residuals[0])/2) {
		return e, nil
	}
	return noughtForMissing(residuals)
}

// correlation is of deviations from nought, as residuals have; 0 where one has none.
func correlation(a, b []float64) float64 {
	s := dot(a, a) * dot(b, b)
	if !(s > 0) {
		return 0
	}
	return dot(a, b) / math.Sqrt(s)
}
