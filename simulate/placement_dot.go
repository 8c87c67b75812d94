package simulate

func init() {
	Placements.Add("dot-product", "the node whose free GPUs and CPUs are least like what the job wants of each", func() Placement { return dotProduct{} })
}

// dotProduct takes the node where the dot product of what the job wants and
// what is free, over GPUs and CPUs as shares of the node, is least: packing by
// alignment (Grandl et al., "Multi-Resource Packing for Cluster Schedulers",
// SIGCOMM 2014), turned to fill nodes up as in Weng et al., USENIX ATC 2023.
type dotProduct struct{}

func (dotProduct) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	return leastNode(c, l, pools, func(n int) float64 {
		p := &c.pools[c.nodes[n].pool]
		gpus := 1000 * int64(p.GPUsPerNode)
		return share(l.Milli(), gpus)*share(c.freeMilli(n), gpus) + share(l.CPUMilli, p.CPUMilli)*share(c.nodes[n].cpu, p.CPUMilli)
	}, dst)
}
