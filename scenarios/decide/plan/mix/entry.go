package mix

import (
	"cmp"
	"math"
	"slices"

	"capcli/scenarios/decide/plan"
	"capcli/scenarios/outcome"

	"capcli"
)

// Fate is what a search did with a candidate.
type Fate uint8

// The fates.
const (
	Full    Fate = iota // run as often as asked
	ByBound             // dropped: a lower bound rules it out, before a run or while one is simulated
	ByRace              // dropped after some runs, with the required confidence
	ByFault             // dropped after a run that has no price: Fault says why
)

var fateNames = [...]string{"full", "bound", "race", "fault"}

// String returns the fate in a word.
func (f Fate) String() string { return fateNames[f] }

// Entry is a candidate in a search and its results so far.
type Entry struct {
	*Candidate
	Outcomes []Outcome // by run
	Fate     Fate
	Rival    int       // the candidate that ruled it out; -1 where none did
	Floors   []floor   // by run
	Cover    *Coverage // its commitments; nil where the plan has no offers, or before they are found

	figures []*outcome.Outcome // of Outcomes, as limits are checked against them
	held    []bool             // whether all limits held, by run
	limits  []Limit            // that the outcomes were held against
	allowed float64            // most of the work that may be left undone on the mean; above 1 there is no limit
	risk    plan.Risk          // the risk that Cost returns
	weights []int64            // of the runs; nil is all alike
	least   *capcli.USD        // floor, once it is known
}

// newEntry returns the entry of a candidate that has not run.
func (s *Search) newEntry(c *Candidate) *Entry {
	return &Entry{Candidate: c, Rival: -1, risk: s.Risk, weights: s.Problem.Weights}
}

// weightsOfRuns returns the weights of the runs so far; nil where all count alike.
func (e *Entry) weightsOfRuns() []int64 {
	if e.weights == nil {
		return nil
	}
	return e.weights[:len(e.Outcomes)]
}

// shareOf returns the share of a run in means over the runs so far.
func (e *Entry) shareOf(run int) float64 {
	if e.weights == nil {
		return 1 / float64(len(e.Outcomes))
	}
	sum := int64(0)
	for _, w := range e.weightsOfRuns() {
		sum += w
	}
	return float64(e.weights[run]) / float64(sum)
}

// note adds the outcome of the next run.
func (e *Entry) note(o Outcome, limits []Limit) {
	e.Outcomes = append(e.Outcomes, o)
	e.judgeRun(&e.Outcomes[len(e.Outcomes)-1], limits)
}

func (e *Entry) judgeRun(o *Outcome, limits []Limit) {
	figures := o.figures()
	held := true
	for i := range limits {
		held = held && limits[i].holds(figures)
	}
	e.figures, e.held, e.limits = append(e.figures, figures), append(e.held, held), limits
}

// judge holds all outcomes against the limits again, because their costs changed.
func (e *Entry) judge(limits []Limit) {
	e.figures, e.held = nil, nil
	for i := range e.Outcomes {
		e.judgeRun(&e.Outcomes[i], limits)
	}
}

// holds reports whether all limits hold together in the given share of the runs, and those on unserved
// work on the mean too.
func (e *Entry) holds(share float64) bool { return e.HeldShare() >= share && e.Serves() }

// Serves reports whether the mean over the runs so far holds the limits on unserved work.
func (e *Entry) Serves() bool {
	for i := range e.limits {
		if l := &e.limits[i]; l.OnMean && !l.holdsOnMean(e) {
			return false
		}
	}
	return true
}

// holdsOnMean reports whether the mean of the limit's figure over the runs of a mix holds it.
func (l *Limit) holdsOnMean(e *Entry) bool {
	v, known := e.Mean(l.Metric)
	return known && l.miss(v) <= 0
}

// fault returns why a run of e has no price; "" where all runs so far have one.
func (e *Entry) fault() string {
	for i := range e.Outcomes {
		if e.Outcomes[i].Fault != "" {
			return e.Outcomes[i].Fault
		}
	}
	return ""
}

// HeldShare returns the share of runs, by weight, in which every limit held.
func (e *Entry) HeldShare() float64 {
	if e.weights == nil || len(e.held) == 0 {
		return float64(e.heldRuns()) / float64(max(1, len(e.held)))
	}
	held, all := int64(0), int64(0)
	for i, h := range e.held {
		if all += e.weights[i]; h {
			held += e.weights[i]
		}
	}
	return float64(held) / float64(all)
}

func (e *Entry) heldRuns() int {
	n := 0
	for _, h := range e.held {
		if h {
			n++
		}
	}
	return n
}

// Mean returns the mean of a figure over the runs; false where it is unknown in some run.
func (e *Entry) Mean(metric string) (float64, bool) {
	sum := 0.0
	for i, o := range e.figures {
		v, ok := o.Exact(metric)
		if !ok {
			return 0, false
		}
		if e.weights != nil {
			v *= e.shareOf(i) * float64(len(e.Outcomes))
		}
		sum += v
	}
	return sum / float64(len(e.Outcomes)), len(e.Outcomes) > 0
}

// Range returns the ends of a figure over the runs by capcli.RangeRanks; false
// where it is unknown in some run.
func (e *Entry) Range(metric string) (lo, hi float64, ok bool) {
	all := make([]float64, 0, len(e.Outcomes))
	for _, o := range e.figures {
		v, known := o.Exact(metric)
		if !known {
			return 0, 0, false
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	slices.Sort(all)
	first, last := capcli.RangeRanks(len(all))
	return all[first-1], all[last-1], true
}

// Length returns the mean length of the runs; 0 before the first.
func (e *Entry) Length() capcli.Seconds {
	var sum capcli.Seconds
	for i := range e.Outcomes {
		sum += e.Outcomes[i].Length
	}
	return sum / capcli.Seconds(max(1, len(e.Outcomes)))
}

// Penalty returns the mean amount that unserved work adds to the cost.
func (e *Entry) Penalty() capcli.USD {
	return e.meanUSD(func(i int) capcli.USD { return e.Outcomes[i].Penalty })
}

// meanUSD returns the mean of an amount over the runs, by their weights, rounded half up.
func (e *Entry) meanUSD(amount func(run int) capcli.USD) capcli.USD {
	if e.weights == nil {
		return capcli.MeanUSD(len(e.Outcomes), true, amount)
	}
	list := make([]capcli.USD, len(e.Outcomes))
	for i := range list {
		list[i] = amount(i)
	}
	return plan.Risk{}.WeightedUSD(list, e.weightsOfRuns(), true)
}

// Cost returns the mean cost, or the risk of the search in its place, rounded half up to the
// millionth of a dollar.
func (e *Entry) Cost() capcli.USD {
	if e.risk.Kind != plan.Mean {
		costs := make([]capcli.USD, len(e.Outcomes))
		for i := range costs {
			costs[i] = e.Outcomes[i].Cost
		}
		return e.risk.WeightedUSD(costs, e.weightsOfRuns(), true)
	}
	return e.meanUSD(func(i int) capcli.USD { return e.Outcomes[i].Cost })
}

// CostWithWaits returns Cost and the mean over the runs of what the waits count.
func (e *Entry) CostWithWaits() capcli.USD {
	return e.Cost() + e.meanUSD(func(i int) capcli.USD { return e.Outcomes[i].WaitCost })
}

// Wait returns the mean over the runs of the p95 wait, in seconds.
func (e *Entry) Wait() float64 {
	if e.weights != nil {
		mean := 0.0
		for i := range e.Outcomes {
			mean += e.shareOf(i) * float64(e.Outcomes[i].WaitP95)
		}
		return mean
	}
	var sum capcli.Seconds
	for i := range e.Outcomes {
		sum += e.Outcomes[i].WaitP95
	}
	return float64(sum) / float64(max(1, len(e.Outcomes)))
}

// floor returns a lower bound on Cost of a mix that holds the limits on unserved work on the mean,
// rounded down. A risk never falls where a cost rises, so it is the risk of bounds on the runs. A run may
// leave more undone than the mean may, if others leave less: for the mean, all that may be left undone
// counts at the highest price of any run.
func (e *Entry) floor() capcli.USD {
	if len(e.Floors) == 0 {
		return math.MinInt64
	}
	if e.least == nil {
		least := e.computeFloor()
		e.least = &least
	}
	return *e.least
}

// computeFloor is floor without its memory.
func (e *Entry) computeFloor() capcli.USD {
	sum, base, all := make([]capcli.USD, len(e.Floors)), make([]capcli.USD, len(e.Floors)), int64(0)
	var slope capcli.USD
	for i := range e.Floors {
		f := &e.Floors[i]
		base[i], sum[i], slope = f.Base, f.Base+f.Full, max(slope, f.Slope)
		all += e.weight(i)
	}
	mean := func(list []capcli.USD) capcli.USD { return plan.Risk{}.WeightedUSD(list, e.weights, false) }
	least := max(mean(base), mean(sum)-capcli.USD(math.Ceil(e.allowed*float64(slope)))) - 1
	if e.risk.Kind == plan.Mean {
		return least
	}
	for i := range sum {
		f := &e.Floors[i]
		undone := min(1, e.allowed*float64(all)/float64(e.weight(i)))
		sum[i] = f.Base + max(0, f.Full-capcli.USD(math.Ceil(undone*float64(f.Slope))))
	}
	return e.risk.WeightedUSD(sum, e.weights, false) - 1
}

func (e *Entry) weight(run int) int64 {
	if e.weights == nil {
		return 1
	}
	return e.weights[run]
}

// byChoice orders entries by what a plan minimises, the cost and the price of the waits, then as byCost: a total order.
func byChoice(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.CostWithWaits(), b.CostWithWaits()), byCost(a, b))
}

// byCost orders entries by cost, then wait, then number: a total order.
func byCost(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Cost(), b.Cost()), cmp.Compare(a.Wait(), b.Wait()), cmp.Compare(a.Index, b.Index))
}
