package placement

import (
	"math"

	"capcli/simulate"
)

func init() {
	Catalog.Add("dot-product", "the node whose free GPUs and CPUs are least like what the job wants of each", func() simulate.Placement { return &dotProduct{} })
}

// dotProduct takes the node with the least dot product of the job's demand and the free
// capacity, over GPUs and CPUs as shares of the largest node's. This is packing by
// alignment (Grandl et al., "Multi-Resource Packing for Cluster Schedulers", SIGCOMM
// 2014), turned round to fill nodes as in Weng et al., USENIX ATC 2023. The score is a
// whole number up to 100, as in Kubernetes. Equal nodes have a random order that is
// drawn once.
type dotProduct struct {
	largest largest
	drawn   drawn
}

func (d *dotProduct) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	most := d.largest.measure(c)
	return leastInOrder(c, l, pools, d.drawn.nodes(c), func(n int) float64 {
		dot := share(l.Milli(), most.gpus)*share(c.FreeMilli(n), most.gpus) + share(l.CPUMilli, most.cpu)*share(c.NodeCPU(n), most.cpu)
		return math.Floor(100 * dot)
	}, dst)
}
