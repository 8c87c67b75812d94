package spot

import (
	"capcli"
)

// plan is a partial plan: its cost in millionths of a dollar per tick and hour, and what it holds.
type plan struct {
	cost       int64
	changes    int32
	spot, held int32
}

// none is no plan.
const none = int64(1) << 62

func (a *plan) isBetter(b *plan) bool {
	return a.cost < b.cost || a.cost == b.cost && a.changes < b.changes
}

// mostStates is the most states that Least looks at: about two seconds.
const mostStates = 300_000_000

// LeastCost returns the least cost with all known: choices for the ticks before the deadline, spot only
// where it can be had, with (spot + on-demand ticks) x gap >= work + delay x changeovers (program (6)
// to (10) of the paper). It is exact, by dynamic programming over the ticks, the choice of the tick
// before and the time held less delays. It reports false if the case is too large, or if no plan
// meets the deadline.
func (j *Job) LeastCost() (Stay, bool) {
	n := min(int(j.Deadline/j.Gap), len(j.Available))
	unit := gcd(j.Gap, j.Delay)
	gap, delay := int(j.Gap/unit), int(j.Delay/unit)
	goal := int((j.Work + unit - 1) / unit)
	// No plan is ever behind by more than one delay: waiting until now costs less.
	size := goal + delay + 1
	if n == 0 || int64(n)*int64(size) > mostStates {
		return Stay{}, false
	}
	now, next := newTable(size), newTable(size)
	now[0][delay] = plan{}
	for k := range n {
		for m := range next {
			for i := range next[m] {
				next[m][i].cost = none
			}
		}
		for m := range now {
			for i := range now[m] {
				p := &now[m][i]
				if p.cost >= none {
					continue
				}
				keep(&next[0][i], *p)
				if j.Available[k] {
					p.extend(next[1], i, gap, delay, m == 1, int64(j.Spot), true)
				}
				p.extend(next[2], i, gap, delay, m == 2, int64(j.OnDemand), false)
			}
		}
		now, next = next, now
	}
	best := plan{cost: none}
	for m := range now {
		keep(&best, now[m][size-1])
	}
	if best.cost >= none {
		return Stay{}, false
	}
	out := Stay{Finished: true, SpotTicks: int64(best.spot), DemandTicks: int64(best.held - best.spot), Changeovers: int64(best.changes)}
	out.Cost = sumCost(j.Nodes, j.Spot, capcli.Seconds(out.SpotTicks)*j.Gap, j.OnDemand, capcli.Seconds(out.DemandTicks)*j.Gap)
	return out, true
}

func newTable(size int) (t [3][]plan) {
	for m := range t {
		t[m] = make([]plan, size)
		for i := range t[m] {
			t[m][i].cost = none
		}
	}
	return t
}

func keep(at *plan, p plan) {
	if p.isBetter(at) {
		*at = p
	}
}

// extend holds the plan at i for one tick more. stays says that it goes on as before, without a
// changeover.
func (p *plan) extend(to []plan, i, gap, delay int, stays bool, price int64, onSpot bool) {
	q := *p
	q.cost += price
	q.held++
	if onSpot {
		q.spot++
	}
	i += gap
	if !stays {
		q.changes++
		i -= delay
	}
	if i >= 0 {
		keep(&to[min(i, len(to)-1)], q)
	}
}

// gcd returns the greatest common divisor; that of a and 0 is a.
func gcd(a, b capcli.Seconds) capcli.Seconds {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
