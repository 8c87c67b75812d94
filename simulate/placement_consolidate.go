package simulate

func init() {
	Placements.Add("consolidate", "the fewest nodes that can hold the gang, and waits for them", func() Placement { return consolidate{} })
}

// consolidate is the placement of Helios (Hu et al., "Characterization and
// Prediction of Deep Learning Workloads", SC 2021): a gang up to a node's size
// goes to the tightest node with room, a larger one takes wholly free nodes and
// its remainder goes to the emptiest node that is left.
type consolidate struct{}

func (consolidate) Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice {
	return gang(c, l, pools, tightest, roomiest, dst)
}
