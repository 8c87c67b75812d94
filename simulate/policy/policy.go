// Package policy has the scheduling policies: who starts first.
//
// To add one, write a file that adds it to the Catalog in its init, and settings
// of its own to OwnSettings. It sees nothing but the simulate.Turn. The battery of package simulate, TestConform,
// then holds it to the laws; it has to declare what it does: see
// simulate.Preemptor and simulate.Believer.
package policy

import (
	"capcli"
	"capcli/simulate"
)

// Catalog is the policies by name.
var Catalog = capcli.Catalog[simulate.NewPolicy]{Kind: "policy"}

// OwnSettings is the settings that policies declare for themselves, each a length
// of time of at least so much, by the name that a scenario and
// simulate.Settings.Own know them by.
var OwnSettings = capcli.Catalog[capcli.Seconds]{Kind: "policy setting"}

// Common returns the policies that a cluster is likely to run, to be tried in place
// of the one it has.
func Common() []string { return []string{"fifo", "easy", "sjf", "fair"} }
