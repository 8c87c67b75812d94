package placement

import "capcli/simulate"

func init() {
	Catalog.Add("count", "GPUs only: any free GPUs of a pool serve, on however many nodes", func() simulate.Placement { return count{} })
}

// count looks only at the number of free GPUs: a gang may be spread over any nodes. A
// batch simulator of identical processors does the same.
type count struct{}

// CountsGPUs declares that it ignores nodes, CPUs and memory.
func (count) CountsGPUs() {}

// Probe returns the placement itself: it splits gangs over any nodes.
func (c count) Probe() simulate.Placement { return c }

func (count) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	if l.GPUMilli > 0 || l.GPUs == 0 {
		return firstNode(c, l, pools, dst)
	}
	p := pools[0]
	want := l.GPUs
	for n := c.NextFree(p, -1); n >= 0; n = c.NextFree(p, n) {
		g := min(want, c.NodeFree(n))
		dst = append(dst, simulate.Slice{Pool: int32(p), Node: int32(n), GPUs: int32(g)})
		if want -= g; want == 0 {
			return dst
		}
	}
	panic("simulate: a pool has fewer free GPUs than it says")
}

// firstNode puts all of l on the first node with room.
func firstNode(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	for _, p := range pools {
		for n := c.Candidate(l, p, -1); n >= 0; n = c.Candidate(l, p, n) {
			if c.Fits(l, n) {
				return append(dst, c.WholeSlice(l, n))
			}
		}
	}
	return dst
}
