package simulate

import (
	"cmp"
	"slices"
)

// planMoves plans the next round of consolidation of a pool.
func (b *buying) planMoves(k *boughtPool) {
	if k.Consolidate > 0 && k.moveAt == 0 {
		k.moveAt = b.e.c.now + k.Consolidate
		b.lookAt(k.moveAt)
	}
}

// consolidate holds a round of consolidation when one is due, as Karpenter does with
// WhenEmptyOrUnderutilized (its documentation, "Disruption"): empty nodes go first, which is giveBack;
// then one node whose jobs all fit on other nodes that are paid for anyway. Candidates are nodes on which
// nothing has started or ended for Consolidate, those with the fewest jobs first, then with the fewest held
// GPUs. Moves to nodes that are empty, and so on their way out, do not count. A move costs what
// Defragment says, and only jobs that can save their work move.
func (b *buying) consolidate(k *boughtPool) {
	now := b.e.c.now
	if k.moveAt == 0 || now < k.moveAt {
		return
	}
	k.moveAt = 0
	if k.there+k.loading > max(k.Warm, k.wanted) && b.e.guard.after == 0 {
		for _, n := range b.quietNodes(k) {
			if b.emptyNode(k, n) {
				break
			}
		}
	}
	if k.there > 0 {
		b.planMoves(k)
	}
}

// quietNodes returns the candidates of a round in the order in which they are tried.
func (b *buying) quietNodes(k *boughtPool) (out []int) {
	s := &b.e.c.state[k.pool]
	for n := s.first; n < s.first+s.n; n++ {
		if t := &b.lots[n]; t.up && !t.leaving && t.held > 0 && t.touched+k.Consolidate <= b.e.c.now {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(x, y int) int {
		return cmp.Or(cmp.Compare(b.lots[x].held, b.lots[y].held), cmp.Compare(b.e.c.FreeMilli(y), b.e.c.FreeMilli(x)), cmp.Compare(x, y))
	})
	return out
}

// emptyNode moves all jobs of node n elsewhere and gives the node back. It reports false if one of them
// cannot move or has no room.
func (b *buying) emptyNode(k *boughtPool, n int) bool {
	var moved []*Live
	parts := int32(0)
	for l := range b.e.runningIn(k.pool) {
		if !slices.ContainsFunc(l.slices, func(s Slice) bool { return int(s.Node) == n }) {
			continue
		}
		if !b.e.mayMove(l) {
			return false
		}
		moved = append(moved, l)
		for i := range l.slices {
			if int(l.slices[i].Node) == n {
				parts++
			}
		}
	}
	if parts < b.lots[n].held { // the rest is replicas of services, which stay
		return false
	}
	slices.SortFunc(moved, func(x, y *Live) int { return cmp.Compare(x.seq, y.seq) })
	places := b.placesWithout(n, moved)
	if len(moved) == 0 || places == nil {
		return false
	}
	for _, m := range moved {
		b.e.takeOff(m)
	}
	for i, m := range moved {
		b.e.start(m, places[i])
	}
	b.e.turn.sweep()
	k.sum.Moved += int64(len(moved))
	k.sum.Emptied++
	b.endNode(n, false)
	return true
}

// placesWithout returns where the jobs would go without node n, on nodes that are in use; nil if one of
// them has no room.
func (b *buying) placesWithout(n int, moved []*Live) [][]Slice {
	w := b.e.c.copyTo(b.trial)
	b.trial = w
	for _, m := range moved {
		w.release(m.slices)
	}
	w.setUp(n, false, false)
	for i := range b.lots {
		if t := &b.lots[i]; t.up && t.held == 0 && !t.leaving {
			w.setUp(i, false, false)
		}
	}
	var out [][]Slice
	for _, m := range moved {
		s := b.paidPlace(w, m)
		if len(s) == 0 {
			return nil
		}
		w.take(s)
		out = append(out, slices.Clone(s))
	}
	return out
}

// paidPlace returns room for l in w in a pool that it may use now and that is paid for whole.
func (b *buying) paidPlace(w *Cluster, l *Live) []Slice {
	for r, pools := range l.class.ranks {
		if r > 0 && !b.e.opened(l) {
			return nil
		}
		b.e.others = b.e.others[:0]
		for _, p := range pools {
			if b.e.c.pools[p].PaidWhole() {
				b.e.others = append(b.e.others, p)
			}
		}
		if len(b.e.others) > 0 {
			if s := b.e.findIn(w, l, b.e.others); len(s) > 0 {
				return s
			}
		}
	}
	return nil
}
