package outcome

import (
	"math"
	"testing"

	"capcli"
	"capcli/simulate"
)

func TestFairness(t *testing.T) {
	tenant := func(weight, slowdown float64, possible, done int64) simulate.TenantResult {
		return simulate.TenantResult{Name: "t", Weight: weight, JobStats: simulate.JobStats{
			Jobs: 1, MeanSlowdown: slowdown, Possible: capcli.GPUTime(possible), Done: capcli.GPUTime(done),
		}}
	}
	check := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	hour := capcli.GPUTime(capcli.Hour) * capcli.GPUSecond
	// Twice the GPU time at twice the weight is equal; slowdowns 1 and 3 have index 16/20.
	f := FairnessOf([]simulate.TenantResult{tenant(1, 1, 10, 10), tenant(2, 3, 10, 4), {Name: "none", Weight: 1}}, []capcli.GPUTime{hour, 2 * hour, 0})
	check("GPU time", f.GPUTime, 1)
	check("slowdown", f.Slowdown, 0.8)
	check("least served", f.LeastServed, 0.4)
	// One of four has all: 1/4.
	f = FairnessOf([]simulate.TenantResult{tenant(1, 1, 0, 0), tenant(1, 1, 0, 0), tenant(1, 1, 0, 0), tenant(1, 1, 0, 0)}, []capcli.GPUTime{hour, 0, 0, 0})
	check("GPU time of one", f.GPUTime, 0.25)
	check("nothing possible", f.LeastServed, 1)
	if f = FairnessOf([]simulate.TenantResult{tenant(1, 1, 1, 1)}, []capcli.GPUTime{hour}); f != (Fairness{}) {
		t.Errorf("one tenant: got %+v, want nothing", f)
	}
}
