package kueue

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
)

// The reasons of a preemption, in Kueue's words.
const (
	InClusterQueue                = "InClusterQueue"
	InCohortReclamation           = "InCohortReclamation"
	InCohortReclaimWhileBorrowing = "InCohortReclaimWhileBorrowing"
	InCohortFairSharing           = "InCohortFairSharing"
)

// target is a workload to be preempted.
type target struct {
	w      *workload
	reason string
}

// preemption is one search for workloads to preempt.
type preemption struct {
	c         *cluster
	w         *workload
	q         *queue
	request   usage
	contested []slot
	room      func() bool // whether the pods find hosts; nil is not asked
}

// victims returns whom w may preempt so that the request fits, none where that
// is not possible. contested are the slots in which it does not fit now. room
// tells whether the pods find hosts; nil is not asked.
func (c *cluster) victims(w *workload, request usage, contested []slot, room func() bool) []target {
	p := &preemption{c, w, w.queue, request, contested, room}
	if c.config.FairSharing {
		return p.fair()
	}
	return p.classical()
}

// holdsContested tells whether a workload uses any of the contested slots.
func (p *preemption) holdsContested(w *workload) bool {
	return slices.ContainsFunc(p.contested, func(s slot) bool { return w.usage[s] > 0 })
}

// mayPreempt tells whether a policy lets the preemptor preempt w.
func (p *preemption) mayPreempt(policy string, w *workload) bool {
	switch policy {
	case AnyPriority:
		return true
	case LowerPriority:
		return w.spec.Priority < p.w.spec.Priority
	case LowerOrNewerEqualPriority:
		return w.spec.Priority < p.w.spec.Priority || w.spec.Priority == p.w.spec.Priority && w.spec.Arrival > p.w.spec.Arrival
	}
	return false
}

// compareVictims is the order in which workloads are preempted: those that leave
// already, other queues' first, lower priority, later admitted, by name.
func (p *preemption) compareVictims(a, b *workload) int {
	return cmp.Or(capcli.Bit(b.leaving)-capcli.Bit(a.leaving), capcli.Bit(b.queue != p.q)-capcli.Bit(a.queue != p.q),
		cmp.Compare(a.spec.Priority, b.spec.Priority), cmp.Compare(b.start, a.start), strings.Compare(a.spec.tieName(), b.spec.tieName()))
}

// candidate is a workload that might be preempted.
type candidate struct {
	w        *workload
	reason   string
	noBorrow bool  // only if the preemptor ends up within its own quota
	cohort   *node // the common cohort, nil for the own queue
}

// classical searches by the rules without fair sharing.
func (p *preemption) classical() []target {
	hierarchical, others, own := p.otherCandidates()
	order := func(a, b candidate) int { return p.compareVictims(a.w, b.w) }
	var leaving, staying []candidate
	for _, list := range [][]candidate{hierarchical, others, own} {
		slices.SortFunc(list, order)
		for _, x := range list {
			if x.w.leaving {
				leaving = append(leaving, x)
			} else {
				staying = append(staying, x)
			}
		}
	}
	candidates := append(leaving, staying...)
	for _, borrow := range p.attempts(len(hierarchical), len(others)) {
		if targets := p.attempt(candidates, borrow); targets != nil {
			return targets
		}
	}
	return nil
}

// attempts are the tries, each with borrowing or without.
func (p *preemption) attempts(hierarchical, others int) []bool {
	forbidden := !p.q.rules.mayBorrowInCohort()
	below := !slices.ContainsFunc(p.contested, func(s slot) bool { return p.q.node.usage[s] >= p.q.node.nominal[s] })
	switch {
	case hierarchical+others == 0, forbidden && !below:
		return []bool{true}
	case forbidden && hierarchical == 0:
		return []bool{false, true}
	}
	return []bool{true, false}
}

// otherCandidates returns the candidates over which the preemptor has the
// advantage of the hierarchy, those of other queues over which it has not, and
// those of its own queue.
func (p *preemption) otherCandidates() (hierarchical, others, own []candidate) {
	for _, w := range p.q.admitted {
		if p.holdsContested(w) && p.mayPreempt(p.q.rules.Preemption.WithinQueue, w) {
			own = append(own, candidate{w: w, reason: InClusterQueue})
		}
	}
	if p.q.rules.Preemption.Reclaim == NeverPreempt {
		return nil, nil, own
	}
	rest := slices.Clone(p.request)
	advantage := p.withinQuota(p.q.node, rest)
	for below, c := p.q.node, p.q.node.parent; c != nil; below, c = c, c.parent {
		for _, child := range c.children {
			if child == below {
				continue
			}
			p.collect(child, func(w *workload) {
				x := candidate{w: w, reason: InCohortReclamation, cohort: c}
				switch {
				case advantage:
					hierarchical = append(hierarchical, x)
					return
				case !p.mayReclaimWhileBorrowing(w):
					x.noBorrow = true
				default:
					x.reason = InCohortReclaimWhileBorrowing
				}
				others = append(others, x)
			})
		}
		advantage = p.withinQuota(c, rest) || advantage
	}
	return hierarchical, others, own
}

// mayReclaimWhileBorrowing tells whether w may be preempted for a workload that
// borrows.
func (p *preemption) mayReclaimWhileBorrowing(w *workload) bool {
	rules := p.q.rules.Preemption
	return p.q.rules.mayBorrowInCohort() && w.spec.Priority < p.w.spec.Priority &&
		(rules.MostPriority == nil || w.spec.Priority <= *rules.MostPriority)
}

// withinQuota tells whether what is left of the request is within the quota of
// n, and takes from it what n has free and lends to nobody.
func (p *preemption) withinQuota(n *node, rest usage) bool {
	ok := true
	for s, v := range rest {
		if v == 0 {
			continue
		}
		ok = ok && !n.exceeds(slot(s), v)
		rest[s] = max(0, v-n.unlentFree(slot(s)))
	}
	return ok
}

// collect yields the workloads below n that the queue may reclaim from: n and
// all cohorts on the way exceed their quota.
func (p *preemption) collect(n *node, yield func(w *workload)) {
	if !n.exceedsAny(p.contested) {
		return
	}
	for _, c := range n.children {
		p.collect(c, yield)
	}
	if n.queue == nil {
		return
	}
	for _, w := range n.queue.admitted {
		if p.holdsContested(w) && p.mayPreempt(p.q.rules.Preemption.Reclaim, w) {
			yield(w)
		}
	}
}

// attempt takes candidates in order until the request fits, then puts back those
// that need not go.
func (p *preemption) attempt(candidates []candidate, borrow bool) []target {
	var taken []target
	fits := false
	for _, x := range candidates {
		if borrow && x.noBorrow || x.cohort != nil && !p.stillExceeds(x) {
			continue
		}
		p.c.hold(x.w, -1)
		taken = append(taken, target{x.w, x.reason})
		if fits = p.fits(borrow); fits {
			break
		}
	}
	if fits {
		taken = p.putBack(taken, borrow)
	}
	for _, t := range taken {
		p.c.hold(t.w, 1)
	}
	if !fits {
		return nil
	}
	return taken
}

// putBack puts back, from the last but one to the first, those without whose
// going the request fits too.
func (p *preemption) putBack(taken []target, borrow bool) []target {
	for i := len(taken) - 2; i >= 0; i-- {
		p.c.hold(taken[i].w, 1)
		if p.fits(borrow) {
			taken = slices.Delete(taken, i, i+1)
		} else {
			p.c.hold(taken[i].w, -1)
		}
	}
	return taken
}

// stillExceeds tells whether the candidate's queue and all cohorts below the
// common one exceed their quota, with those taken so far gone.
func (p *preemption) stillExceeds(x candidate) bool {
	for n := x.w.queue.node; n != x.cohort; n = n.parent {
		if !n.exceedsAny(p.contested) {
			return false
		}
	}
	return true
}

func (p *preemption) fits(borrow bool) bool {
	return p.c.fits(p.q, p.request, borrow) && (p.room == nil || p.room())
}
