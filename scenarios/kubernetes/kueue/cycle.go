package kueue

import (
	"cmp"
	"slices"

	"capcli"
)

// head is the head of a queue in one cycle.
type head struct {
	w     *workload
	a     *assignment
	usage usage
}

// nominate finds flavors, hosts and victims for w.
func (s *simulation) nominate(w *workload) *head {
	counts := make([]int64, len(w.spec.PodSets))
	for i := range counts {
		counts[i] = w.spec.PodSets[i].Count
	}
	var remembered []position
	if w.positions != nil && (s.total == w.stored+1 || w.queue.changes == w.changes) {
		remembered = w.positions
	}
	a := s.tryCounts(w, counts, remembered)
	if a.mode != fit && len(a.targets) == 0 {
		if partial := s.partial(w, remembered); partial != nil {
			a = partial
		}
	}
	w.positions, w.stored, w.changes = a.positions, s.total, w.queue.changes
	return &head{w: w, a: a, usage: a.usage(s.c)}
}

// tryCounts finds flavors, hosts and victims for so many pods of each pod set.
func (s *simulation) tryCounts(w *workload, counts []int64, remembered []position) *assignment {
	a := s.c.assign(w, counts, remembered)
	if a.mode == noFit {
		return a
	}
	u := a.usage(s.c)
	contested := a.contested()
	var room func() bool
	if s.c.hosts != nil {
		if a.mode == fit {
			var ok bool
			if a.placed, ok = s.c.place(w, a, false); ok {
				return a
			}
			a.mode = preempt
			contested = usedSlots(u)
		}
		if _, ok := s.c.place(w, a, true); !ok {
			a.mode = noFit
			return a
		}
		room = func() bool { _, ok := s.c.place(w, a, false); return ok }
	}
	if a.mode == fit {
		return a
	}
	a.targets = s.c.victims(w, u, contested, room)
	if len(a.targets) > 0 && s.c.hosts != nil {
		s.thinkAway(a.targets, func() { a.placed, _ = s.c.place(w, a, false) })
	}
	return a
}

// usedSlots are the slots of which u has any.
func usedSlots(u usage) []slot {
	var slots []slot
	for at, v := range u {
		if v > 0 {
			slots = append(slots, slot(at))
		}
	}
	return slots
}

// thinkAway does something while the targets are thought away.
func (s *simulation) thinkAway(targets []target, do func()) {
	for _, t := range targets {
		s.c.hold(t.w, -1)
	}
	do()
	for _, t := range targets {
		s.c.hold(t.w, 1)
	}
}

// partial finds the most pods that fit or have victims, where pod sets may start
// with fewer, by bisection. It returns nil where none do.
func (s *simulation) partial(w *workload, remembered []position) *assignment {
	var total int64
	less := make([]int64, len(w.spec.PodSets))
	for i, p := range w.spec.PodSets {
		if p.MinCount > 0 && p.MinCount < p.Count {
			less[i] = p.Count - p.MinCount
			total += less[i]
		}
	}
	if total == 0 {
		return nil
	}
	var best *assignment
	lo, hi := int64(0), total+1
	for lo < hi {
		mid := (lo + hi) / 2
		counts := make([]int64, len(less))
		for i, d := range less {
			counts[i] = w.spec.PodSets[i].Count - d*mid/total
		}
		a := s.tryCounts(w, counts, remembered)
		if a.mode == fit || len(a.targets) > 0 {
			best, hi = a, mid
		} else {
			lo = mid + 1
		}
	}
	return best
}

// cycle runs one scheduling cycle and tells whether it admitted or preempted.
func (s *simulation) cycle() bool {
	s.total++
	s.moved = false
	var heads []*head
	for _, q := range s.c.queues {
		if w := q.pop(); w != nil {
			before := w.positions
			heads = append(heads, s.nominate(w))
			s.moved = s.moved || !slices.Equal(before, w.positions)
		}
	}
	s.moved = s.moved || !slices.EqualFunc(heads, s.heads, func(a *head, b *workload) bool { return a.w == b })
	s.heads = s.heads[:0]
	for _, h := range heads {
		s.heads = append(s.heads, h.w)
	}
	r := &round{simulation: s, victims: map[*workload]bool{}, retry: map[*workload]bool{}}
	left := slices.Clone(heads)
	if !s.c.config.FairSharing {
		slices.SortStableFunc(left, func(a, b *head) int { return cmp.Or(cmp.Compare(a.a.level, b.a.level), a.compareHead(b)) })
	}
	for len(left) > 0 {
		h := left[0]
		if s.c.config.FairSharing {
			h = s.c.winner(left)
		}
		left = slices.DeleteFunc(left, func(o *head) bool { return o == h })
		r.process(h)
	}
	return r.conclude(heads)
}

// round is one cycle's working copy: what heads have taken so far.
type round struct {
	*simulation
	victims map[*workload]bool
	thought []target // the victims, for the checks
	undo    []func()
	admits  []*head
	preempt []*head
	retry   map[*workload]bool // heads that go back at once
}

func (r *round) process(h *head) {
	if h.a.mode == noFit {
		return
	}
	if h.a.mode == preempt && len(h.a.targets) == 0 {
		r.reserve(h)
		return
	}
	if slices.ContainsFunc(h.a.targets, func(t target) bool { return r.victims[t.w] }) || !r.hasRoom(h) {
		r.retry[h.w] = true
		return
	}
	if r.c.hosts != nil && !r.hostsFree(h) {
		if !r.searchAgain(h) {
			r.retry[h.w] = true
			return
		}
	}
	r.take(h, h.usage, h.a.placed)
	if len(h.a.targets) == 0 {
		r.admits = append(r.admits, h)
		return
	}
	for _, t := range h.a.targets {
		r.victims[t.w] = true
		r.thought = append(r.thought, t)
	}
	r.preempt = append(r.preempt, h)
	r.retry[h.w] = true
}

// reserve takes what a head waits for that has nobody to preempt, so that others
// leave it alone in this cycle.
func (r *round) reserve(h *head) {
	q := h.w.queue
	if q.rules.Preemption.Reclaim == AnyPriority {
		return
	}
	u := slices.Clone(h.usage)
	for s, v := range u {
		if v == 0 {
			continue
		}
		n := q.node
		switch {
		case h.a.level == 0:
			u[s] = max(0, min(v, n.nominal[s]-n.usage[s]))
		case n.borrowing[s] != unlimited:
			u[s] = min(v, n.nominal[s]+n.borrowing[s]-n.usage[s])
		}
	}
	var placed []placement
	if r.c.hosts != nil {
		placed, _ = r.c.place(h.w, h.a, true)
	}
	r.take(h, u, placed)
}

// take adds to the working copy.
func (r *round) take(h *head, u usage, placed []placement) {
	r.c.use(h.w.queue, u, 1)
	useHosts(placed, 1)
	r.undo = append(r.undo, func() {
		r.c.use(h.w.queue, u, -1)
		useHosts(placed, -1)
	})
}

// hasRoom tells whether a head's usage is available with all victims gone.
func (r *round) hasRoom(h *head) (ok bool) {
	r.thinkAway(r.allVictims(h), func() { ok = r.c.fits(h.w.queue, h.usage, true) })
	return ok
}

// allVictims are the victims of this cycle and those of h, each once.
func (r *round) allVictims(h *head) []target { return slices.Concat(r.thought, h.a.targets) }

// hostsFree tells whether the head's hosts are still free, with all victims gone.
func (r *round) hostsFree(h *head) bool {
	free := true
	r.thinkAway(r.allVictims(h), func() {
		need := map[*domain]map[string]int64{}
		for _, p := range h.a.placed {
			for res, v := range p.requests {
				if need[p.host] == nil {
					need[p.host] = map[string]int64{}
				}
				need[p.host][res] += v * p.pods
				free = free && need[p.host][res] <= p.host.free[res]
			}
		}
	})
	return free
}

// searchAgain searches flavors, hosts and victims anew for a head whose hosts an
// earlier head took. It tells whether the head can go on.
func (r *round) searchAgain(h *head) bool {
	fresh := r.tryCounts(h.w, h.a.counts, nil)
	h.a, h.usage = fresh, fresh.usage(r.c)
	if fresh.mode == noFit || fresh.mode == preempt && len(fresh.targets) == 0 {
		return false
	}
	return !slices.ContainsFunc(fresh.targets, func(t target) bool { return r.victims[t.w] }) && r.hasRoom(h) && r.hostsFree(h)
}

// conclude makes the cycle's decisions true and puts the other heads back.
func (r *round) conclude(heads []*head) bool {
	for _, undo := range slices.Backward(r.undo) {
		undo()
	}
	for _, h := range r.admits {
		r.admit(h)
	}
	changed := len(r.admits) > 0
	for _, h := range heads {
		if !h.w.admitted {
			r.requeue(h, r.retry[h.w])
		}
	}
	for _, h := range r.preempt {
		if h.w.queue.rules.Strategy != StrictFIFO {
			h.w.queue.sticky = h.w
		}
		h.w.positions = nil
		for _, t := range h.a.targets {
			if !t.w.leaving {
				r.evict(t, h.w)
				changed = true
			}
		}
	}
	return changed
}

// requeue puts a head back into its queue, or aside.
func (s *simulation) requeue(h *head, atOnce bool) {
	q := h.w.queue
	if atOnce || q.rules.Strategy == StrictFIFO || h.a.unfinished() {
		q.push(h.w)
		return
	}
	q.setAside(h.w)
	s.moved = true
}

func (s *simulation) admit(h *head) {
	w := h.w
	w.admitted, w.usage, w.placed, w.positions = true, h.usage, h.a.placed, nil
	w.start, w.ends = s.now, s.now+w.spec.Duration
	if w.first < 0 {
		w.first = s.now
	}
	w.queue.changes++
	w.queue.admitted = append(w.queue.admitted, w)
	if w.queue.sticky == w {
		w.queue.sticky = nil
	}
	s.c.hold(w, 1)
	s.decide(s.admission(h))
}

// evict preempts a workload, which holds its quota until its pods are gone.
func (s *simulation) evict(t target, by *workload) {
	w := t.w
	w.evicted++
	s.fruitless++
	w.leaving, w.leaves = true, s.now+s.c.config.EvictTime
	w.queue.changes++
	s.decide(Decision{Event: Preempt, Workload: w.spec.ID, By: by.spec.ID, Reason: t.reason})
	if s.c.config.EvictTime == 0 {
		s.release(w)
	}
}

// release gives back a workload's quota and frees what waits for it.
func (s *simulation) release(w *workload) {
	s.giveBack(w)
	w.leaving, w.start, w.ends = false, -1, -1
	s.c.free(w.queue.node)
	if !w.ended {
		w.queue.push(w)
	}
}

// giveBack takes a workload off the quota and the hosts.
func (s *simulation) giveBack(w *workload) {
	s.c.hold(w, -1)
	w.admitted = false
	w.queue.changes++
	w.queue.admitted = slices.DeleteFunc(w.queue.admitted, func(o *workload) bool { return o == w })
}

func (s *simulation) admission(h *head) Decision {
	d := Decision{Event: Admit, Workload: h.w.spec.ID, Flavors: map[string]map[string]string{}}
	for i, p := range h.w.spec.PodSets {
		d.Flavors[p.Name] = map[string]string{}
		if h.a.counts[i] < p.Count {
			if d.Counts == nil {
				d.Counts = map[string]int64{}
			}
			d.Counts[p.Name] = h.a.counts[i]
		}
	}
	for _, x := range h.a.choices {
		d.Flavors[h.w.spec.PodSets[x.podSet].Name][x.resource] = x.flavor.Name
	}
	for _, p := range h.a.placed {
		if d.Domains == nil {
			d.Domains = map[string][]Domain{}
		}
		name := h.w.spec.PodSets[p.podSet].Name
		d.Domains[name] = append(d.Domains[name], Domain{Values: p.values, Count: p.pods})
	}
	return d
}

func (s *simulation) decide(d Decision) {
	d.At, d.Cycle = s.now, s.cycleNumber
	s.result.Decisions = append(s.result.Decisions, d)
}

// simulation is a run in progress.
type simulation struct {
	c           *cluster
	options     Options
	all         []*workload
	next        int            // of all: the next to arrive
	now, last   capcli.Seconds // this instant and the one before
	cycleNumber int            // within the instant
	total       int            // cycles so far
	idle        int            // cycles in a row that may change nothing before the instant is over
	heads       []*workload    // of the last cycle
	moved       bool           // whether the last cycle left queues or searches otherwise than it found them
	fruitless   int            // preemptions since a workload last came or ended
	result      Result
}
