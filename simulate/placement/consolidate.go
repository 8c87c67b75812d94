package placement

import "capcli/simulate"

func init() {
	Catalog.Add("consolidate", "the fewest nodes that can hold the gang, and waits for them", func() simulate.Placement { return consolidate{} })
}

// consolidate is the placement of Helios (Hu et al., "Characterization and
// Prediction of Deep Learning Workloads", SC 2021): a gang up to a node's size
// goes to the tightest node with room, a larger one takes wholly free nodes and
// its remainder goes to the emptiest node that is left.
type consolidate struct{}

func (consolidate) Place(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Slice) []simulate.Slice {
	return gang(c, l, pools, tightest, roomiest, dst)
}
