package simulate

import (
	"slices"

	"capcli"
	"capcli/simulate/topology"
)

// findLaidOut is Find for a job whose shape asks for a place. The pools have enough free GPUs. A shape
// with a mode goes where topology.Room places it, whatever the run's placement. Others go by the
// placement, which does not see the nodes that they may not have.
func (c *Cluster) findLaidOut(by Placement, l *Live, pools []int, dst []Slice) []Slice {
	lay, base := l.layout, len(dst)
	t, n := lay.topo, &lay.shape.Near
	t.can = t.can[:0]
	for _, p := range pools {
		if lay.pools[p].can {
			t.can = append(t.can, p)
		}
	}
	switch {
	case len(t.can) == 0:
		return dst
	case n.IsConfined() && l.GPUs > 0 && l.GPUMilli == 0 && l.profile == 0:
		dst = c.placeNear(l, t.can, dst)
	case n.Apart == "" && lay.beside == 0:
		dst = by.Place(c, l, t.can, dst)
	default:
		dst = c.placeHidden(by, l, t.can, dst)
	}
	for i := range dst[base:] {
		dst[base+i].layout = lay.mark(i)
	}
	return dst
}

// placeNear puts l into the domains of one of the pools. Of those that have room it takes the pool in
// which the domain that holds all of l is narrowest, the first of equals.
func (c *Cluster) placeNear(l *Live, pools []int, dst []Slice) []Slice {
	t, base, best := l.layout.topo, len(dst), 0
	for _, p := range pools {
		tree, at := t.pools[p].tree, &l.layout.pools[p]
		q, worker, ok := l.layout.request(&c.pools[p], tree, at, l.GPUs)
		if !ok {
			continue
		}
		room := t.roomOf(p)
		c.setRoom(room, l, p, worker)
		parts := room.Place(&q)
		if len(parts) == 0 {
			continue
		}
		wide := tree.Node() - tree.Spread(parts)
		if len(dst) > base && wide >= best {
			continue
		}
		dst, best = dst[:base], wide
		first := c.state[p].first
		for _, part := range parts {
			dst = append(dst, c.Part(l, first+part.Node, part.Pods*worker))
		}
		if wide == 0 {
			break
		}
	}
	return dst
}

// setRoom says how many of l's workers fit on each node of pool p.
func (c *Cluster) setRoom(room *topology.Room, l *Live, p, worker int) {
	s := &c.state[p]
	forbidden := c.forbidden(l, p)
	host := l.CPUMilli > 0 || l.MemMiB > 0
	for i := range s.n {
		nd := &c.nodes[s.first+i]
		n, free := 0, 0
		if nd.up && !nd.draining && (forbidden == nil || !forbidden[i]) {
			free = int(nd.free)
			n = min(free, l.GPUs) / worker
			for host && n > 0 && !c.FitsPart(l, s.first+i, n*worker) {
				n--
			}
		}
		room.Set(i, n)
		room.SetFree(i, free)
	}
}

// placeHidden asks the placement while the nodes that l may not have take no work.
func (c *Cluster) placeHidden(by Placement, l *Live, pools []int, dst []Slice) []Slice {
	t := l.layout.topo
	t.hidden = t.hidden[:0]
	can := pools[:0]
	for _, p := range pools {
		forbidden, s := c.forbidden(l, p), &c.state[p]
		for i := range forbidden {
			if nd := &c.nodes[s.first+i]; forbidden[i] && nd.up && !nd.draining {
				t.hidden = append(t.hidden, s.first+i)
				c.setUp(s.first+i, true, true)
			}
		}
		if s.free >= l.GPUs || l.GPUMilli > 0 && s.avail.next(-1) >= 0 {
			can = append(can, p)
		}
	}
	if len(can) > 0 {
		dst = by.Place(c, l, can, dst)
	}
	for _, n := range t.hidden {
		c.setUp(n, true, false)
	}
	return dst
}

// forbidden returns by node of pool p whether l may not run there for the jobs that do: a job of its own
// shape in a domain of Apart, or none of the shape of Beside. It returns nil if all nodes are open. The
// result is valid until the next call.
func (c *Cluster) forbidden(l *Live, p int) []bool {
	lay, t := l.layout, l.layout.topo
	apart := lay.shape.Near.Apart != "" && c.ties != nil
	beside := lay.beside > 0 && c.ties != nil && !c.isFirstOfItsKind(lay)
	if !apart && !beside {
		return nil
	}
	s, tree, at := &c.state[p], t.pools[p].tree, &lay.pools[p]
	t.marked = slices.Grow(t.marked[:0], s.n)[:s.n]
	clear(t.marked)
	if beside {
		for i := range t.marked {
			t.marked[i] = true
		}
		c.markDomains(t.marked, c.ties.jobs[lay.beside-1], s, tree, at.with, false)
	}
	if apart {
		c.markDomains(t.marked, c.ties.jobs[lay.counted-1], s, tree, at.apart, true)
	}
	return t.marked
}

// markDomains sets what nodes are marked as, in every domain of a level in which a node has jobs. Level -1
// is the whole pool.
func (c *Cluster) markDomains(marked []bool, jobs []int32, s *poolState, tree *topology.Tree, level int, as bool) {
	for i := 0; i < s.n; i++ {
		if jobs[s.first+i] == 0 {
			continue
		}
		from, to := 0, s.n
		if level >= 0 {
			from, to = tree.Nodes(level, tree.DomainOf(i, level))
		}
		for n := from; n < to; n++ {
			marked[n] = as
		}
		i = to - 1
	}
}

// isFirstOfItsKind reports whether the jobs of a layout want to be beside each other and none runs. The
// first may then start anywhere, as Kubernetes lets the first pod with an affinity to itself.
func (c *Cluster) isFirstOfItsKind(lay *layout) bool {
	return lay.beside == lay.counted && !slices.ContainsFunc(c.ties.jobs[lay.beside-1], func(n int32) bool { return n > 0 })
}

// mostIdle is how long a run goes on in which nothing runs and a job waits to be beside others.
const mostIdle = 31 * capcli.Day

// isStuck reports whether nothing has run for mostIdle while a job waits to be beside jobs of a shape of
// which none runs. No job will come any more, so the job would wait for ever, and others behind it may.
func (t *topo) isStuck() bool {
	if t.e.c.ties == nil || t.e.c.now-t.stopped < mostIdle {
		return false
	}
	for l := range t.e.allWaiting() {
		if l.layout != nil && l.layout.beside > 0 && !t.e.c.isFirstOfItsKind(l.layout) {
			return true
		}
	}
	return false
}

// settle gives all queues a turn if a job started that others want to be beside: at once, but at most
// maxPasses times within an instant, because preemptions could repeat without end; then a second later.
func (t *topo) settle() {
	if !t.woken {
		return
	}
	t.woken = false
	if t.wokenAt != t.e.c.now {
		t.wokenAt, t.wakes = t.e.c.now, 0
	}
	for _, q := range t.e.queues {
		q.dirty, q.freed = true, true
	}
	at := t.e.c.now
	if t.wakes++; t.wakes > maxPasses {
		at++
	}
	t.e.agenda.call(at, nothing) // the queues are marked
}
