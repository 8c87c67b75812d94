package kueue

import "slices"

// mode is how a workload could be admitted, the better the higher.
type mode int8

const (
	noFit        mode = iota
	noCandidates      // it fits the quota, but nobody may be preempted for it
	preempt           // workloads of its own queue must go
	reclaim           // only workloads of other queues must go
	fit
)

// choice is a flavor found for a resource.
type choice struct {
	podSet   int
	resource string
	flavor   *Flavor
	slot     slot
	amount   int64
	mode     mode
	level    int
}

// assignment is the flavors found for a workload.
type assignment struct {
	counts    []int64 // pods of each pod set
	choices   []choice
	positions []position
	mode      mode // noFit, preempt or fit
	level     int
	placed    []placement
	targets   []target
}

// usage is what the workload would use.
func (a *assignment) usage(c *cluster) usage {
	u := make(usage, len(c.names))
	for _, x := range a.choices {
		u[x.slot] += x.amount
	}
	return u
}

// contested are the slots in which it does not fit.
func (a *assignment) contested() []slot {
	var slots []slot
	for _, x := range a.choices {
		if x.mode != fit && !slices.Contains(slots, x.slot) {
			slots = append(slots, x.slot)
		}
	}
	return slots
}

// unfinished tells whether flavors are left that its search did not try.
func (a *assignment) unfinished() bool {
	return slices.ContainsFunc(a.positions, func(p position) bool { return p.index >= 0 })
}

// search looks for the flavors of one workload.
type search struct {
	c    *cluster
	w    *workload
	from map[[2]any]int // remembered positions, by pod set and resource
	a    *assignment
}

// assign finds flavors for so many pods of each pod set. remembered is where the
// last search stopped, nil to begin anew.
func (c *cluster) assign(w *workload, counts []int64, remembered []position) *assignment {
	s := &search{c: c, w: w, from: map[[2]any]int{}, a: &assignment{counts: counts, mode: fit}}
	for _, p := range remembered {
		s.from[[2]any{p.podSet, p.resource}] = p.index
	}
	for i := range w.spec.PodSets {
		m := s.assignPodSet(i)
		s.a.mode = min(s.a.mode, m)
		if m == noFit {
			break
		}
	}
	for _, x := range s.a.choices {
		s.a.level = max(s.a.level, x.level)
	}
	return s.a
}

// assignPodSet finds the flavors of a pod set, group by group.
func (s *search) assignPodSet(i int) mode {
	p := &s.w.spec.PodSets[i]
	got := map[string]bool{}
	out := fit
	choices, positions := len(s.a.choices), len(s.a.positions)
	for _, r := range p.resourceNames() {
		if got[r] {
			continue
		}
		g := s.w.queue.byRes[r]
		var asked []string
		if g != nil {
			for _, o := range p.resourceNames() {
				if slices.Contains(g.resources, o) {
					asked = append(asked, o)
					got[o] = true
				}
			}
		}
		m := noFit
		if g != nil {
			m = s.assignGroup(i, g, asked)
		}
		if m == noFit {
			s.a.choices, s.a.positions = s.a.choices[:choices], s.a.positions[:positions]
			return noFit
		}
		if m != fit {
			out = preempt
		}
	}
	return out
}

// outcome is how well a flavor, or a resource in it, would do.
type outcome struct {
	mode  mode
	level int
}

// preferred tells whether a is better than b for this queue.
func (q *queue) preferred(a, b outcome) bool {
	switch {
	case a.mode == noFit:
		return false
	case b.mode == noFit:
		return true
	case (a.mode == noCandidates) != (b.mode == noCandidates):
		return b.mode == noCandidates
	case q.rules.Preference == PreemptionOverBorrowing:
		return a.level < b.level || a.level == b.level && a.mode > b.mode
	}
	return a.mode > b.mode || a.mode == b.mode && a.level < b.level
}

// assignGroup finds one flavor for the resources of a group.
func (s *search) assignGroup(i int, g *group, asked []string) mode {
	p := &s.w.spec.PodSets[i]
	q := s.w.queue
	best := outcome{noFit, 0}
	var bestChoices []choice
	tried := s.firstFlavor(i, asked) - 1
	for k := tried + 1; k < len(g.flavors); k++ {
		tried = k
		f := g.flavors[k]
		if !allows(g, f, p) {
			continue
		}
		found, choices := s.tryFlavor(i, f, asked)
		if q.preferred(found, best) {
			best, bestChoices = found, choices
		}
		if !s.goOn(found) {
			best, bestChoices = found, choices
			break
		}
	}
	if best.mode == noFit {
		return noFit
	}
	index := tried
	if tried >= len(g.flavors)-1 {
		index = -1
	}
	for _, r := range asked {
		s.a.positions = append(s.a.positions, position{i, r, index})
	}
	s.a.choices = append(s.a.choices, bestChoices...)
	return best.mode
}

// firstFlavor is the flavor at which the search begins: the one after the last
// that was tried, where that is remembered.
func (s *search) firstFlavor(i int, asked []string) int {
	if at, ok := s.from[[2]any{i, asked[0]}]; ok && at >= 0 {
		return at + 1
	}
	return 0
}

// goOn tells whether the search should look at the next flavor too.
func (s *search) goOn(found outcome) bool {
	rules := s.w.queue.rules
	switch found.mode {
	case noFit, noCandidates:
		return true
	case preempt, reclaim:
		if rules.WhenCanPreempt == TryNextFlavor {
			return true
		}
	case fit:
	}
	return found.level > 0 && rules.WhenCanBorrow == TryNextFlavor
}

// tryFlavor says how the resources would do in a flavor.
func (s *search) tryFlavor(i int, f *Flavor, asked []string) (outcome, []choice) {
	p := &s.w.spec.PodSets[i]
	found := outcome{fit, 0}
	var choices []choice
	for _, r := range asked {
		at, ok := s.c.slots[[2]string{f.Name, r}]
		if !ok {
			return outcome{noFit, 0}, nil
		}
		amount := p.Requests[r] * s.a.counts[i]
		v := amount
		for _, x := range s.a.choices {
			if x.slot == at {
				v += x.amount
			}
		}
		got := s.tryResource(at, v)
		choices = append(choices, choice{i, r, f, at, amount, got.mode, got.level})
		if s.w.queue.preferred(found, got) {
			found = got
		}
	}
	return found, choices
}

// tryResource says how an amount of one resource in one flavor would do.
func (s *search) tryResource(at slot, v int64) outcome {
	n, rules := s.w.queue.node, s.w.queue.rules
	if v > n.potential(at) {
		return outcome{noFit, 0}
	}
	level, mayReclaim := n.borrowingLevel(at, v)
	if v <= max(0, n.available(at)) {
		return outcome{fit, level}
	}
	borrows := rules.mayBorrowInCohort() || s.c.config.FairSharing && rules.Preemption.Reclaim != NeverPreempt
	if n.nominal[at] < v && !mayReclaim && !borrows {
		return outcome{noFit, 0}
	}
	u := make(usage, len(s.c.names))
	u[at] = v
	targets := s.c.victims(s.w, u, []slot{at}, nil)
	if len(targets) == 0 {
		return outcome{noCandidates, level}
	}
	found := outcome{mode: reclaim}
	for _, t := range targets {
		if t.w.queue == s.w.queue {
			found.mode = preempt
		}
		s.c.use(t.w.queue, t.w.usage, -1)
	}
	found.level, _ = n.borrowingLevel(at, v)
	for _, t := range targets {
		s.c.use(t.w.queue, t.w.usage, 1)
	}
	return found
}

// mayBorrowInCohort tells whether the queue may preempt in order to borrow.
func (r *ClusterQueue) mayBorrowInCohort() bool {
	return r.Preemption.Borrow != "" && r.Preemption.Borrow != NeverPreempt
}
