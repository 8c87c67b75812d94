// Package policy has the scheduling policies, which decide which jobs start first.
//
// To add a policy, write a file whose init adds it to the Catalog, and its own settings to
// OwnSettings. A policy sees only the simulate.Turn, and declares its abilities: see
// simulate.Preemptor and simulate.Believer. TestConform of package simulate then tests it.
package policy

import (
	"capcli"
	"capcli/simulate"
)

// Catalog holds the policies by name.
var Catalog = capcli.Catalog[simulate.NewPolicy]{Kind: "policy"}

// OwnSettings holds the settings that policies declare themselves, with the least value of each.
// Scenarios and simulate.Settings.Own use these names. Every setting is a length of time.
var OwnSettings = capcli.Catalog[capcli.Seconds]{Kind: "policy setting"}

// OwnChoices holds the settings that policies declare themselves and that are one of several words;
// the first word is the default. The words false and true make a switch. Scenarios and
// simulate.Settings.Choices use these names.
var OwnChoices = capcli.Catalog[[]string]{Kind: "policy setting"}

// Common returns policies that many clusters run, as alternatives to the current one.
func Common() []string { return []string{"fifo", "easy", "sjf", "fair"} }
