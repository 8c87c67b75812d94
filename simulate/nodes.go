package simulate

import (
	"iter"
	"slices"
)

// bringUp delivers the pools that exist at the start, plans the delivery and the end of the others,
// and plans the first change of each supply.
func (e *engine) bringUp() {
	for p := range e.c.pools {
		pool := &e.c.pools[p]
		if pool.From > 0 {
			e.agenda.add(pool.From, Gain, nil, wholePool, int32(p))
		} else {
			e.deliver(p, true)
		}
		if pool.Until > 0 {
			e.agenda.add(pool.Until, Lose, nil, wholePool, int32(p))
		}
		e.follow(p)
		for i := range pool.Withheld {
			e.agenda.add(max(0, pool.Withheld[i].At), Gain, nil, withholding, int32(p))
		}
	}
	e.planWindows()
}

// Values of the run field of a planned node event.
const (
	oneNode   = 0 // the node field is an index in the cluster; the event is from a supply
	wholePool = 1 // the node field is a pool that is delivered or ends

	withholding = 2 // the node field is a pool whose next step of Withheld begins

	oneGPU = 1 << 8 // more than this: the GPU that fails or is repaired, counted from 1

	windowStarts = 3 // the node field is a window that begins
	windowEnds   = 4 // the node field is a window that ends
)

// withhold begins the next step of pool p's Withheld. Its queues get a turn in which all jobs count.
func (e *engine) withhold(p int) {
	s := &e.c.state[p]
	e.touchPool(p)
	more := e.c.pools[p].Withheld[s.steps].Milli
	if s.steps > 0 {
		more -= e.c.pools[p].Withheld[s.steps-1].Milli
	}
	s.steps++
	e.withholdMore(p, more)
	for _, q := range s.queues {
		q.dirty, q.freed = true, true
	}
}

// follow plans the next change of pool p's supply.
func (e *engine) follow(p int) {
	s := e.c.pools[p].Supply
	if s == nil {
		return
	}
	c, ok := s.Next()
	if !ok {
		return
	}
	if c.Node < 0 || c.Node >= e.c.state[p].n {
		panic("simulate: a supply named a node that its pool does not have")
	}
	what := uint32(oneNode)
	if c.GPU > 0 {
		what = oneGPU + uint32(c.GPU)
	}
	e.agenda.add(max(c.At, e.c.now), c.Kind, nil, what, int32(e.c.state[p].first+c.Node))
}

// nodeChange carries out a planned change of one node, or of a whole pool.
func (e *engine) nodeChange(what, n int, k Kind) {
	switch what {
	case wholePool:
		e.deliver(n, k == Gain)
		return
	case withholding:
		e.withhold(n)
		return
	case windowStarts, windowEnds:
		e.windowChange(e.win.list[n], what == windowStarts)
		return
	case nodeComes:
		e.nodeCame(n)
		return
	case billEnds:
		e.billEnded(n)
		return
	}
	nd := &e.c.nodes[n]
	p := int(nd.pool)
	if what > oneGPU && e.c.pools[p].Buy != nil { // a GPU of a place, not of a node
		e.gpus.skipped++
		e.follow(p)
		return
	}
	if what > oneGPU {
		e.breakGPU(n, what-oneGPU-1, k == Lose)
		e.tell(k, nil, p, n)
		e.follow(p)
		return
	}
	switch k {
	case Drain:
		nd.noticed = e.c.now
		e.setNode(n, nd.delivered, nd.lost, true)
	case Lose:
		nd.lost = true
		e.evictFrom(n)
		e.setNode(n, nd.delivered, true, false)
	default:
		e.setNode(n, nd.delivered, false, false)
	}
	if e.buy != nil && e.buy.of[p] != nil {
		e.boughtChange(n, k)
	}
	e.tell(k, nil, p, n)
	e.follow(p)
}

// deliver brings up all nodes of a pool, or ends the pool.
func (e *engine) deliver(p int, come bool) {
	s := &e.c.state[p]
	e.touchPool(p)
	if e.c.pools[p].Buy != nil {
		e.openBought(e.buy.of[p], come)
		return
	}
	for n := s.first; n < s.first+s.n; n++ {
		nd := &e.c.nodes[n]
		if !come {
			nd.lost = true
			e.evictFrom(n)
			nd.lost = false
		}
		e.setNode(n, come, nd.lost, nd.leaving)
	}
	if e.c.pools[p].Terms.Committed() {
		s.account.offered = 0
		if come {
			s.account.offered = int64(e.c.pools[p].Capacity()) * 1000
		}
	}
	kind := Lose
	if come {
		kind = Gain
	}
	if e.c.now > 0 || !come {
		e.tell(kind, nil, p, -1)
	}
}

// setNode sets the state of a node. If the node now takes work, its queues get a turn.
func (e *engine) setNode(n int, delivered, lost, draining bool) {
	nd := &e.c.nodes[n]
	p := int(nd.pool)
	e.touchPool(p)
	nd.delivered, nd.lost, nd.leaving = delivered, lost, draining
	draining = draining || e.win.closed != nil && e.win.closed[n] > 0
	if e.c.setUp(n, delivered && !lost, draining) && nd.up && !draining {
		for _, q := range e.c.state[p].queues {
			q.dirty, q.freed = true, true
		}
	}
}

// evictFrom stops every job that has a part on node n. These jobs wait again. Replicas there are lost.
func (e *engine) evictFrom(n int) {
	if e.svc != nil {
		e.loseReplicas(func(_ *service, r *replica) bool { return r.isOn(n) })
	}
	queues := e.c.state[e.c.nodes[n].pool].queues
	if len(queues) == 0 {
		return
	}
	var gone []*Live
	for en := range e.running(queues[0].cell).All() {
		if l := en.Value.job; slices.ContainsFunc(l.slices, func(s Slice) bool { return int(s.Node) == n }) {
			gone = append(gone, l)
		}
	}
	for _, l := range gone {
		e.evict(l, true)
		e.tryAgain(l)
	}
}

// allRunning yields all running jobs, cell by cell.
func (e *engine) allRunning() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for i, q := range e.queues {
			if slices.ContainsFunc(e.queues[:i], func(o *queue) bool { return o.cell == q.cell }) {
				continue
			}
			for en := range e.running(q.cell).All() {
				if !yield(en.Value.job) {
					return
				}
			}
		}
	}
}

// allWaiting yields all waiting jobs, queue by queue.
func (e *engine) allWaiting() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for _, q := range e.queues {
			for en := range q.list.All() {
				if !yield(en.Value.job) {
					return
				}
			}
		}
	}
}
