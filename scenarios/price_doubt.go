package scenarios

import (
	"fmt"
	"slices"

	"capcli/scenarios/money/prices"
	"capcli/simulate"
)

// PriceDoubts returns a sentence for each price by key that is for another GPU model or other terms
// than its pool. That may be intended, so it is no fault.
func (s *Scenario) PriceDoubts() []string {
	var out []string
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if q := c.Price.Quote; q != nil {
			out = append(out, c.doubts(q)...)
		}
		for _, q := range []*prices.Row{c.Price.Quote, c.OnDemand.Quote} {
			if q != nil && c.GPUModel != "" && !prices.SameModel(c.GPUModel, q.GPU) {
				out = append(out, fmt.Sprintf("%s: its GPUs are %s, and %s is the price of %s", c.Name, c.GPUModel, q.Key(), q.GPU))
			}
		}
		if q := c.OnDemand.Quote; q != nil && q.Term != "on_demand" {
			out = append(out, fmt.Sprintf("%s: on_demand_price is %s, which is no on-demand price", c.Name, q.Key()))
		}
	}
	return slices.Compact(out)
}

// doubts returns the mismatches between the terms of a pool and those of its price.
func (c *Capacity) doubts(q *prices.Row) []string {
	term, stated := prices.NormalTerm(c.Term)
	switch {
	case !c.Kind.Committed() && q.Committed():
		return []string{fmt.Sprintf("%s: it is paid while held, and %s is the price of a contract that is paid whether used or not", c.Name, q.Key())}
	case c.Product == perUse && q.Term == "on_demand", c.Product != perUse && q.Term == perUse:
		return []string{fmt.Sprintf("%s: its kind is %s, and its price is %s", c.Name, c.KindName(), q.Key())}
	case c.Kind == simulate.Spot && q.Term == "on_demand", c.Kind == simulate.OnDemand && q.Term == "spot", c.Kind == simulate.Reserved && q.Term == "spot":
		return []string{fmt.Sprintf("%s: its kind is %s, and its price is %s", c.Name, c.Kind, q.Key())}
	case c.Kind.Committed() && stated && q.Committed() && q.Term != "block" && term != q.Term:
		return []string{fmt.Sprintf("%s: its term is %s, and its price is %s", c.Name, c.Term, q.Key())}
	}
	return nil
}
