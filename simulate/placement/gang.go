package placement

import "capcli/simulate"

// taste says which node a placement prefers among those with room.
type taste uint8

const (
	lowest   taste = iota // the lowest number
	tightest              // the fewest free GPUs
	roomiest              // the most free GPUs
)

// onOneNode puts all of l on the node that t prefers. It returns dst unchanged when no
// node has room.
func onOneNode(c *simulate.Cluster, l *simulate.Live, pools []int, t taste, dst []simulate.Slice) []simulate.Slice {
	best := -1
	for _, p := range pools {
		if l.GPUs > c.Pool(p).GPUsPerNode {
			continue
		}
		n := pick(c, l, p, l.GPUs, t, nil)
		if n < 0 {
			continue
		}
		if best < 0 || likes(c, t, n, best) {
			best = n
		}
		if t == lowest {
			break
		}
	}
	if best < 0 {
		return dst
	}
	return append(dst, c.WholeSlice(l, best))
}

// onWholeNodes splits l, which is larger than a node of pool p, over wholly free nodes,
// lowest numbers first. The remainder goes to one more node that t prefers.
func onWholeNodes(c *simulate.Cluster, l *simulate.Live, p int, t taste, dst []simulate.Slice) []simulate.Slice {
	size := c.Pool(p).GPUsPerNode
	base := len(dst)
	for n := c.NextRoom(p, size, -1); n >= 0 && len(dst)-base < l.GPUs/size; n = c.NextRoom(p, size, n) {
		if c.FitsPart(l, n, size) {
			dst = append(dst, c.Part(l, n, size))
		}
	}
	if len(dst)-base < l.GPUs/size {
		return dst[:base]
	}
	if rest := l.GPUs % size; rest > 0 {
		n := pick(c, l, p, rest, t, dst[base:])
		if n < 0 {
			return dst[:base]
		}
		dst = append(dst, c.Part(l, n, rest))
	}
	return dst
}

// gang puts l on one node where a pool has nodes of that size and room. Otherwise it
// splits l over nodes of the first pool that has room. small is the taste for one node,
// rest the taste for the remainder of a larger gang.
func gang(c *simulate.Cluster, l *simulate.Live, pools []int, small, rest taste, dst []simulate.Slice) []simulate.Slice {
	base := len(dst)
	if dst = onOneNode(c, l, pools, small, dst); len(dst) > base {
		return dst
	}
	for _, p := range pools {
		if l.GPUs > c.Pool(p).GPUsPerNode && c.FreeGPUs(p) >= l.GPUs {
			if dst = onWholeNodes(c, l, p, rest, dst); len(dst) > base {
				return dst
			}
		}
	}
	return dst
}

// pick returns the node of pool p that t prefers among those with room for gpus of l's
// GPUs, or -1. It leaves out the nodes of taken.
func pick(c *simulate.Cluster, l *simulate.Live, p, gpus int, t taste, taken []simulate.Slice) int {
	switch {
	case l.GPUs == 0 || l.GPUMilli > 0 || (t != lowest && !c.Levelled(p)):
		return pickByScan(c, l, p, gpus, t, taken)
	case t == lowest:
		for n := c.NextRoom(p, gpus, -1); n >= 0; n = c.NextRoom(p, gpus, n) {
			if c.FitsPart(l, n, gpus) && !onNode(taken, n) {
				return n
			}
		}
	case t == tightest:
		for free := gpus; free <= c.Pool(p).GPUsPerNode; free++ {
			if n := pickAt(c, l, p, gpus, free, taken); n >= 0 {
				return n
			}
		}
	default:
		for free := c.Pool(p).GPUsPerNode; free >= gpus; free-- {
			if n := pickAt(c, l, p, gpus, free, taken); n >= 0 {
				return n
			}
		}
	}
	return -1
}

// pickAt returns the lowest node of pool p with exactly free free GPUs and with the
// CPUs and memory, or -1.
func pickAt(c *simulate.Cluster, l *simulate.Live, p, gpus, free int, taken []simulate.Slice) int {
	for n := c.FirstAtLevel(p, free, -1); n >= 0; n = c.FirstAtLevel(p, free, n) {
		if c.FitsPart(l, n, gpus) && !onNode(taken, n) {
			return n
		}
	}
	return -1
}

// pickByScan looks at every node: for shares of a GPU and jobs without one, of
// which the levels say nothing, and for pools without levels.
func pickByScan(c *simulate.Cluster, l *simulate.Live, p, gpus int, t taste, taken []simulate.Slice) int {
	best := -1
	for n := c.Candidate(l, p, -1); n >= 0; n = c.Candidate(l, p, n) {
		if gpus == l.GPUs && !c.Fits(l, n) || gpus != l.GPUs && (c.NodeFree(n) < gpus || !c.FitsPart(l, n, gpus)) || onNode(taken, n) {
			continue
		}
		if best < 0 || likes(c, t, n, best) {
			best = n
		}
		if t == lowest {
			break
		}
	}
	return best
}

// likes reports whether t prefers node a to node b. b has the lower number and wins
// ties.
func likes(c *simulate.Cluster, t taste, a, b int) bool {
	if t == lowest {
		return false
	}
	fa, fb := c.FreeMilli(a), c.FreeMilli(b)
	if fa == fb {
		fa, fb = c.NodeCPU(a), c.NodeCPU(b)
	}
	if t == tightest {
		return fa < fb
	}
	return fa > fb
}

func onNode(slices []simulate.Slice, n int) bool {
	for i := range slices {
		if int(slices[i].Node) == n {
			return true
		}
	}
	return false
}
