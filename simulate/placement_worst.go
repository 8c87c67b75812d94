package simulate

func init() {
	Placements.Add("worst", "the node with the most free GPUs; a gang that fits on a node is never split", func() Placement { return worst{} })
}

// worst is worst fit (Johnson 1973): the emptiest node, which spreads load and
// breaks up every hole. It is there to be compared with.
type worst struct{}

func (worst) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	return gang(c, l, pools, roomiest, roomiest, dst)
}
