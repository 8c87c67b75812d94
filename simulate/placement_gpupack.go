package simulate

func init() {
	Placements.Add("gpu-packing", "GPUs in use first, then free GPUs of nodes in use, then free nodes", func() Placement { return &gpuPacking{} })
}

// gpuPacking fills GPUs, then nodes: a share goes to the GPU in use that it
// fills best, what needs free GPUs goes to a node in use, and only then a free
// node is opened, the smallest first (Weng et al., "MLaaS in the Wild", NSDI
// 2022, section 6).
type gpuPacking struct{ drawn drawn }

func (g *gpuPacking) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	if l.GPUs == 0 {
		return leastInOrder(c, l, pools, g.drawn.nodes(c), noScore, dst)
	}
	const nodeInUse, nodeFree = 1000, 2000 // above any share of a GPU
	return leastInOrder(c, l, pools, g.drawn.nodes(c), func(n int) float64 {
		if nd := &c.nodes[n]; int(nd.free) == c.pools[nd.pool].GPUsPerNode {
			return nodeFree + float64(nd.free)
		}
		if l.GPUMilli > 0 && !c.fluid(c.nodes[n].pool) {
			if has := c.share(n, c.Device(l, n)); has < 1000 {
				return float64(has)
			}
		}
		return nodeInUse
	}, dst)
}
