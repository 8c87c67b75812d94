package simulate

import "math/bits"

// taste is which node a placement likes among those with room; it is all that
// first, best and worst differ in.
type taste uint8

const (
	lowest   taste = iota // the lowest number
	tightest              // the fewest free GPUs
	roomiest              // the most free GPUs
)

// onOneNode puts all of l on the node of pools that t likes; dst comes back as
// it was when no node has room.
func onOneNode(c *Cluster, l *Live, pools []int, t taste, dst []Slice) []Slice {
	best := -1
	for _, p := range pools {
		if l.GPUs > c.pools[p].GPUsPerNode {
			continue
		}
		n := c.pick(l, p, l.GPUs, t, nil)
		if n < 0 {
			continue
		}
		if best < 0 || c.likes(t, n, best) {
			best = n
		}
		if t == lowest {
			break
		}
	}
	if best < 0 {
		return dst
	}
	return append(dst, c.whole(l, best))
}

// onWholeNodes splits l, larger than a node of pool p, over wholly free nodes,
// lowest numbers first, with the remainder on one more node that t likes.
func onWholeNodes(c *Cluster, l *Live, p int, t taste, dst []Slice) []Slice {
	size := c.pools[p].GPUsPerNode
	base := len(dst)
	for n := c.room(p, size, -1); n >= 0 && len(dst)-base < l.GPUs/size; n = c.room(p, size, n) {
		if c.fitsPart(l, n, size) {
			dst = append(dst, c.part(l, n, size))
		}
	}
	if len(dst)-base < l.GPUs/size {
		return dst[:base]
	}
	if rest := l.GPUs % size; rest > 0 {
		n := c.pick(l, p, rest, t, dst[base:])
		if n < 0 {
			return dst[:base]
		}
		dst = append(dst, c.part(l, n, rest))
	}
	return dst
}

// gang places l on one node where one of pools has nodes of that size and room
// there, else over several nodes of the first pool that has them. small and
// rest are the tastes for a gang on one node and for the remainder of a larger
// one.
func gang(c *Cluster, l *Live, pools []int, small, rest taste, dst []Slice) []Slice {
	base := len(dst)
	if dst = onOneNode(c, l, pools, small, dst); len(dst) > base {
		return dst
	}
	for _, p := range pools {
		if l.GPUs > c.pools[p].GPUsPerNode && c.Free(p) >= l.GPUs {
			if dst = onWholeNodes(c, l, p, rest, dst); len(dst) > base {
				return dst
			}
		}
	}
	return dst
}

// pick is the node of pool p with room for gpus of l's GPUs that t likes best,
// none of taken, or -1.
func (c *Cluster) pick(l *Live, p, gpus int, t taste, taken []Slice) int {
	switch {
	case l.GPUs == 0 || l.GPUMilli > 0 || (t != lowest && c.state[p].levels == nil):
		return c.pickByScan(l, p, gpus, t, taken)
	case t == lowest:
		for n := c.room(p, gpus, -1); n >= 0; n = c.room(p, gpus, n) {
			if c.fitsPart(l, n, gpus) && !onNode(taken, n) {
				return n
			}
		}
	case t == tightest:
		for free := gpus; free <= c.pools[p].GPUsPerNode; free++ {
			if n := c.pickAt(l, p, gpus, free, taken); n >= 0 {
				return n
			}
		}
	default:
		for free := c.pools[p].GPUsPerNode; free >= gpus; free-- {
			if n := c.pickAt(l, p, gpus, free, taken); n >= 0 {
				return n
			}
		}
	}
	return -1
}

// pickAt is the lowest node of pool p with exactly free free GPUs that has the
// CPUs and memory too.
func (c *Cluster) pickAt(l *Live, p, gpus, free int, taken []Slice) int {
	for n := c.firstLevel(p, free, -1); n >= 0; n = c.firstLevel(p, free, n) {
		if c.fitsPart(l, n, gpus) && !onNode(taken, n) {
			return n
		}
	}
	return -1
}

// pickByScan looks at every node: for shares of a GPU and jobs without one, of
// which the levels say nothing, and for pools without levels.
func (c *Cluster) pickByScan(l *Live, p, gpus int, t taste, taken []Slice) int {
	best := -1
	for n := c.candidate(l, p, -1); n >= 0; n = c.candidate(l, p, n) {
		if gpus == l.GPUs && !c.Fits(l, n) || gpus != l.GPUs && (int(c.nodes[n].free) < gpus || !c.fitsPart(l, n, gpus)) || onNode(taken, n) {
			continue
		}
		if best < 0 || c.likes(t, n, best) {
			best = n
		}
		if t == lowest {
			break
		}
	}
	return best
}

// candidate is the next node of pool p after n (-1 at first) that might have
// room for some of l, or -1: it takes work and has something free of a GPU, if
// l wants any.
func (c *Cluster) candidate(l *Live, p, n int) int {
	s := &c.state[p]
	i := n - s.first
	if n < 0 {
		i = -1
	}
	if l.GPUs > 0 {
		if i = s.avail.next(i); i < 0 {
			return -1
		}
		return s.first + i
	}
	for i++; i < s.n; i++ {
		if nd := &c.nodes[s.first+i]; nd.up && !nd.draining {
			return s.first + i
		}
	}
	return -1
}

// likes tells whether t prefers node a to node b, where b has the lower number
// and so wins ties.
func (c *Cluster) likes(t taste, a, b int) bool {
	if t == lowest {
		return false
	}
	fa, fb := c.freeMilli(a), c.freeMilli(b)
	if fa == fb {
		fa, fb = c.nodes[a].cpu, c.nodes[b].cpu
	}
	if t == tightest {
		return fa < fb
	}
	return fa > fb
}

// room is the lowest node of pool p above after (-1 at first) that has at
// least gpus wholly free GPUs, or -1.
func (c *Cluster) room(p, gpus, after int) int {
	s := &c.state[p]
	if s.levels == nil {
		for n := c.nextFree(p, after); n >= 0; n = c.nextFree(p, n) {
			if int(c.nodes[n].free) >= gpus {
				return n
			}
		}
		return -1
	}
	i := after - s.first
	if after < 0 {
		i = -1
	}
	i++
	skip := uint64(1)<<(i&63) - 1 // of the first word, what is not above after
	for w := i >> 6; w < len(s.levels[0]); w++ {
		var any uint64
		for f := gpus; f < len(s.levels); f++ {
			any |= s.levels[f][w]
		}
		if any &^= skip; any != 0 {
			return s.first + w<<6 + bits.TrailingZeros64(any)
		}
		skip = 0
	}
	return -1
}

// fitsPart tells whether node n has the CPUs and memory that go with gpus of
// l's GPUs. It does not look at GPUs.
func (c *Cluster) fitsPart(l *Live, n, gpus int) bool {
	if l.CPUMilli == 0 && l.MemMiB == 0 {
		return true
	}
	if gpus == l.GPUs {
		return c.fitsHost(&c.nodes[n], l.CPUMilli, l.MemMiB)
	}
	s := c.part(l, n, gpus)
	return c.fitsHost(&c.nodes[n], s.CPUMilli, s.MemMiB)
}

// onNode tells whether one of slices is on node n.
func onNode(slices []Slice, n int) bool {
	for i := range slices {
		if int(slices[i].Node) == n {
			return true
		}
	}
	return false
}
