package roofline

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli/simulate/serving"
)

// Sample is an iteration and its time in microseconds: T tokens of S sequences, KV tokens attended to by
// those that decode, PA pairs of tokens by pieces of prompts.
type Sample struct {
	T, S, KV, PA, Micros float64
	Weight               float64 // of its relative error; 0 is 1
}

// FitTime returns the time of iterations that is nearest to samples in relative error: c0, seq, kv, pa and up to three
// lines, none of them negative.
//
// The maximum of lines is fitted by alternation (Magnani and Boyd, "Convex piecewise-linear fitting",
// Optimization and Engineering 2009): each sample belongs to the line that is the greatest for it, least
// squares with weights 1/time² fit all lines and the shared coefficients together, and samples change
// lines until none does, from several starts. Weights are renewed so that the sum approaches that of
// absolute relative errors (iteratively reweighted least squares).
func FitTime(samples []Sample) serving.Time {
	f := fitting{samples: samples, order: make([]int, len(samples))}
	for i := range f.order {
		f.order[i] = i
	}
	slices.SortStableFunc(f.order, func(a, b int) int { return cmp.Compare(samples[a].T, samples[b].T) })
	best, least := coefficients{}, math.Inf(1)
	for _, cuts := range f.starts() {
		c, loss := f.descend(cuts)
		if loss < least {
			best, least = c, loss
		}
	}
	return best.time()
}

// coefficients are those of serving.Time in microseconds; lines are joined with c0.
type coefficients struct {
	lines       [][2]float64
	seq, kv, pa float64
}

func (c *coefficients) micros(s *Sample) float64 {
	most := math.Inf(-1)
	for _, l := range c.lines {
		most = max(most, l[0]+l[1]*s.T)
	}
	return most + c.seq*s.S + c.kv*s.KV + c.pa*s.PA
}

// time rounds to picoseconds with five significant digits, so that every machine gives the same integers.
func (c *coefficients) time() serving.Time {
	t := serving.Time{Seq: picoseconds(c.seq), KV: picoseconds(c.kv), PA: picoseconds(c.pa)}
	lines := slices.Clone(c.lines)
	slices.SortFunc(lines, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(b[0], a[0])) })
	for _, l := range lines {
		t.Lin = append(t.Lin, [2]int64{picoseconds(l[0]), picoseconds(l[1])})
	}
	return t
}

func picoseconds(micros float64) int64 {
	ps := micros * 1e6
	if ps < 0.5 {
		return 0
	}
	digit := math.Pow(10, max(0, math.Floor(math.Log10(ps))-4))
	return int64(math.Round(ps/digit)) * int64(digit)
}

type fitting struct {
	samples []Sample
	order   []int // samples by T
}

// starts returns the first lines of samples: cuts of the samples by T into one to three groups.
func (f *fitting) starts() [][]int {
	n := len(f.order)
	out := [][]int{make([]int, n)}
	quantiles := []int{n / 5, 2 * n / 5, n / 2, 3 * n / 5, 7 * n / 10, 4 * n / 5, 9 * n / 10}
	for i, a := range quantiles {
		for _, b := range quantiles[i:] {
			line := make([]int, n)
			for rank, s := range f.order {
				switch {
				case rank >= b:
					line[s] = 2
				case rank >= a:
					line[s] = 1
				}
			}
			out = append(out, line)
		}
	}
	return out
}

// descend alternates from a start. It returns the best coefficients that it meets and their loss.
func (f *fitting) descend(line []int) (best coefficients, least float64) {
	least = math.Inf(1)
	weights := make([]float64, len(f.samples))
	for i := range weights {
		weights[i] = 1
	}
	for range 30 {
		c := f.solve(line, weights)
		loss := 0.0
		moved := false
		for i := range f.samples {
			s := &f.samples[i]
			e := math.Abs(c.micros(s)/s.Micros - 1)
			loss += e * cmp.Or(s.Weight, 1)
			weights[i] = 1 / max(e, 0.03)
			if at := c.greatest(s); at != line[i] {
				line[i], moved = at, true
			}
		}
		if loss < least*(1-1e-6) {
			best, least = c, loss
		} else if !moved {
			break
		}
	}
	return best, least
}

// greatest returns the line that is the greatest for s.
func (c *coefficients) greatest(s *Sample) int {
	at, most := 0, math.Inf(-1)
	for i, l := range c.lines {
		if v := l[0] + l[1]*s.T; v > most {
			at, most = i, v
		}
	}
	return at
}

// solve fits all coefficients by least squares where each sample lies on its line.
func (f *fitting) solve(line []int, weights []float64) coefficients {
	k := slices.Max(line) + 1
	cols := 2*k + 3
	a := mat.NewDense(len(f.samples), cols, nil)
	b := make([]float64, len(f.samples))
	for i := range f.samples {
		s := &f.samples[i]
		w := math.Sqrt(weights[i]*cmp.Or(s.Weight, 1)) / s.Micros
		a.Set(i, 2*line[i], w)
		a.Set(i, 2*line[i]+1, w*s.T)
		a.Set(i, 2*k, w*s.S)
		a.Set(i, 2*k+1, w*s.KV)
		a.Set(i, 2*k+2, w*s.PA)
		b[i] = w * s.Micros
	}
	x := nonNegative(a, b)
	c := coefficients{seq: x[2*k], kv: x[2*k+1], pa: x[2*k+2]}
	for i := range k {
		c.lines = append(c.lines, [2]float64{x[2*i], x[2*i+1]})
	}
	return c
}

// nonNegative returns the x, none below 0, with the least sum of squares of a·x - b. It descends one
// coordinate at a time on the normal equations (Franc, Hlaváč and Navara, "Sequential Coordinate-Wise
// Algorithm for the Non-negative Least Squares Problem", CAIP 2005), whose columns it scales first.
func nonNegative(a *mat.Dense, b []float64) []float64 {
	rows, cols := a.Dims()
	scale := make([]float64, cols)
	for j := range cols {
		scale[j] = mat.Norm(a.ColView(j), 2)
		if scale[j] == 0 {
			continue
		}
		for i := range rows {
			a.Set(i, j, a.At(i, j)/scale[j])
		}
	}
	var h mat.Dense
	h.Mul(a.T(), a)
	var g mat.VecDense
	g.MulVec(a.T(), mat.NewVecDense(rows, b))
	return unscale(lawsonHanson(&h, g.RawVector().Data), scale)
}

func unscale(x, scale []float64) []float64 {
	for j := range x {
		if scale[j] > 0 {
			x[j] /= scale[j]
		}
	}
	return x
}

// lawsonHanson minimises x·h·x/2 - g·x over x that are not negative by their method of active sets
// ("Solving Least Squares Problems", 1974, chapter 23).
func lawsonHanson(h *mat.Dense, g []float64) []float64 {
	n := len(g)
	x := make([]float64, n)
	free := make([]bool, n)
	for range 3 * n {
		at, most := -1, 1e-9
		for j := range n {
			grad := g[j]
			for i := range n {
				grad -= h.At(j, i) * x[i]
			}
			if !free[j] && h.At(j, j) > 0 && grad > most {
				at, most = j, grad
			}
		}
		if at < 0 {
			break
		}
		free[at] = true
		for {
			z, ok := solveFree(h, g, free)
			if !ok {
				free[at] = false
				return x
			}
			step, bound := 1.0, -1
			for j := range n {
				if free[j] && z[j] <= 0 {
					if s := x[j] / (x[j] - z[j]); s < step {
						step, bound = s, j
					}
				}
			}
			for j := range n {
				if free[j] {
					x[j] += step * (z[j] - x[j])
				}
			}
			if bound < 0 {
				break
			}
			x[bound], free[bound] = 0, false
		}
	}
	return x
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
