package backtest

import (
	"math/big"
	"slices"
	"sort"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/simulate/exact"
)

// stretch is a part of a demand with on-demand prices. It computes the exact cost of any number of
// lots that are held through it.
type stretch struct {
	steps []era
	hours capcli.Seconds // its length
	fee   capcli.Rate    // of a committed GPU-hour
	lot   int64          // thousandths of a GPU
}

// era is the steps of a stretch at one on-demand price.
type era struct {
	rate capcli.Rate
	work []capcli.GPUTime // rising
	sums []capcli.GPUTime // sums[i] is the sum of the first i
	each capcli.Seconds   // length of a step
}

// newStretch returns steps from to to of a demand. rateAt gives the on-demand price of a step.
func newStretch(c *plan.Curve, from, to int, fee capcli.Rate, lot int64, rateAt func(step int) capcli.Rate) *stretch {
	s := &stretch{fee: fee, lot: lot, hours: c.StepStart(to) - c.StepStart(from)}
	for i := from; i < to; i++ {
		rate := rateAt(i)
		if n := len(s.steps); n == 0 || s.steps[n-1].rate != rate {
			s.steps = append(s.steps, era{rate: rate, each: c.StepStart(i+1) - c.StepStart(i)})
		}
		e := &s.steps[len(s.steps)-1]
		e.work = append(e.work, c.Work[i])
	}
	for k := range s.steps {
		e := &s.steps[k]
		slices.Sort(e.work)
		e.sums = make([]capcli.GPUTime, len(e.work)+1)
		for i, w := range e.work {
			e.sums[i+1] = e.sums[i] + w
		}
	}
	return s
}

// excess returns the GPU time above a number of lots.
func (e *era) excess(lots, lot int64) capcli.GPUTime {
	level := capcli.GPUTime(lots * lot * int64(e.each))
	i := sort.Search(len(e.work), func(i int) bool { return e.work[i] > level })
	n := len(e.work)
	return e.sums[n] - e.sums[i] - level*capcli.GPUTime(n-i)
}

// exactly returns the cost of lots in millionths of a dollar times a GPU-hour.
func (s *stretch) exactly(lots int64) *big.Int {
	sum := exact.Product(int64(s.fee), lots*s.lot)
	sum.Mul(sum, big.NewInt(int64(s.hours)))
	for i := range s.steps {
		e := &s.steps[i]
		sum.Add(sum, exact.Product(int64(e.rate), int64(e.excess(lots, s.lot))))
	}
	return sum
}

// gpuHour is one GPU for an hour, in the unit of GPUTime.
const gpuHour = int64(capcli.GPUSecond) * int64(capcli.Hour)

// cost returns the cost of lots, rounded half up.
func (s *stretch) cost(lots int64) capcli.USD {
	sum := s.exactly(lots)
	sum.Add(sum, big.NewInt(gpuHour/2))
	return capcli.USD(sum.Quo(sum, big.NewInt(gpuHour)).Int64())
}

// optimum returns the fewest and the most lots of least cost. The cost is convex in the lots: it
// falls while the use that one more lot serves would have cost more on demand than the lot.
func (s *stretch) optimum() (fewest, most int64) {
	top := int64(0)
	for i := range s.steps {
		if e := &s.steps[i]; len(e.work) > 0 {
			size := s.lot * int64(e.each)
			top = max(top, (int64(e.work[len(e.work)-1])+size-1)/size)
		}
	}
	saves := func(k int64) int { return s.exactly(k).Cmp(s.exactly(k + 1)) } // over 0 where one more lot is cheaper
	fewest = int64(sort.Search(int(top), func(k int) bool { return saves(int64(k)) <= 0 }))
	most = fewest + int64(sort.Search(int(top-fewest), func(k int) bool { return saves(fewest+int64(k)) < 0 }))
	return fewest, most
}
