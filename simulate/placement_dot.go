package simulate

import "math"

func init() {
	Placements.Add("dot-product", "the node whose free GPUs and CPUs are least like what the job wants of each", func() Placement { return &dotProduct{} })
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

func (d *dotProduct) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	most := d.largest.in(c)
	return leastInOrder(c, l, pools, d.drawn.nodes(c), func(n int) float64 {
		dot := share(l.Milli(), most.gpus)*share(c.freeMilli(n), most.gpus) + share(l.CPUMilli, most.cpu)*share(c.nodes[n].cpu, most.cpu)
		return math.Floor(100 * dot)
	}, dst)
}
