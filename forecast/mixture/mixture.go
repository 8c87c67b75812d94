// Package mixture forecasts use for decisions about commitments. What a commitment costs hangs on
// how many hours of its term want at least so many GPUs, and so on the level of use to come, on the
// shape of a week around it, and on how far levels move. The model is a mixture of futures, each
// with a level that lasts.
package mixture

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"capcli"
	"capcli/forecast/model"
)

// Model is a mixture of exponential smoothings of the weekly level, with half-lives from a day to
// half a year, each with and without part of the trend. Every member forecasts the hours of the
// next week: its level times the shape of recent weeks, which are hours over the mean of their
// week, as far back as the level looks. Its loss is the regret of the newsvendor, the pinball loss of nine quantiles above that of
// the week's own, summed over the past. With n weeks and losses L_j, member j has the weight
//
//	w_j = p_j L_j^(-2n) / sum of p_i L_i^(-2n),
//
// the posterior of errors with a Laplace density of unknown scale, counted twice; p_j falls by half
// and more from one half-life to the next longer one. The cost of a commitment is convex in its
// size, so the cost of a mean of levels is at most the mean of their costs.
//
// A future takes one member. Its level moves as exponential smoothing does (Hyndman, Koehler, Ord
// & Snyder 2008, ETS(A,N,N) of the logarithm):
//
//	week k: x_k = l_(k-1) + e_k - v/2,  l_k = l_(k-1) + d^k a e_k - (d^k a)^2 v/2 + c^k g,  a = 1 - 2^(-1/half-life),
//
// with errors e of variance v, drawn from the member's own past, of either sign. Without the terms in v the mean of a
// wandering logarithm would grow without end; with them the mean of the level stays, but for the drift g. It is drawn once for a
// future: what goes on of the growth of the last year, and, as far as the history has months, an exponential of
// either sign. The factor d is such that all moves together have no more variance than the levels of the past, and c
// lets drift go on for years, ever less. The hours of
// a week are x_k times the shape of a recent week.
//
// The history ends with the last whole week. Where two weeks are not known the model works with
// days, where two days are not with the longest season that is known twice, and else with single
// steps.
type Model struct {
	Seasons []int       // lengths of the seasons in steps, for series of neither two weeks nor two days
	Seed    capcli.Seed // of the futures behind Forecast
}

var _ model.Model = Model{}

// The law was tuned through regret, on other series and dates than those that hold it in tests.
const (
	priorRatio  = 0.45 // prior weight of a half-life over that of the next shorter one
	lossPower   = 2.0  // how often a week counts
	lossFloor   = 0.05 // share of the least possible loss that is added to the regret
	shapeShort  = 0.35 // shortest and longest half-life of a member's shape, in weeks: else that of its level
	shapeLong   = 3.0
	shapeBlocks = 8   // most blocks that give the shape
	trendShare  = 0.7 // share of the trend in the members that have one
	trendPrior  = 0.5 // prior weight of a member with trend over that without
	errorMemory = 104 // most errors of a member that are kept
	mostBlocks  = 260 // most blocks that are looked at
)

// halfLives are the half-lives of the members' levels, in weeks.
var halfLives = []float64{0.12, 0.35, 0.7, 1.5, 3, 6, 12, 24}

// quantiles are the quantiles whose loss counts.
var quantiles = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Fit fits the mixture. It needs one value, none missing and none negative.
func (m Model) Fit(y capcli.Series) (model.Fitted, error) {
	if err := model.CheckPresent(y.Values); err != nil {
		return nil, fmt.Errorf("mixture: %w", err)
	}
	if len(y.Values) == 0 {
		return nil, fmt.Errorf("mixture: no values: %w", model.ErrTooShort)
	}
	if i := slices.IndexFunc(y.Values, func(v float64) bool { return v < 0 }); i >= 0 {
		return nil, fmt.Errorf("mixture: value %d is below zero: %w", i+1, model.ErrUnfit)
	}
	f := &fitted{seed: m.Seed, scale: model.Largest(y.Values)}
	if f.scale == 0 {
		f.scale = 1
	}
	f.length, f.weeks = m.blockOf(y.Step, len(y.Values))
	f.cut(y.Values)
	f.learn()
	f.describe(y.Values)
	return f, nil
}

// blockOf returns the number of steps in a block, and the weeks that a block counts for.
func (m Model) blockOf(step capcli.Seconds, n int) (length int, weeks float64) {
	for _, whole := range []capcli.Seconds{7 * capcli.Day, capcli.Day} {
		if step > 0 && step <= whole && whole%step == 0 && n >= 2*int(whole/step) {
			return int(whole / step), float64(whole) / float64(7*capcli.Day)
		}
	}
	for _, s := range slices.Backward(slices.Sorted(slices.Values(m.Seasons))) {
		if s > 1 && n >= 2*s {
			return s, 1
		}
	}
	return 1, 1
}

// block is one week, or day, of the history.
type block struct {
	values []float64 // in order of time, over the scale
	sorted []float64
	sums   []float64 // sums[i] is the sum of the first i sorted values
	mean   float64
}

func newBlock(values []float64) block {
	b := block{values: values, sorted: slices.Clone(values), sums: make([]float64, len(values)+1)}
	slices.Sort(b.sorted)
	for i, v := range b.sorted {
		b.sums[i+1] = b.sums[i] + v
	}
	b.mean = b.sums[len(values)] / float64(len(values))
	return b
}

// pinball returns the mean pinball loss of k as the quantile q of the block.
func (b *block) pinball(k, q float64) float64 {
	n := len(b.sorted)
	i := sort.SearchFloat64s(b.sorted, k)
	below, above := k*float64(i)-b.sums[i], b.sums[n]-b.sums[i]-k*float64(n-i)
	return ((1-q)*below + q*above) / float64(n)
}

// member is one exponential smoothing of the level.
type member struct {
	half   float64 // half-life in blocks
	trend  float64 // share of the trend
	weight float64
	loss   float64
	shape  shape

	sum, mass, age float64   // of the smoothing: weighted sum, weights, and weights times age in blocks
	errors         []float64 // last one-block errors of the logarithm; sorted sizes after learn
	variance       float64   // of the errors that futures draw
	damp           float64   // of moves of the level, per block ahead
}

// shapeLife returns the half-life of the member's shape, in weeks.
func (m *member) shapeLife(weeks float64) float64 {
	return max(shapeShort, min(shapeLong, m.half*weeks))
}

func (m *member) add(mean float64) {
	d := math.Exp2(-1 / m.half)
	m.age = (m.age + m.mass) * d
	m.sum, m.mass = m.sum*d+mean, m.mass*d+1
}

// level returns the level that the member expects lead blocks ahead, where growth is the growth of
// its logarithm per block.
func (m *member) level(growth, lead, weeks float64) float64 {
	v := m.sum / m.mass
	if m.trend == 0 || growth == 0 {
		return v
	}
	most := trendReach / weeks
	return v * math.Exp(m.trend*growth*(math.Min(lead, most)+math.Min(m.age/m.mass, most)))
}

// cut divides the values into blocks, back from the end.
func (f *fitted) cut(y []float64) {
	n := min(len(y)/f.length, mostBlocks)
	values := model.Scaled(y[len(y)-n*f.length:], 1/f.scale)
	for i := range n {
		f.blocks = append(f.blocks, newBlock(values[i*f.length:(i+1)*f.length]))
		f.top = max(f.top, f.blocks[i].mean)
	}
}

// learn runs the members over the history and weighs them.
func (f *fitted) learn() {
	prior := 1.0
	for _, h := range halfLives {
		f.members = append(f.members, member{half: h / f.weeks, weight: prior})
		if f.weeks == 1 && f.length > 1 {
			f.members = append(f.members, member{half: h / f.weeks, weight: prior * trendPrior, trend: trendShare})
		}
		prior *= priorRatio
	}
	f.levels = make([]float64, len(f.blocks)*len(f.members))
	for i := range f.blocks {
		for j := range f.members {
			f.members[j].add(f.blocks[i].mean)
			f.levels[i*len(f.members)+j] = f.members[j].sum / f.members[j].mass
		}
		f.growth = f.slope(i + 1)
		if i+1 < len(f.blocks) {
			f.score(i)
		}
	}
	f.weigh()
	f.settleDrift()
	for j := range f.members {
		f.members[j].settleErrors(f.weeks)
		f.members[j].shape = f.shapeAt(len(f.blocks)-1, f.members[j].shapeLife(f.weeks))
	}
	f.settleRange()
}

// score adds the losses of the members on the block after i.
func (f *fitted) score(i int) {
	next := &f.blocks[i+1]
	var qs []float64
	life := 0.0
	own := 0.0
	for _, q := range quantiles {
		own += next.pinball(next.sorted[min(int(q*float64(f.length)), f.length-1)], q)
	}
	for j := range f.members {
		m := &f.members[j]
		level := m.level(f.growth, 1, f.weeks)
		if m.shapeLife(f.weeks) != life { // members are in the order of their half-lives
			life = m.shapeLife(f.weeks)
			qs = f.shapeAt(i, life).quantiles()
		}
		for k, q := range quantiles {
			m.loss += next.pinball(level*qs[k], q)
		}
		m.loss -= (1 - lossFloor) * own
		e := math.Log((next.mean + f.logOffset()) / (m.sum/m.mass + f.logOffset()))
		if m.errors = append(m.errors, e); len(m.errors) > errorMemory {
			m.errors = m.errors[1:]
		}
	}
}

// logOffset is added to levels before a logarithm is taken, so that an empty week is no catastrophe.
func (f *fitted) logOffset() float64 { return 0.01*f.top + 1e-12 }

// weigh sets the weights of the members from their priors and losses.
func (f *fitted) weigh() {
	const noise = 1e-9 // losses below are rounding
	best := math.Inf(1)
	for j := range f.members {
		f.members[j].loss = max(f.members[j].loss, 0) + noise
		best = min(best, f.members[j].loss)
	}
	sum := 0.0
	for j := range f.members {
		m := &f.members[j]
		m.weight *= math.Pow(m.loss/best, -lossPower*f.weeks*float64(len(f.blocks)-1))
		sum += m.weight
	}
	for j := range f.members {
		f.members[j].weight /= sum
	}
}

// The trend is the slope of the logarithm of the last weeks' means, shrunk towards zero by its
// standard error s: b^3 / (b^2 + 4 s^2). It goes on for some weeks and then the level stays.
const (
	trendWeeks = 26   // most weeks of the regression
	trendLeast = 26   // fewest weeks
	trendMost  = 0.03 // largest growth per week
	trendReach = 8.0  // weeks for which the trend goes on
)

// slope returns the trend per block after the first n blocks.
func (f *fitted) slope(n int) float64 {
	if f.weeks != 1 || n < trendLeast || f.top == 0 {
		return 0
	}
	list := f.blocks[max(0, n-trendWeeks):n]
	c, mid := float64(len(list)), float64(len(list)-1)/2
	var mean, xx, xy, yy float64
	for i := range list {
		mean += math.Log(list[i].mean+2*f.logOffset()) / c
	}
	for i := range list {
		x, y := float64(i)-mid, math.Log(list[i].mean+2*f.logOffset())-mean
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	b := xy / xx
	if b == 0 {
		return 0
	}
	noise := max(0, yy-b*b*xx) / (c - 2) / xx
	return math.Max(-trendMost, math.Min(trendMost, b*b*b/(b*b+4*noise)))
}
