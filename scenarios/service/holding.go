package service

import "capcli/scenarios/strict"

// Holding says which capacity of a scenario the replicas of a service may hold.
type Holding struct {
	Tenant    string
	Pools     []string // in order of preference; nil is all
	Displaces bool     // whether replicas take the GPUs of running jobs
}

func (s *Spec) holdingFields() []strict.Field { return nil }

func (s *Spec) checkHolding(*strict.Object) {}
