package simulate

import (
	"cmp"
	"slices"
)

// planMoves plans the next round of consolidation of a pool.
func (e *engine) planMoves(k *boughtPool) {
	if k.Consolidate > 0 && k.moveAt == 0 {
		k.moveAt = e.c.now + k.Consolidate
		e.lookAt(k.moveAt)
	}
}

// consolidate holds a round of consolidation when one is due, as Karpenter does with
// WhenEmptyOrUnderutilized (its documentation, "Disruption"): empty nodes go first, which is giveBack;
// then one node whose jobs all fit on other nodes that are paid for anyway. Candidates are nodes on which
// nothing has started or ended for Consolidate, those with the fewest jobs first, then with the fewest held
// GPUs. Moves to nodes that are empty, and so on their way out, do not count. A move costs what
// Defragment says, and only jobs that can save their work move.
func (e *engine) consolidate(k *boughtPool) {
	now := e.c.now
	if k.moveAt == 0 || now < k.moveAt {
		return
	}
	k.moveAt = 0
	if k.there+k.loading > max(k.Warm, k.wanted) && e.guard == nil {
		for _, n := range e.quietNodes(k) {
			if e.emptyNode(k, n) {
				break
			}
		}
	}
	if k.there > 0 {
		e.planMoves(k)
	}
}

// quietNodes returns the candidates of a round in the order in which they are tried.
func (e *engine) quietNodes(k *boughtPool) (out []int) {
	s := &e.c.state[k.pool]
	for n := s.first; n < s.first+s.n; n++ {
		if t := &e.buy.lots[n]; t.up && !t.leaving && t.held > 0 && t.touched+k.Consolidate <= e.c.now {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.buy.lots[a].held, e.buy.lots[b].held), cmp.Compare(e.c.FreeMilli(b), e.c.FreeMilli(a)), cmp.Compare(a, b))
	})
	return out
}

// emptyNode moves all jobs of node n elsewhere and gives the node back. It reports false if one of them
// cannot move or has no room.
func (e *engine) emptyNode(k *boughtPool, n int) bool {
	var moved []*Live
	parts := int32(0)
	for l := range e.runningIn(k.pool) {
		if !slices.ContainsFunc(l.slices, func(s Slice) bool { return int(s.Node) == n }) {
			continue
		}
		if !e.mayMove(l) {
			return false
		}
		moved = append(moved, l)
		for i := range l.slices {
			if int(l.slices[i].Node) == n {
				parts++
			}
		}
	}
	if parts < e.buy.lots[n].held { // the rest is replicas of services, which stay
		return false
	}
	slices.SortFunc(moved, func(a, b *Live) int { return cmp.Compare(a.seq, b.seq) })
	places := e.placesWithout(n, moved)
	if len(moved) == 0 || places == nil {
		return false
	}
	for _, m := range moved {
		e.takeOff(m)
	}
	for i, m := range moved {
		e.start(m, places[i])
	}
	e.turn.sweep()
	k.sum.Moved += int64(len(moved))
	k.sum.Emptied++
	e.endNode(n, false)
	return true
}

// placesWithout returns where the jobs would go without node n, on nodes that are in use; nil if one of
// them has no room.
func (e *engine) placesWithout(n int, moved []*Live) [][]Slice {
	w := e.c.copyTo(e.defrag.copy)
	e.defrag.copy = w
	for _, m := range moved {
		w.release(m.slices)
	}
	w.setUp(n, false, false)
	for i := range e.buy.lots {
		if t := &e.buy.lots[i]; t.up && t.held == 0 && !t.leaving {
			w.setUp(i, false, false)
		}
	}
	var out [][]Slice
	for _, m := range moved {
		s := e.paidPlace(w, m)
		if len(s) == 0 {
			return nil
		}
		w.take(s)
		out = append(out, slices.Clone(s))
	}
	return out
}

// paidPlace returns room for l in w in a pool that it may use now and that is paid for whole.
func (e *engine) paidPlace(w *Cluster, l *Live) []Slice {
	for r, pools := range l.class.ranks {
		if r > 0 && !e.opened(l) {
			return nil
		}
		e.others = e.others[:0]
		for _, p := range pools {
			if e.c.pools[p].PaidWhole() {
				e.others = append(e.others, p)
			}
		}
		if len(e.others) > 0 {
			if s := e.findIn(w, l, e.others); len(s) > 0 {
				return s
			}
		}
	}
	return nil
}
