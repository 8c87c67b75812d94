package simulate

import "capcli"

// Placement says where a job goes. It appends to dst the slices that l would
// take in one of pools (all of one pool, for a gang is not split over pools)
// and gives dst back unchanged when l does not fit. It changes nothing.
//
// Pools come in the order of the scenario and have equal rank; each has at
// least as many free GPUs as l wants.
type Placement interface {
	Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice
}

// Counting is a Placement that looks at numbers of GPUs alone: any free GPUs of a
// pool serve, and CPUs and memory do not count.
type Counting interface {
	CountsGPUs()
}

// Placements are the placements by name.
var Placements = capcli.Catalog[func() Placement]{Kind: "placement"}

func init() {
	Placements.Add("count", "GPUs only: any free GPUs of a pool serve, on however many nodes", func() Placement { return count{} })
}

// count looks at the number of free GPUs and nothing else: a gang may be spread
// over any nodes. It is what a batch simulator of identical processors does.
type count struct{}

// CountsGPUs declares that nodes, CPUs and memory do not count.
func (count) CountsGPUs() {}

func (count) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	if l.GPUMilli > 0 || l.GPUs == 0 {
		return firstNode(c, l, pools, dst)
	}
	p := pools[0]
	want := l.GPUs
	for n := c.nextFree(p, -1); n >= 0; n = c.nextFree(p, n) {
		g := min(want, int(c.nodes[n].free))
		dst = append(dst, Slice{Pool: int32(p), Node: int32(n), GPUs: int32(g)})
		if want -= g; want == 0 {
			return dst
		}
	}
	panic("simulate: a pool has fewer free GPUs than it says")
}

// firstNode takes the first node that has room for all of l.
func firstNode(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	for _, p := range pools {
		for n := c.candidate(l, p, -1); n >= 0; n = c.candidate(l, p, n) {
			if c.Fits(l, n) {
				return append(dst, c.whole(l, n))
			}
		}
	}
	return dst
}
