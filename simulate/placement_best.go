package simulate

func init() {
	Placements.Add("best", "the node with the fewest free GPUs that suffice; a gang that fits on a node is never split", func() Placement { return best{} })
}

// best is best fit (Johnson 1973): the node that has the fewest free GPUs left
// over, the lowest number among equals, so that large holes stay whole.
type best struct{}

func (best) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	return gang(c, l, pools, tightest, tightest, dst)
}
