// Package placement has the placements: where a job goes.
//
// To add one, write a file that adds it to the Catalog in its init. It reads the
// simulate.Cluster and changes nothing. The battery of package simulate,
// TestConform, then holds it to the laws; what it leaves out it has to declare:
// see simulate.Counting.
package placement

import (
	"capcli"
	"capcli/simulate"
)

// Catalog is the placements by name. Each run needs a value of its own, for some
// remember what they saw.
var Catalog = capcli.Catalog[func() simulate.Placement]{Kind: "placement"}

// Prober is a placement that finds room where others do not, or the other way
// round: Probe returns one that finds room in the same cases.
type Prober interface {
	Probe() simulate.Placement
}

// Probe returns a placement that finds room for a job exactly when p does, though
// maybe elsewhere, and that remembers nothing: to ask what would fit. Without a
// Prober that is consolidate, which like most splits no gang that fits on a node.
func Probe(p simulate.Placement) simulate.Placement {
	if other, declared := p.(Prober); declared {
		return other.Probe()
	}
	return consolidate
}
