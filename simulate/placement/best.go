package placement

import "capcli/simulate"

func init() {
	Catalog.Add("best", "the node with the least left over that suffices; a gang that fits on a node is never split", func() simulate.Placement { return &best{} })
}

// best is best fit (Johnson 1973): the node with the fewest free GPUs, the lowest
// number among equals, so that large holes stay whole. For a job that states CPUs it is
// the node with the least free GPUs and CPUs together, each as a share of the largest
// node's (multi-resource best fit, Weng et al., USENIX ATC 2023).
type best struct{ largest largest }

func (b *best) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	if l.CPUMilli == 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	most := b.largest.measure(c)
	return leastNode(c, l, pools, func(n int) float64 {
		return share(c.FreeMilli(n), most.gpus) + share(c.NodeCPU(n), most.cpu)
	}, dst)
}
