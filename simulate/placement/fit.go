package placement

import "capcli/simulate"

func init() {
	Catalog.Add("consolidate", "the fewest nodes that can hold the gang, and waits for them", func() simulate.Placement { return consolidate })
	Catalog.Add("first", "the lowest node with room; a gang that fits on a node is never split", func() simulate.Placement { return first })
	Catalog.Add("worst", "the node with the most free GPUs; a gang that fits on a node is never split", func() simulate.Placement { return worst })
}

// fit places a gang up to a node's size on the node that it likes best. A larger gang
// takes wholly free nodes, and its remainder goes to one more node.
type fit struct {
	whole     taste // for a gang on one node
	remainder taste // for what is left of a larger gang
}

var (
	// consolidate is the placement of Helios (Hu et al., "Characterization and
	// Prediction of Deep Learning Workloads", SC 2021): the tightest node with room,
	// and the emptiest for a remainder.
	consolidate = fit{tightest, roomiest}
	// first is first fit (Johnson 1973): the lowest node with room.
	first = fit{lowest, lowest}
	// worst is worst fit (Johnson 1973): the emptiest node, which spreads load and
	// breaks up every hole. It is there to be compared with.
	worst = fit{roomiest, roomiest}
)

// Place puts l on one node, or over whole nodes and one more.
func (f fit) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	return gang(c, l, pools, f.whole, f.remainder, dst)
}
