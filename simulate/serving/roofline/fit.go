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

// fitTime returns the time of iterations that is nearest to samples in relative error: c0, seq, kv, pa and up to three
// lines, none of them negative.
//
// The maximum of lines is fitted by alternation (Magnani and Boyd, "Convex piecewise-linear fitting",
// Optimization and Engineering 2009): each sample belongs to the line that is the greatest for it, least
// squares with weights 1/time² fit all lines and the shared coefficients together, and samples change
// lines until none does, from several starts. Weights are renewed so that the sum approaches that of
// absolute relative errors (iteratively reweighted least squares).
func fitTime(samples []Sample) serving.Time {
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
	n := newNormal(2*k + 3)
	for i := range f.samples {
		s := &f.samples[i]
		w := weights[i] * cmp.Or(s.Weight, 1) / (s.Micros * s.Micros)
		n.add(w, s.Micros, []term{{2 * line[i], 1}, {2*line[i] + 1, s.T}, {2 * k, s.S}, {2*k + 1, s.KV}, {2*k + 2, s.PA}})
	}
	x := n.nonNegative()
	c := coefficients{seq: x[2*k], kv: x[2*k+1], pa: x[2*k+2]}
	for i := range k {
		c.lines = append(c.lines, [2]float64{x[2*i], x[2*i+1]})
	}
	return c
}

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
