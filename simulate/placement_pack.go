package simulate

func init() {
	Placements.Add("pack", "whole free nodes first and the rest on the fullest; splits a gang before it refuses one", func() Placement { return pack{} })
}

// pack keeps nodes full: a gang goes to the tightest node with room, a larger
// one to wholly free nodes and then the tightest for its remainder. Where no
// node has room for it in one piece it is split over the fullest nodes, so
// that no gang waits while the pool has the GPUs (and the CPUs and memory
// beside them): first-fit-decreasing turned around (Johnson 1973).
type pack struct{}

func (pack) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	base := len(dst)
	if dst = gang(c, l, pools, tightest, tightest, dst); len(dst) > base || l.GPUs <= 1 {
		return dst
	}
	for _, p := range pools {
		if c.Free(p) >= l.GPUs {
			if dst = spread(c, l, p, dst); len(dst) > base {
				return dst
			}
		}
	}
	return dst
}

// spread splits l over pool p: wholly free nodes while the gang fills them,
// then the fullest nodes, each as far as its CPUs and memory go.
func spread(c *Cluster, l *Live, p int, dst []Slice) []Slice {
	base, want, size := len(dst), l.GPUs, c.pools[p].GPUsPerNode
	for n := c.room(p, size, -1); n >= 0 && want >= size; n = c.room(p, size, n) {
		if c.fitsPart(l, n, size) {
			dst = append(dst, c.part(l, n, size))
			want -= size
		}
	}
	for want > 0 {
		n := c.fullest(l, p, dst[base:])
		if n < 0 {
			return dst[:base]
		}
		g := c.most(l, n, want)
		dst = append(dst, c.part(l, n, g))
		want -= g
	}
	return dst
}

// fullest is the node of pool p with the fewest free GPUs, but some, and the
// CPUs and memory for one of l's GPUs; none of taken, or -1.
func (c *Cluster) fullest(l *Live, p int, taken []Slice) int {
	return c.pick(l, p, 1, tightest, taken)
}

// most is the largest number of l's GPUs, up to want, for which node n has the
// GPUs, the CPUs and the memory.
func (c *Cluster) most(l *Live, n, want int) int {
	g := min(want, int(c.nodes[n].free))
	for g > 1 && !c.fitsPart(l, n, g) {
		g--
	}
	return g
}
