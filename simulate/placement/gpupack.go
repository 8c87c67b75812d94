package placement

import "capcli/simulate"

func init() {
	Catalog.Add("gpu-packing", "GPUs in use first, then free GPUs of nodes in use, then free nodes", func() simulate.Placement { return &gpuPacking{} })
}

// gpuPacking fills GPUs, then nodes: a share goes to the GPU in use that it
// fills best, what needs free GPUs goes to a node in use, and only then a free
// node is opened, the smallest first (Weng et al., "MLaaS in the Wild", NSDI
// 2022, section 6).
type gpuPacking struct{ drawn drawn }

func (g *gpuPacking) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	if l.GPUs == 0 {
		return leastInOrder(c, l, pools, g.drawn.nodes(c), noScore, dst)
	}
	const nodeInUse, nodeFree = 1000, 2000 // above any share of a GPU
	return leastInOrder(c, l, pools, g.drawn.nodes(c), func(n int) float64 {
		if free := c.NodeFree(n); free == c.Pool(c.NodePool(n)).GPUsPerNode {
			return nodeFree + float64(free)
		}
		if l.GPUMilli > 0 && !c.Pool(c.NodePool(n)).Fluid() {
			if has := c.DeviceFree(n, c.Device(l, n)); has < 1000 {
				return float64(has)
			}
		}
		return nodeInUse
	}, dst)
}
