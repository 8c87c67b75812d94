package main

import (
	"capcli/scenarios"
	"capcli/simulate/billing"
)

// approval says who must sign for the best mix, where the scenario says who must
// for what.
func (r *mixResult) approval() *billing.Signature {
	tiers := r.base.Scenario.Approvals
	if r.best == nil || len(tiers) == 0 {
		return nil
	}
	s, err := r.scenarioOf()
	if err != nil { // it was found as a scenario
		return nil
	}
	return tiers.Signature(committedGPUs(s))
}

// approvalNotes is the same in a sentence.
func (r *mixResult) approvalNotes() []string {
	if a := r.approval(); a != nil {
		return []string{"approval: " + r.base.Scenario.Approvals.Say(a.GPUs)}
	}
	return nil
}

// committedGPUs is how many GPUs a scenario commits to, but for pools whose nodes
// are in a file.
func committedGPUs(s *scenarios.Scenario) int64 {
	n := int64(0)
	for i := range s.Capacity {
		c := &s.Capacity[i]
		switch {
		case !c.Kind.Committed():
		case c.GPUs > 0:
			n += int64(c.GPUs)
		default:
			n += int64(c.Nodes) * int64(c.GPUsPerNode)
		}
	}
	return n
}
