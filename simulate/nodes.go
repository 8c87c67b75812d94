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
			e.agenda.add(pool.From, Gain, poolChanges, nil, p)
		} else {
			e.deliver(p, true)
		}
		if pool.Until > 0 {
			e.agenda.add(pool.Until, Lose, poolChanges, nil, p)
		}
		e.follow(p)
		for i := range pool.Withheld {
			e.agenda.add(max(0, pool.Withheld[i].At), Gain, withhold, nil, p)
		}
	}
	e.win.planWindows()
}

// poolChanges is the handler of the delivery of a pool, or of its end.
func poolChanges(e *engine, p planned) { e.deliver(p.arg, p.kind() == Gain) }

// withhold is the handler of the next step of the Withheld of a pool. Its queues get a turn in which all
// jobs count.
func withhold(e *engine, ev planned) {
	p := ev.arg
	s := &e.c.state[p]
	e.touchPool(p)
	more := e.c.pools[p].Withheld[s.steps].Milli
	if s.steps > 0 {
		more -= e.c.pools[p].Withheld[s.steps-1].Milli
	}
	s.steps++
	e.win.withholdMore(p, more)
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
	at, n := max(c.At, e.c.now), e.c.state[p].first+c.Node
	if c.GPU > 0 {
		e.agenda.add(at, c.Kind, gpuChanges, nil, n*gpusTracked+c.GPU-1)
		return
	}
	e.agenda.add(at, c.Kind, nodeChanges, nil, n)
}

// gpusTracked bounds the number of a GPU on its node, in what gpuChanges is told.
const gpusTracked = 1 << 20

// gpuChanges is the handler of the failure of a GPU, or of its repair, as a pool's supply says.
func gpuChanges(e *engine, ev planned) {
	n, k := ev.arg/gpusTracked, ev.kind()
	p := int(e.c.nodes[n].pool)
	if e.c.pools[p].Buy != nil { // a GPU of a place, not of a node
		e.gpus.skipped++
	} else {
		e.gpus.breakGPU(n, ev.arg%gpusTracked, k == Lose)
		e.tell(k, nil, p, n)
	}
	e.follow(p)
}

// nodeChanges is the handler of a change of a node, as its pool's supply says.
func nodeChanges(e *engine, ev planned) {
	n, k := ev.arg, ev.kind()
	nd := &e.c.nodes[n]
	p := int(nd.pool)
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
	if e.buy.of[p] != nil {
		e.buy.boughtChange(n, k)
	}
	e.tell(k, nil, p, n)
	e.follow(p)
}

// deliver brings up all nodes of a pool, or ends the pool.
func (e *engine) deliver(p int, come bool) {
	s := &e.c.state[p]
	e.touchPool(p)
	if e.c.pools[p].Buy != nil {
		e.buy.openBought(e.buy.of[p], come)
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
	for _, p := range e.hooks.lose {
		p.lose(n)
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
