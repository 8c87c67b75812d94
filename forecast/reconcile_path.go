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
	e, err := wholeColumns(residuals)
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

// jointNormals draws for each series, with the correlation of e shrunk.
func jointNormals(e [][]float64, draws int, rng *rand.Rand) [][]float64 {
	n := len(e)
	keep := 1 - shrinkage(e)
	r := mat.NewSymDense(n, nil)
	for i := range n {
		r.SetSym(i, i, 1+1e-9)
		for j := range i {
			r.SetSym(i, j, keep*correlation(e[i], e[j]))
		}
	}
	var chol mat.Cholesky
	var low mat.TriDense
	joint := chol.Factorize(r)
	if joint {
		chol.LTo(&low)
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, draws)
	}
	z := make([]float64, n)
	for k := range draws {
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		for i := range z {
			out[i][k] = z[i]
			if !joint {
				continue
			}
			out[i][k] = 0
			for j := 0; j <= i; j++ {
				out[i][k] += low.At(i, j) * z[j]
			}
		}
	}
	return out
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

// correlation is of deviations from nought, as residuals have; 0 where one has none.
func correlation(a, b []float64) float64 {
	s := dot(a, a) * dot(b, b)
	if !(s > 0) {
		return 0
	}
	return dot(a, b) / math.Sqrt(s)
}
