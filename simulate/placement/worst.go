package placement

import "capcli/simulate"

func init() {
	Catalog.Add("worst", "the node with the most free GPUs; a gang that fits on a node is never split", func() simulate.Placement { return worst{} })
}

// worst is worst fit (Johnson 1973): the emptiest node, which spreads load and
// breaks up every hole. It is there to be compared with.
type worst struct{}

func (worst) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	return gang(c, l, pools, roomiest, roomiest, dst)
}
