package service

import "capcli/scenarios/strict"

// Load says which requests come: those of a trace, or of a curve with a distribution of lengths.
type Load struct {
	From   string // file of requests, relative to the scenario; "" is none
	Format string // of From; "" is found out
}

func (s *Spec) loadFields() []strict.Field { return nil }

func (s *Spec) checkLoad(*strict.Object) {}
