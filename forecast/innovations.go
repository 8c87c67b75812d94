package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Innovations draw the one-step errors of several series jointly, so that their paths are
// correlated at each step and, through each model's own dynamics, over time. The errors at one
// step are jointly normal with the correlation of the models' one-step residuals (a Gaussian
// copula, since each model scales its own). Steps are independent, as a model's errors are. The
// correlation is that of the sample and is not shrunk: then any sum of series has the spread
// that the sum of the residuals had, and a sum agrees with its parts.
//
// Innovations are immutable.
type Innovations struct {
	load [][]float64 // by series: its loadings on the common factors
	own  []float64   // by series: the standard deviation of its own part
	skip []int       // by series: how many steps later its paths begin than the earliest ones
}

// maxFactors is the largest number of common factors. Where the residuals have more, the
// variance of the smallest becomes each series' own part.
const maxFactors = 32

// mostPairs is the number of series up to which the correlation of each pair is computed from
// the steps at which both are known.
const mostPairs = 512

// NewInnovations estimates the correlation from the residuals of each series, all of one length
// and at the same times, NaN where one is not known. begin[i] is the time of the first step of
// the paths of series i, in steps from any common origin; nil is the same time for all. It fails
// where lengths do not match or there are fewer than two residuals.
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

// standardised returns the residuals over their root mean square; all NaN for a series whose
// root mean square is zero.
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

// fewCommon is the least number of common steps from which a correlation is estimated.
const fewCommon = 3

// fromPairs computes the correlation of each pair from the steps at which both are known, and
// the factors from the eigenvectors. It drops negative eigenvalues, which a correlation matrix
// cannot have (Rebonato & Jaeckel 1999, "The most general methodology to create a valid
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

// pairCorrelation returns the correlation of two series of deviations from zero over the steps
// at which both are known; 0 where these are fewer than fewCommon.
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

// fromSteps computes the factors from the products of the steps, X'X, which has the same
// non-zero eigenvalues as XX' and is smaller where there are more series than steps. No matrix
// of all series by all series is held. A missing residual counts as zero.
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

// settle makes every innovation standard normal: it sets each series' own part to the variance
// that its factors lack, and scales down factors whose variance is above 1.
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

// Noise returns the noise of one future of series i. For one future of all series, common must
// be the same stream from its start; own is the series' own stream.
func (in *Innovations) Noise(i int, common, own *rand.Rand) model.Noise {
	n := &jointNoise{Rand: own, common: common, load: in.load[i], own: in.own[i], skip: in.skip[i]}
	for k := range n.times {
		n.times[k] = common.ExpFloat64()
	}
	return n
}

// jointNoise draws innovations that are correlated with those of other series, and all else from
// its own stream.
type jointNoise struct {
	*rand.Rand
	common *rand.Rand
	load   []float64            // loadings on the common factors
	own    float64              // standard deviation of its own part
	skip   int                  // steps of the common stream to skip first
	drawn  []float64            // the innovations drawn so far
	times  [mostMembers]float64 // common exponential times, by slot of a combination's member: see draw
}

// mostMembers is the number of members of a combination that have an exponential time of their
// own.
const mostMembers = 16

// Innovation returns the standardised one-step error of a step ahead. It draws the factors for
// all steps in order, so that each has a fixed place in the common stream.
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

// draw returns the index of the member that a path follows, with probabilities proportional to
// the weights. It chooses the member with the least common exponential time over weight: series
// with similar weights that are drawn jointly then mostly follow the same member.
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

// pick returns the index at which the cumulative weight reaches the share u of the total weight,
// 0 <= u < 1.
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

// correlation returns the correlation of two lists of deviations from zero, such as residuals; 0
// where one of them is zero throughout.
func correlation(a, b []float64) float64 {
	s := model.Dot(a, a) * model.Dot(b, b)
	if !(s > 0) {
		return 0
	}
	return model.Dot(a, b) / math.Sqrt(s)
}
