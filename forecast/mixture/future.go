package mixture

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/forecast/model"
)

// fitted is a fitted mixture.
type fitted struct {
	seed    capcli.Seed
	info    model.Info
	scale   float64 // of the values; blocks are over it
	length  int     // steps in a block
	weeks   float64 // weeks that a block counts for
	blocks  []block
	top     float64 // largest mean of a block
	members []member
	levels  []float64 // by block, then member
	growth  float64   // of the logarithm of the level, per block
	drift   float64   // of the same, for the weeks far ahead
	wander  float64   // mean size of what else drifts up
}

// shape is recent blocks with the weights with which futures take them. Their values are divided
// by the block's mean. It is empty where nothing was used.
type shape struct {
	blocks []*block
	upto   []float64 // sums of the weights
}

// shapeAt returns the shape of the blocks up to last, with a half-life in weeks.
func (f *fitted) shapeAt(last int, life float64) shape {
	var s shape
	sum, d := 0.0, math.Exp2(-f.weeks/life)
	weight := 1.0
	for i := last; i >= 0 && len(s.blocks) < f.shapeMost(); i, weight = i-1, weight*d {
		if f.blocks[i].mean > 0 {
			sum += weight
			s.blocks, s.upto = append(s.blocks, &f.blocks[i]), append(s.upto, sum)
		}
	}
	return s
}

// shapeMost returns the most blocks in a shape.
func (f *fitted) shapeMost() int { return int(shapeBlocks / min(1, f.weeks)) }

// quantiles returns the quantiles of the shape, all zero where it is empty.
func (s shape) quantiles() []float64 {
	type weighed struct{ v, w float64 }
	var all []weighed
	before := 0.0
	for i, b := range s.blocks {
		w := s.upto[i] - before
		before = s.upto[i]
		for _, v := range b.sorted {
			all = append(all, weighed{v / b.mean, w})
		}
	}
	slices.SortFunc(all, func(a, b weighed) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return 0
	})
	total := 0.0
	for _, x := range all {
		total += x.w
	}
	out := make([]float64, len(quantiles))
	sum, k := 0.0, 0
	for _, x := range all {
		sum += x.w
		for k < len(out) && sum >= quantiles[k]*total {
			out[k], k = x.v, k+1
		}
	}
	return out
}

func (s shape) pick(u float64) *block {
	i := sort.SearchFloat64s(s.upto, u*s.upto[len(s.upto)-1])
	return s.blocks[min(i, len(s.blocks)-1)]
}

// Errors of a member beside its own: a few of a normal distribution, so that a short history has a
// spread too.
const (
	errorPrior = 8     // number of them
	errorSpan  = 0.06  // their standard deviation
	errorMost  = 1.0   // largest error of the logarithm that futures draw
	damping    = 0.995 // of drift, and at least so much of moves of the level, per week ahead
	rangePrior = 8     // number of blocks that the prior range of the level counts for
	rangeSpan  = 0.3   // that range: the standard deviation of its logarithm
)

// settleRange sets how far the members' levels move in all: no further than the levels of the past
// lie apart. A level that wanders in days and returns would else be far off within a year.
func (f *fitted) settleRange() {
	n := float64(len(f.blocks))
	mean, sum := 0.0, rangePrior*rangeSpan*rangeSpan
	for i := range f.blocks {
		mean += math.Log(f.blocks[i].mean+f.logOffset()) / n
	}
	for i := range f.blocks {
		d := math.Log(f.blocks[i].mean+f.logOffset()) - mean
		sum += d * d
	}
	most := sum / (n + rangePrior - 1)
	for j := range f.members {
		m := &f.members[j]
		gain := m.gain()
		m.damp = min(math.Pow(damping, f.weeks), math.Sqrt(most/(most+gain*gain*m.variance)))
	}
}

// gain returns the share of an error by which the level moves.
func (m *member) gain() float64 { return 1 - math.Exp2(-1/m.half) }

// settleErrors replaces the errors of m by their sorted sizes, with those of the prior.
func (m *member) settleErrors(weeks float64) {
	for i, e := range m.errors {
		m.errors[i] = min(errorMost, math.Abs(e))
	}
	for i := range errorPrior {
		p := 0.5 + (float64(i)+0.5)/(2*errorPrior)
		m.errors = append(m.errors, errorSpan*math.Sqrt(weeks)*distuv.UnitNormal.Quantile(p))
	}
	slices.Sort(m.errors)
	for _, e := range m.errors {
		m.variance += e * e / float64(len(m.errors))
	}
}

// draw returns the error at a standard normal value.
func (m *member) draw(z float64) float64 {
	u := math.Erf(math.Abs(z) / math.Sqrt2)
	return math.Copysign(model.Quantile(m.errors, u), z)
}

// choose returns the member at the share u of the weights.
func (f *fitted) choose(u float64) *member {
	for j := range f.members {
		if u -= f.members[j].weight; u < 0 {
			return &f.members[j]
		}
	}
	return &f.members[0]
}

// The drift of a level is what a year ahead hangs on: demand that grew over the past year tends to
// grow, demand that fell tends to go on falling, and either may turn. It was learnt from the levels
// of years ahead in series and on dates other than those of the tests.
const (
	driftSpan  = 52    // most weeks of the past whose growth counts
	driftEnds  = 4     // weeks at each end of them whose levels are compared
	driftHalf  = 13.0  // weeks of which half is believed
	driftRise  = 0.75  // share of past growth that goes on
	driftFall  = 1.0   // share of a past fall
	driftScale = 0.015 // mean size of what else drifts up, per week; of what drifts down it is twice that
)

// settleDrift sets the drift that futures have in common, from the growth of the logarithm of the
// level over the last year.
func (f *fitted) settleDrift() {
	weeks := min(driftSpan, len(f.blocks)-driftEnds)
	if f.weeks != 1 || weeks < driftEnds || f.top == 0 {
		return
	}
	ends := f.blocks[len(f.blocks)-weeks-driftEnds:]
	grown := 0.0
	for i := range driftEnds {
		grown += math.Log((ends[weeks+i].mean+f.logOffset())/(ends[i].mean+f.logOffset())) / driftEnds
	}
	n := float64(weeks)
	share := n * n / (n*n + driftHalf*driftHalf)
	f.wander = driftScale * share
	if grown > 0 {
		share *= driftRise
	} else {
		share *= driftFall
	}
	f.drift = share * max(-trendMost, min(trendMost, grown/n))
}

// drawDrift returns the drift of one future per block, at the share u of futures: that in common and
// an exponential of either sign, for levels of a year ahead have heavy tails and fall further than
// they rise.
func (f *fitted) drawDrift(u float64) float64 {
	const least = 1e-12
	if u < 0.5 {
		return max(-2*trendMost, f.drift+2*f.wander*math.Log(2*u+least))
	}
	return min(trendMost, f.drift-f.wander*math.Log(2-2*u+least))
}

// path draws a future of the member at the share u of the weights.
func (f *fitted) path(h int, u float64, rng model.Noise) []float64 {
	out := make([]float64, h)
	m := f.choose(u)
	if len(m.shape.blocks) == 0 {
		return out
	}
	gain, moved, damp, slow, drift := m.gain(), 0.0, 1.0, 1.0, f.drawDrift(rng.Float64())
	for k := 0; k*f.length < h; k++ {
		e := m.draw(model.Innovation(rng, k*f.length))
		level := m.level(f.growth, float64(k+1), f.weeks)
		level = max(0, (level+f.logOffset())*math.Exp(moved+e-m.variance/2)-f.logOffset())
		damp, slow = damp*m.damp, slow*math.Pow(damping, f.weeks)
		moved += damp*gain*(e-damp*gain*m.variance/2) + slow*drift
		from := m.shape.pick(rng.Float64())
		for i, v := range from.values[:min(f.length, h-k*f.length)] {
			out[k*f.length+i] = f.value(v / from.mean * level)
		}
	}
	return out
}

func (f *fitted) value(v float64) float64 { return min(v*f.scale, math.MaxFloat64) }

// Path draws a future: one member, and a course of its level.
func (f *fitted) Path(h int, rng model.Noise) []float64 {
	if h < 1 {
		return nil
	}
	return f.path(h, rng.Float64(), rng)
}

// Numbers of futures behind Forecast: the usual one, and the fewest on long horizons, where they
// have about so many values together.
const (
	futuresUsual  = 200
	futuresFewest = 60
	futuresValues = 3_000_000
)

// Forecast returns the means and quantiles of drawn futures, always the same ones. Members take
// part in proportion to their weights.
func (f *fitted) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := model.CheckRequest(h, levels); err != nil {
		return model.Forecast{}, err
	}
	n := max(futuresFewest, min(futuresUsual, futuresValues/h))
	paths := make([][]float64, n)
	for k := range paths {
		paths[k] = f.path(h, (float64(k)+0.5)/float64(n), f.seed.Child(k).Stream("mixture"))
	}
	out := model.Forecast{Mean: make([]float64, h), Intervals: make([]model.Interval, len(levels))}
	for i, l := range levels {
		out.Intervals[i] = model.Interval{Level: l, Lo: make([]float64, h), Hi: make([]float64, h)}
	}
	at := make([]float64, n)
	for i := range h {
		for k, p := range paths {
			at[k] = p[i]
		}
		slices.Sort(at)
		out.Mean[i] = model.Mean(at)
		for k, l := range levels {
			out.Intervals[k].Lo[i], out.Intervals[k].Hi[i] = model.Quantile(at, 0.5-l/200), model.Quantile(at, 0.5+l/200)
		}
	}
	out.Bound()
	out.Contain()
	return out, nil
}

// Info describes the fit.
func (f *fitted) Info() model.Info { return f.info }

// describe fills in Info. The parameters are the weights of the half-lives and of the trend. A
// fitted value is that of a block before, times the mixture's level over that block's mean.
func (f *fitted) describe(y []float64) {
	f.info = model.Info{Fitted: model.NaNs(len(y)), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN()}
	f.info.Method = fmt.Sprintf("Mixture of %d levels over blocks of %d", len(f.members), f.length)
	trend := 0.0
	for _, half := range halfLives {
		weight := 0.0
		for _, m := range f.members {
			if m.half == half/f.weeks {
				weight += m.weight
			}
		}
		f.info.Params = append(f.info.Params, model.Param{Name: fmt.Sprintf("weight[%gw]", half), Value: weight})
	}
	for _, m := range f.members {
		if m.trend > 0 {
			trend += m.weight
		}
	}
	f.info.Params = append(f.info.Params, model.Param{Name: "weight[trend]", Value: trend}, model.Param{Name: "growth", Value: f.growth}, model.Param{Name: "drift", Value: f.drift})
	var errs []float64
	for i := 1; i < len(f.blocks); i++ {
		level := 0.0
		for j := range f.members {
			level += f.members[j].weight * f.levels[(i-1)*len(f.members)+j]
		}
		if before := &f.blocks[i-1]; before.mean > 0 {
			level /= before.mean
		}
		at := len(y) - (len(f.blocks)-i)*f.length
		for k, v := range f.blocks[i-1].values {
			f.info.Fitted[at+k] = f.value(v * level)
			errs = append(errs, y[at+k]-f.info.Fitted[at+k])
		}
	}
	f.info.Sigma2 = model.RMS(errs) * model.RMS(errs)
	f.levels = nil
	if f.length == 1 {
		f.info.Notes = append(f.info.Notes, "fewer than two days: each step counts by itself")
	}
}
