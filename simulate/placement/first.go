package placement

import "capcli/simulate"

func init() {
	Catalog.Add("first", "the lowest node with room; a gang that fits on a node is never split", func() simulate.Placement { return first{} })
}

// first is first fit (Johnson 1973): the lowest node with room. A gang larger
// than a node takes wholly free nodes and has its remainder on one more.
type first struct{}

func (first) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	return gang(c, l, pools, lowest, lowest, dst)
}
