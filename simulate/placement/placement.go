// Package placement has the placements, which decide where a job goes.
//
// To add one, write a file whose init adds it to the Catalog. A placement reads the
// simulate.Cluster, changes nothing, and declares what it ignores: see
// simulate.Counting. TestConform of package simulate then tests it.
package placement

import (
	"capcli"
	"capcli/simulate"
)

// Catalog has the placements by name. Each run needs its own value, because some keep
// state.
var Catalog = capcli.Catalog[func() simulate.Placement]{Kind: "placement"}

// prober is a placement that finds room where others do not, or the other way
// round: Probe returns one that finds room in the same cases.
type prober interface {
	Probe() simulate.Placement
}

// Probe returns a placement that finds room for a job exactly when p does, though
// maybe elsewhere, and that remembers nothing: to ask what would fit. Without a
// prober that is consolidate, which like most splits no gang that fits on a node.
func Probe(p simulate.Placement) simulate.Placement {
	if other, declared := p.(prober); declared {
		return other.Probe()
	}
	return consolidate
}
