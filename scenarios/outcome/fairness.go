package outcome

import (
	"capcli"
	"capcli/simulate"
)

// Fairness says how equally the tenants that submitted jobs fared. Its figures are nil with fewer
// than two such tenants.
//
// An index is that of Jain, Chiu and Hawe ("A Quantitative Measure of Fairness and Discrimination",
// DEC TR-301, 1984):
//
//	(sum of x)^2 / (n * sum of x^2)
//
// It is 1 where all tenants have the same, and 1/n where one has all.
type Fairness struct {
	GPUTime     *float64 `json:"gpu_time_index"`     // of GPU time held / weight
	Slowdown    *float64 `json:"slowdown_index"`     // of the mean bounded slowdown
	LeastServed *float64 `json:"least_served_share"` // max-min: least share of its possible work that a tenant got done
}

// FairnessOf returns the fairness of a run. used are the GPU times held, by tenant. It is empty for
// a run that cannot be priced, of which the fairness is not known.
func FairnessOf(tenants []simulate.TenantResult, used []capcli.GPUTime) Fairness {
	if len(used) == 0 {
		return Fairness{}
	}
	var held, slow []float64
	least := 1.0
	for i := range tenants {
		t := &tenants[i]
		if t.Jobs == 0 {
			continue
		}
		held = append(held, used[i].Hours()/t.Weight)
		slow = append(slow, t.MeanSlowdown)
		least = min(least, t.ServedShare())
	}
	if len(held) < 2 {
		return Fairness{}
	}
	return Fairness{GPUTime: jain(held), Slowdown: jain(slow), LeastServed: &least}
}

// jain returns Jain's index of x; nil if all are 0.
func jain(x []float64) *float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return nil
	}
	index := sum * sum / (float64(len(x)) * squares)
	return &index
}
