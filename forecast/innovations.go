package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Innovations draw the one-step errors of several series together, so that their
// paths go together at each step and, through each model's own dynamics, over
// time. The errors at one step are jointly normal with the correlation of the
// models' one-step residuals (a Gaussian copula, since each model scales its own);
// steps are independent, as a model's errors are. The correlation is that of the
// sample and is not shrunk: the spread of any sum of series is then the one that
// the residuals of the sum had, and a sum beside its parts agrees with them.
//
// Innovations are not changed by their use.
type Innovations struct {
	load [][]float64 // by series: its loadings on the common factors
	own  []float64   // by series: the standard deviation of what it has alone
	skip []int       // by series: the steps that another series begins before it
}

// maxFactors is how many common factors are drawn at each step. With more series
// than that, the smallest factors become each series' own.
const maxFactors = 32

// mostPairs is the number of series up to which each pair's correlation is taken
// from the steps that both have.
const mostPairs = 512

// NewInnovations takes the residuals of each series, all of one length at the same
// times, NaN where one is not known. begin[i] is the time of the first step of the
// paths of series i, in steps of any origin; nil is one time for all.
func NewInnovations(residuals [][]float64, begin []int) (*Innovations, error) {
	n := len(residuals)
	if n == 0 || begin != nil && len(begin) != n {
		return nil, fmt.Errorf("innovations: residuals of %d series and %d times, want one time for each: %w", n, len(begin), model.ErrUnfit)
	}
	for i, e := range residuals {
		if len(e) != len(residuals[0]) || len(e) < 2 {
			return nil, fmt.Errorf("innovations: series %d has %d residuals, want 2 or more and %d as the first: %w", i+1, len(e), len(residuals[0]), model.ErrTooShort)
		}
	}
	in := &Innovations{load: make([][]float64, n), own: make([]float64, n), skip: make([]int, n)}
	first := math.MaxInt
	for _, at := range begin {
		first = min(first, at)
	}
	for i, at := range begin {
		in.skip[i] = at - first
	}
	x := standardised(residuals)
	if n > mostPairs {
		return in, in.fromSteps(x)
	}
	return in, in.fromPairs(x)
}

// standardised divides residuals by their root mean square; those of a series that
// has none are all missing.
func standardised(residuals [][]float64) [][]float64 {
	out := make([][]float64, len(residuals))
	for i, e := range residuals {
		scale := model.RMS(model.Observed(e))
		out[i] = model.NaNs(len(e))
		for t, v := range e {
			if model.IsFinite(v) && scale > 0 {
				out[i][t] = v / scale
			}
		}
	}
	return out
}

// fewCommon is the least number of common steps that tell a correlation.
const fewCommon = 3

// fromPairs takes the correlation of each pair from the steps that both have, and
// what of that matrix is no correlation matrix away: its negative eigenvalues
// (Rebonato & Jaeckel 1999, "The most general methodology to create a valid
// correlation matrix").
func (in *Innovations) fromPairs(x [][]float64) error {
	n := len(x)
	r := mat.NewSymDense(n, nil)
	for i := range n {
		r.SetSym(i, i, 1)
		for j := range i {
			r.SetSym(i, j, pairCorrelation(x[i], x[j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(r, true) {
		return fmt.Errorf("innovations: the residuals' correlation has no eigenvalues: %w", model.ErrUnfit)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for i := range n {
		for k := n - 1; k >= max(0, n-maxFactors); k-- {
			in.load[i] = append(in.load[i], math.Sqrt(math.Max(0, values[k]))*vectors.At(i, k))
		}
	}
	in.settle()
	return nil
}

// pairCorrelation is the correlation of two series of deviations from zero over the
// steps that both have.
func pairCorrelation(a, b []float64) float64 {
	var u, v []float64
	for t := range a {
		if model.IsFinite(a[t]) && model.IsFinite(b[t]) {
			u, v = append(u, a[t]), append(v, b[t])
		}
	}
	if len(u) < fewCommon {
		return 0
	}
	return correlation(u, v)
}

// fromSteps takes the factors from the products of the steps, X'X, which has the
// eigenvalues of XX' where there are more series than steps, and no matrix of all
// series by all is held. A missing residual counts as zero.
func (in *Innovations) fromSteps(x [][]float64) error {
	length := len(x[0])
	all := mat.NewDense(length, len(x), nil)
	for i, e := range x {
		for t, v := range e {
			if model.IsFinite(v) {
				all.Set(t, i, v/math.Sqrt(float64(length)))
			}
		}
	}
	var gram mat.SymDense
	gram.SymOuterK(1, all)
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return fmt.Errorf("innovations: the residuals' products have no eigenvalues: %w", model.ErrUnfit)
	}
	var vectors, load mat.Dense
	eigen.VectorsTo(&vectors)
	k := min(length, maxFactors)
	load.Mul(all.T(), vectors.Slice(0, length, length-k, length))
	for i := range x {
		in.load[i] = append([]float64(nil), load.RawRowView(i)...)
	}
	in.settle()
	return nil
}

// settle gives each series the variance that its factors lack, or takes away what
// they have too much of: every innovation is standard normal.
func (in *Innovations) settle() {
	for i, l := range in.load {
		square := model.Dot(l, l)
		if square > 1 {
			for k := range l {
				l[k] /= math.Sqrt(square)
			}
			square = 1
		}
		in.own[i] = math.Sqrt(math.Max(0, 1-square))
		if in.own[i] < 1e-6 {
			in.own[i] = 0
		}
	}
}

// Noise is the chance of one future of series i. common must be the same stream,
// from its start, for that future of every series; own is the series' own.
func (in *Innovations) Noise(i int, common, own *rand.Rand) model.Noise {
	n := &jointNoise{Rand: own, common: common, load: in.load[i], own: in.own[i], skip: in.skip[i]}
	for k := range n.times {
		n.times[k] = common.ExpFloat64()
	}
	return n
}

// jointNoise has innovations that go together with those of other series, and
// everything else of its own.
type jointNoise struct {
	*rand.Rand
	common *rand.Rand
	load   []float64
	own    float64
	skip   int
	drawn  []float64 // innovations so far
	times  [mostMembers]float64
}

// mostMembers is how many members of a combination have an exponential time of
// their own.
const mostMembers = 16

// Innovation returns the standardised one-step error of a step ahead. The factors are drawn for all steps in
// their order, so that each stands at one place of the common stream.
func (n *jointNoise) Innovation(step int) float64 {
	for ; n.skip > 0; n.skip-- {
		for range n.load {
			n.common.NormFloat64()
		}
	}
	for len(n.drawn) <= step {
		v := 0.0
		for _, l := range n.load {
			v += l * n.common.NormFloat64()
		}
		if n.own > 0 {
			v += n.own * n.NormFloat64()
		}
		n.drawn = append(n.drawn, v)
	}
	return n.drawn[step]
}

// draw draws the member that a path follows, with the weights' chances. Of series
// that go together it is mostly the same one, where their weights are alike: the
// member whose common exponential time over its weight comes first.
func (c *combined) draw(rng model.Noise) int {
	n, ok := rng.(*jointNoise)
	if !ok {
		return pick(c.weights, rng.Float64())
	}
	best, least := 0, math.Inf(1)
	for i, w := range c.weights {
		slot := i
		if c.slots != nil {
			slot = c.slots[i]
		}
		if at := n.times[slot%len(n.times)] / w; w > 0 && at < least {
			best, least = i, at
		}
	}
	return best
}

// pick is the index that u of the whole weight falls on, 0 <= u < 1.
func pick(weights []float64, u float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	u *= total
	for i, w := range weights {
		if u < w {
			return i
		}
		u -= w
	}
	return len(weights) - 1
}

// correlation is of deviations from nought, as residuals have; 0 where one has none.
func correlation(a, b []float64) float64 {
	s := model.Dot(a, a) * model.Dot(b, b)
	if !(s > 0) {
		return 0
	}
	return model.Dot(a, b) / math.Sqrt(s)
}
