package mix_test

import (
	"fmt"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
)

// partitionedWorld is a day of work in two or three partitions: training holds 4 GPUs all the time, a service holds 3
// replicas of one GPU, and batch holds 2 GPUs for half of the day.
const partitionedWorld = `capcli: scenario/v1
name: partitioned
period: 2027-03-01 to 2027-03-01
jobs:
  generate:
    classes:
      - {name: training, kind: steady, gpus: 4, job_gpus: 2, every: 24h, partition: training}
      - {name: inference, kind: service, replicas: 3, job_gpus: 1, every: 24h, partition: inference}
      - {name: batch, kind: steady, gpus: 2, job_gpus: 1, every: 24h, busy_share: 0.5, partition: batch}
capacity:
%s
policy: easy
overflow: {order: [spot, on_demand]}
`

// planSizes plans over some sizes of the base of a scenario.
func planSizes(t *testing.T, text, vary string) *mix.Result {
	t.Helper()
	s, err := scenarios.Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := mix.NewRequest(c)
	q.Vary, q.Runs = []string{vary}, 1
	r, err := mix.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBoundOfPartitions holds the bound against sums by hand: where nothing is wasted it is the cost itself.
func TestBoundOfPartitions(t *testing.T) {
	for _, tt := range []struct {
		name, pools string
		cost        float64 // 24 h: training 4 GPUs, inference 3, batch 2 for 12 h
	}{
		{
			"no pool is shared", `
  - {name: base, kind: reserved, partition: training, gpus: 4, price: 2}
  - {name: flex, kind: on_demand, partition: inference, max_gpus: 3, price: 4}
  - {name: spot, kind: spot, partition: batch, max_gpus: 2, price: 1}`,
			4*24*2 + 3*24*4 + 2*12*1,
		},
		{
			"on demand serves all", `
  - {name: base, kind: reserved, partition: training, gpus: 4, price: 2}
  - {name: flex, kind: on_demand, max_gpus: 100, price: 4}
  - {name: spot, kind: spot, partition: batch, max_gpus: 2, price: 1}`,
			4*24*2 + 3*24*4 + 2*12*1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := planSizes(t, fmt.Sprintf(partitionedWorld, tt.pools[1:]), "capacity.base.gpus=4")
			if r.Best == nil || *r.Best.Cost != capcli.USDOf(tt.cost) {
				t.Fatalf("best %+v, want a cost of %.0f", r.Best, tt.cost)
			}
			// The service takes 3 of the 9 GPUs at most; its work is in the bound where the plan's service is.
			t.Logf("bound %+v", r.Bound)
			if r.Bound.Cost > *r.Best.Cost || r.Bound.Service() && r.Bound.Gap > 1e-4 {
				t.Errorf("bound %+v of %s", r.Bound, *r.Best.Cost)
			}
		})
	}
}

// The gap of the library's three tiers is that of a plan in which hardly anything is wasted.
func TestBoundOfThreeTiers(t *testing.T) {
	text, known := scenarios.Library("three-tier")
	if !known {
		t.Fatal("the library has no three-tier")
	}
	if r := planSizes(t, string(text), "capacity.training.gpus=120"); r.Best == nil || r.Bound.Gap > 0.005 || r.Bound.Cost <= 0 || r.Bound.Cost > *r.Best.Cost {
		t.Errorf("gap %.4f, bound %+v", r.Bound.Gap, r.Bound)
	}
}
