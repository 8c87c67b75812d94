package placement

import "capcli/simulate"

func init() {
	Catalog.Add("clustering", "jobs of one size together on the same nodes", func() simulate.Placement { return &clustering{} })
}

// clustering puts jobs of one size on the same nodes. It prefers nodes with only jobs
// of that size, then nodes with some, then free nodes, then others, and the fullest
// among equals (GPU clustering of Gandiva, Xiao et al., OSDI 2018, as in Weng et al.,
// USENIX ATC 2023). Jobs that share a GPU are one size.
type clustering struct {
	on    []map[int]int // by node: jobs by size
	real  *simulate.Cluster
	drawn drawn
}

// Observe tracks which sizes each node holds.
func (k *clustering) Observe(e simulate.Event, c *simulate.Cluster) {
	if k.real == nil {
		k.real, k.on = c, make([]map[int]int, c.NodeCount())
	}
	by := -1
	switch e.Kind {
	case simulate.Start:
		by = 1
	case simulate.Finish, simulate.Preempt:
	default:
		return
	}
	size := sizeOf(e.Job)
	if size < 0 {
		return
	}
	for i := range e.Job.Slices() {
		n := e.Job.Slices()[i].Node
		if k.on[n] == nil {
			k.on[n] = map[int]int{}
		}
		if k.on[n][size] += by; k.on[n][size] == 0 {
			delete(k.on[n], size)
		}
	}
}

// mostGPUs is more than a node has free in any pool that is not Fluid, in thousandths
// of GPUs.
const mostGPUs = 64_000

// sizeOf returns the number of GPUs of l, 0 for a share of one and -1 for none.
func sizeOf(l *simulate.Live) int {
	switch {
	case l.GPUs == 0:
		return -1
	case l.GPUMilli > 0:
		return 0
	}
	return l.GPUs
}

func (k *clustering) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	switch {
	case c != k.real:
		return gang(c, l, pools, tightest, tightest, dst)
	case l.GPUs == 0:
		return leastInOrder(c, l, pools, k.drawn.nodes(c), noScore, dst)
	}
	size := sizeOf(l)
	return leastInOrder(c, l, pools, k.drawn.nodes(c), func(n int) float64 {
		band := 3.0
		switch on := k.on[n]; {
		case on[size] > 0 && len(on) == 1:
			band = 0
		case on[size] > 0:
			band = 1
		case len(on) == 0:
			band = 2
		}
		return band + share(c.FreeMilli(n), mostGPUs)
	}, dst)
}
