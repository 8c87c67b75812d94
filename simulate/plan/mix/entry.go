package mix

import (
	"cmp"
	"math"
	"slices"

	"capcli/simulate/outcome"
	"capcli/simulate/plan"

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
	Rival    int     // the candidate that ruled it out; -1 where none did
	Floors   []floor // by run

	figures []*outcome.Outcome // of Outcomes, as limits are checked against them
	held    []bool             // whether all limits held, by run
	broken  []bool             // whether an each-run limit was broken, by run
	risk    plan.Risk          // the risk that Cost returns
}

// note adds the outcome of the next run.
func (e *Entry) note(o Outcome, limits []Limit) {
	figures := o.figures()
	held, broken := true, false
	for i := range limits {
		holds := limits[i].holds(figures)
		held = held && holds
		broken = broken || limits[i].Each && !holds
	}
	e.Outcomes, e.figures, e.held, e.broken = append(e.Outcomes, o), append(e.figures, figures), append(e.held, held), append(e.broken, broken)
}

// holds reports whether all limits hold together in the given share of the runs, and each-run
// limits in every run.
func (e *Entry) holds(share float64) bool { return e.HeldShare() >= share && e.Serves() }

// Serves reports whether e holds the each-run limits, those on unserved work, in every run so far.
func (e *Entry) Serves() bool { return !slices.Contains(e.broken, true) }

// servesIn reports whether e holds the each-run limits in one run.
func (e *Entry) servesIn(run int) bool { return run < len(e.broken) && !e.broken[run] }

// fault returns why a run of e has no price; "" where all runs so far have one.
func (e *Entry) fault() string {
	for i := range e.Outcomes {
		if e.Outcomes[i].Fault != "" {
			return e.Outcomes[i].Fault
		}
	}
	return ""
}

// HeldShare returns the share of runs in which every limit held.
func (e *Entry) HeldShare() float64 { return float64(e.heldRuns()) / float64(max(1, len(e.held))) }

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
	for _, o := range e.figures {
		v, ok := o.Exact(metric)
		if !ok {
			return 0, false
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
	return capcli.MeanUSD(len(e.Outcomes), true, func(i int) capcli.USD { return e.Outcomes[i].Penalty })
}

// Cost returns the mean cost, or the risk of the search in its place, rounded half up to the
// millionth of a dollar.
func (e *Entry) Cost() capcli.USD {
	if e.risk.Kind != plan.Mean {
		costs := make([]capcli.USD, len(e.Outcomes))
		for i := range costs {
			costs[i] = e.Outcomes[i].Cost
		}
		return e.risk.USD(costs, true)
	}
	return capcli.MeanUSD(len(e.Outcomes), true, func(i int) capcli.USD { return e.Outcomes[i].Cost })
}

// Wait returns the mean over the runs of the p95 wait, in seconds.
func (e *Entry) Wait() float64 {
	var sum capcli.Seconds
	for i := range e.Outcomes {
		sum += e.Outcomes[i].WaitP95
	}
	return float64(sum) / float64(max(1, len(e.Outcomes)))
}

// floor returns the risk of the floors (by default their mean), rounded down. A risk never falls
// where a cost rises, so it is a lower bound on Cost.
func (e *Entry) floor() capcli.USD {
	if len(e.Floors) > 0 && e.risk.Kind != plan.Mean {
		floors := make([]capcli.USD, len(e.Floors))
		for i := range floors {
			floors[i] = e.Floors[i].Cost
		}
		return e.risk.USD(floors, false)
	}
	if len(e.Floors) == 0 {
		return math.MinInt64
	}
	return capcli.MeanUSD(len(e.Floors), false, func(i int) capcli.USD { return e.Floors[i].Cost }) - 1
}

// byCost orders entries by cost, then wait, then number: a total order.
func byCost(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Cost(), b.Cost()), cmp.Compare(a.Wait(), b.Wait()), cmp.Compare(a.Index, b.Index))
}
