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
	ByBound             // dropped before a run: a lower bound on its cost already rules it out
	ByRace              // dropped after some runs, with the confidence that was asked
	ByFault             // dropped after a run that has no price: Fault says why
)

var fateNames = [...]string{"full", "bound", "race", "fault"}

// String gives the fate in a word.
func (f Fate) String() string { return fateNames[f] }

// Entry is a candidate in a search and what is known of it.
type Entry struct {
	*Candidate
	Outcomes []Outcome // by run
	Fate     Fate
	Rival    int     // the candidate that ruled it out; -1 where a limit did
	Floors   []floor // by run

	figures []*outcome.Outcome // of Outcomes
	held    []bool             // whether all limits held, by run
	broken  []bool             // whether a limit was broken that must hold in each run, by run
	risk    plan.Risk          // what Cost is of the runs
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

// holds tells whether all limits hold in the share of the runs that is asked, and
// those of each run in each.
func (e *Entry) holds(share float64) bool { return e.HeldShare() >= share && e.Serves() }

// Serves tells whether e holds the limits of each run, those on work that is left
// undone, in every run that was made.
func (e *Entry) Serves() bool { return !slices.Contains(e.broken, true) }

// servesIn tells the same of one run.
func (e *Entry) servesIn(run int) bool { return run < len(e.broken) && !e.broken[run] }

// fault is why a run of e has no price; "" where all that were made have one.
func (e *Entry) fault() string {
	for i := range e.Outcomes {
		if e.Outcomes[i].Fault != "" {
			return e.Outcomes[i].Fault
		}
	}
	return ""
}

// HeldShare is the share of runs in which every limit held.
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

// Mean is the mean of a figure over the runs; false where some run has none.
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

// Range is the range that holds 90 % of the runs (nearest rank).
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
	return all[capcli.NearestRank(5, len(all))-1], all[capcli.NearestRank(95, len(all))-1], true
}

// Length is the mean length of the runs; 0 before the first.
func (e *Entry) Length() capcli.Seconds {
	var sum capcli.Seconds
	for i := range e.Outcomes {
		sum += e.Outcomes[i].Length
	}
	return sum / capcli.Seconds(max(1, len(e.Outcomes)))
}

// Penalty is the mean of what the work left undone adds to the cost.
func (e *Entry) Penalty() capcli.USD {
	return capcli.MeanUSD(len(e.Outcomes), true, func(i int) capcli.USD { return e.Outcomes[i].Penalty })
}

// Cost is the mean cost, or what Search.Risk says in its place, rounded half up to
// the millionth.
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

// Wait is the mean of the runs' 95th percentile of waits, in seconds.
func (e *Entry) Wait() float64 {
	var sum capcli.Seconds
	for i := range e.Outcomes {
		sum += e.Outcomes[i].WaitP95
	}
	return float64(sum) / float64(max(1, len(e.Outcomes)))
}

// floor is the mean of the floors, or their risk, rounded down. A risk never falls
// where a cost rises, so it is one of costs that are no lower.
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
