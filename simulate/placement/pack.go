package placement

import "capcli/simulate"

func init() {
	Catalog.Add("pack", "whole free nodes first and the rest on the fullest; splits a gang before it refuses one", func() simulate.Placement { return pack{} })
}

// pack keeps nodes full: a gang goes to the tightest node with room, a larger one to
// wholly free nodes with the remainder on the tightest. When no node has room for a
// gang in one piece, pack splits it over the fullest nodes, so that no gang waits while
// the pool has the GPUs, CPUs and memory for it: first-fit-decreasing turned around
// (Johnson 1973).
type pack struct{}

// Probe returns the placement itself: it splits gangs over any nodes.
func (p pack) Probe() simulate.Placement { return p }

func (pack) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	base := len(dst)
	if dst = gang(c, l, pools, tightest, tightest, dst); len(dst) > base || l.GPUs <= 1 {
		return dst
	}
	for _, p := range pools {
		if c.FreeGPUs(p) >= l.GPUs {
			if dst = spread(c, l, p, dst); len(dst) > base {
				return dst
			}
		}
	}
	return dst
}

// spread splits l over pool p: wholly free nodes while the gang fills them, then the
// fullest nodes, each up to its CPUs and memory.
func spread(c *simulate.Cluster, l *simulate.Live, p int, dst []simulate.Slice) []simulate.Slice {
	base, want, size := len(dst), l.GPUs, c.Pool(p).GPUsPerNode
	for n := c.NextRoom(p, size, -1); n >= 0 && want >= size; n = c.NextRoom(p, size, n) {
		if c.FitsPart(l, n, size) {
			dst = append(dst, c.Part(l, n, size))
			want -= size
		}
	}
	for want > 0 {
		n := fullest(c, l, p, dst[base:])
		if n < 0 {
			return dst[:base]
		}
		g := mostFitting(c, l, n, want)
		dst = append(dst, c.Part(l, n, g))
		want -= g
	}
	return dst
}

// fullest returns the node of pool p with the fewest free GPUs, at least one, and the
// CPUs and memory for one of l's GPUs, or -1. It leaves out the nodes of taken.
func fullest(c *simulate.Cluster, l *simulate.Live, p int, taken []simulate.Slice) int {
	return pick(c, l, p, 1, tightest, taken)
}

// mostFitting returns the largest number of l's GPUs, up to want, that fit on node n.
func mostFitting(c *simulate.Cluster, l *simulate.Live, n, want int) int {
	g := min(want, c.NodeFree(n))
	for g > 1 && !c.FitsPart(l, n, g) {
		g--
	}
	return g
}
