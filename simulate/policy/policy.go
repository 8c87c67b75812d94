// Package policy has the scheduling policies: who starts first.
//
// To add one, write a file that adds it to the Catalog in its init. It sees
// nothing but the simulate.Turn. The battery of package simulate, TestConform,
// then holds it to the laws; it has to declare what it does: see
// simulate.Preemptor and simulate.Believer.
package policy

import (
	"capcli"
	"capcli/simulate"
)

// Catalog is the policies by name.
var Catalog = capcli.Catalog[simulate.NewPolicy]{Kind: "policy"}
