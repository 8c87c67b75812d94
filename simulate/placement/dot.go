package placement

import (
	"math"

	"capcli/simulate"
)

func init() {
	Catalog.Add("dot-product", "the node whose free GPUs and CPUs are least like what the job wants of each", func() simulate.Placement { return &dotProduct{} })
}

// dotProduct takes the node where the dot product of what the job wants and
// what is free, over GPUs and CPUs against the largest node's, is least: packing
// by alignment (Grandl et al., "Multi-Resource Packing for Cluster Schedulers",
// SIGCOMM 2014), turned to fill nodes up as in Weng et al., USENIX ATC 2023. As
// a score of Kubernetes is a whole number up to 100, so is this; equals go by an
// order drawn once.
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
