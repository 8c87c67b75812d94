package kueue

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
)

// fairSearch is one search for workloads to preempt by fair sharing. The request
// counts as used throughout.
type fairSearch struct {
	*preemption
	lists  map[*queue][]*workload // candidates left, in order
	pruned map[*node]bool         // nodes that nothing can be taken from any more
	taken  []target
}

// fair searches by the rules of fair sharing.
func (p *preemption) fair() []target {
	lists := map[*queue][]*workload{}
	for _, q := range p.c.queues {
		policy := p.q.rules.Preemption.Reclaim
		switch {
		case q == p.q:
			policy = p.q.rules.Preemption.WithinQueue
		case q.node.root() != p.q.node.root() || !q.node.exceedsAny(p.contested):
			continue
		}
		for _, w := range q.admitted {
			if p.holdsContested(w) && p.mayPreempt(policy, w) {
				lists[q] = append(lists[q], w)
			}
		}
		slices.SortFunc(lists[q], p.compareVictims)
	}
	f := &fairSearch{preemption: p, lists: lists, pruned: map[*node]bool{}}
	p.c.use(p.q, p.request, 1)
	fits := f.run()
	if fits {
		f.putBackFair()
	}
	for _, t := range f.taken {
		p.c.hold(t.w, 1)
	}
	p.c.use(p.q, p.request, -1)
	if !fits {
		return nil
	}
	return f.taken
}

// run takes candidates by the first strategy, then of those it refused by the
// second.
func (f *fairSearch) run() bool {
	strategies := f.c.config.Strategies
	if len(strategies) == 0 {
		strategies = []string{FinalShare, InitialShare}
	}
	within := !slices.ContainsFunc(f.contested, func(s slot) bool { return f.q.node.exceeds(s, 0) })
	refused := map[*queue][]*workload{}
	for q := f.nextQueue(); q != nil; q = f.nextQueue() {
		if q == f.q || within {
			reason := InCohortReclamation
			if q == f.q {
				reason = InClusterQueue
			}
			if f.take(f.pull(q), reason) {
				return true
			}
			continue
		}
		done := false
		for !done && len(f.lists[q]) > 0 {
			w := f.pull(q)
			if done = f.passes(strategies[0], q, w); !done {
				refused[q] = append(refused[q], w)
			} else if f.take(w, InCohortFairSharing) {
				return true
			}
		}
	}
	if len(strategies) < 2 {
		return false
	}
	f.lists, f.pruned = refused, map[*node]bool{}
	for q := f.nextQueue(); q != nil; q = f.nextQueue() {
		w := f.pull(q)
		f.lists[q] = nil // one of each queue
		if f.passes(InitialShare, q, w) && f.take(w, InCohortFairSharing) {
			return true
		}
	}
	return false
}

// pull takes the next candidate off a queue's list.
func (f *fairSearch) pull(q *queue) *workload {
	w := f.lists[q][0]
	f.lists[q] = f.lists[q][1:]
	return w
}

// take preempts w in thought and tells whether the request fits now.
func (f *fairSearch) take(w *workload, reason string) bool {
	f.c.hold(w, -1)
	f.taken = append(f.taken, target{w, reason})
	return f.fitsFair()
}

// fitsFair tells whether the request fits, which counts as used.
func (f *fairSearch) fitsFair() bool {
	f.c.use(f.q, f.request, -1)
	ok := f.fits(true)
	f.c.use(f.q, f.request, 1)
	return ok
}

func (f *fairSearch) putBackFair() {
	for i := len(f.taken) - 2; i >= 0; i-- {
		w := f.taken[i].w
		f.c.hold(w, 1)
		if f.fitsFair() {
			f.taken = slices.Delete(f.taken, i, i+1)
		} else {
			f.c.hold(w, -1)
		}
	}
}

// passes tells whether a strategy lets the preemptor take w of another queue. It
// compares the two nodes just below the common cohort.
func (f *fairSearch) passes(strategy string, q *queue, w *workload) bool {
	common := commonCohort(f.q.node, q.node)
	mine, other := f.q.node.childToward(common), q.node.childToward(common)
	if strategy == InitialShare {
		return mine.share(f.c).compare(other.share(f.c)) < 0
	}
	f.c.hold(w, -1)
	ok := mine.share(f.c).compare(other.share(f.c)) <= 0
	f.c.hold(w, 1)
	return ok
}

// nextQueue picks the queue from which to take next, from the root down along
// the highest shares. It returns nil when none is left.
func (f *fairSearch) nextQueue() *queue {
	if f.q.node.parent == nil {
		if len(f.lists[f.q]) == 0 {
			return nil
		}
		return f.q
	}
	root := f.q.node.root()
	for !f.pruned[root] {
		if q := f.descend(root); q != nil {
			return q
		}
	}
	return nil
}

// descend goes down from a cohort to the queue with the highest share. It
// returns nil where it came to a cohort that has none, which it prunes.
func (f *fairSearch) descend(c *node) *queue {
	var bestQueue, bestCohort *node
	for _, n := range c.children {
		if f.pruned[n] {
			continue
		}
		borrows := n.borrows() || f.q.node.isUnder(n)
		if !borrows || n.queue != nil && len(f.lists[n.queue]) == 0 {
			f.pruned[n] = true
			continue
		}
		switch {
		case n.queue == nil:
			if bestCohort == nil || n.share(f.c).compare(bestCohort.share(f.c)) > 0 {
				bestCohort = n
			}
		case bestQueue == nil || f.comesFirst(n, bestQueue):
			bestQueue = n
		}
	}
	switch {
	case bestCohort == nil && bestQueue == nil:
		f.pruned[c] = true
		return nil
	case bestQueue == nil || bestCohort != nil && bestCohort.share(f.c).compare(bestQueue.share(f.c)) >= 0:
		return f.descend(bestCohort)
	}
	return bestQueue.queue
}

// comesFirst tells whether queue a is to be taken from before queue b.
func (f *fairSearch) comesFirst(a, b *node) bool {
	if d := a.share(f.c).compare(b.share(f.c)); d != 0 {
		return d > 0
	}
	return f.compareVictims(f.lists[a.queue][0], f.lists[b.queue][0]) < 0
}

// borrows tells whether a node uses more than its quota of anything.
func (n *node) borrows() bool {
	for s := range n.usage {
		if n.exceeds(slot(s), 0) {
			return true
		}
	}
	return false
}

// standing is a head in the tournament of its tree: how it looks at each node
// from its queue up, with its usage added.
type standing struct {
	h       *head
	shares  map[*node]share
	borrows map[*node]bool // in what the head asks for
}

// winner returns the head that is processed next in fair sharing, that of the
// first tree that has one left.
func (c *cluster) winner(heads []*head) *head {
	standings := map[*queue]*standing{}
	for _, h := range heads {
		standings[h.w.queue] = c.standing(h)
	}
	for _, n := range c.nodes {
		if n.parent != nil {
			continue
		}
		if s := tournament(n, standings); s != nil {
			return s.h
		}
	}
	return nil
}

func (c *cluster) standing(h *head) *standing {
	s := &standing{h: h, shares: map[*node]share{}, borrows: map[*node]bool{}}
	c.use(h.w.queue, h.usage, 1)
	for n := h.w.queue.node; n != nil; n = n.parent {
		s.shares[n] = n.share(c)
		for at, v := range h.usage {
			if v > 0 && n.exceeds(slot(at), 0) {
				s.borrows[n] = true
			}
		}
	}
	c.use(h.w.queue, h.usage, -1)
	return s
}

// tournament returns the winner among the heads below n, nil where there is none.
func tournament(n *node, standings map[*queue]*standing) *standing {
	if n.queue != nil {
		return standings[n.queue]
	}
	var best *standing
	var at *node
	for _, child := range n.children {
		s := tournament(child, standings)
		if s != nil && (best == nil || s.compare(child, best, at) < 0) {
			best, at = s, child
		}
	}
	return best
}

// compare orders two heads that meet at a cohort, each at its child of it.
func (s *standing) compare(at *node, o *standing, other *node) int {
	return cmp.Or(capcli.Bit(!o.borrows[other])-capcli.Bit(!s.borrows[at]), s.shares[at].compare(o.shares[other]), s.h.compareHead(o.h))
}

// compareHead orders heads that are equal otherwise.
func (h *head) compareHead(o *head) int {
	a, b := h.w.spec, o.w.spec
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Arrival, b.Arrival), strings.Compare(a.tieName(), b.tieName()))
}
