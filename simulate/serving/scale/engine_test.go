package scale_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/simulate/serving/scale"
)

// A service in the engine, with all the capacity that it wants and no lead time, goes step by step as it
// does alone.
func TestEngineEqualsPlay(t *testing.T) {
	fifo, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	pack, err := placement.Catalog.Get("pack")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, rapid.SampledFrom(scale.Catalog.Names()).Draw(t, "kind"))
		if rapid.Bool().Draw(t, "guard") && c.Scaler.Kind != "none" {
			c.Scaler.Budget = &scale.Budget{Hours: 0.05, Then: scale.BudgetStop}
		}
		want := play(t, c)
		newScaler, err := scale.NewScaler(c.Scaler)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Until: c.Length * capcli.Seconds(len(c.Load)), List: []capcli.Job{}, Policy: fifo, Placement: pack(),
			Pools: []simulate.Pool{{Name: "p", Terms: simulate.OnDemand, Nodes: 100, GPUsPerNode: 1}},
			Services: []simulate.Service{{
				Name: "s", GPUs: 1, Length: c.Length, Load: c.Load, PerReplica: c.PerUnit, Late: c.LateSteps, Initial: c.Initial,
				Cold: c.Length * capcli.Seconds(c.ColdSteps), Scaler: newScaler,
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Services[0]
		for i, x := range s.Steps {
			if got := (scale.Row{Step: i, Load: x.Load, Ready: x.Ready, Loading: x.Loading, Served: x.Served, Backlog: x.Backlog, Desired: x.Desired}); got != want.Rows[i] {
				t.Fatalf("the engine: %+v, alone: %+v", got, want.Rows[i])
			}
		}
		if s.Late != want.Summary.Late || s.Changes != want.Summary.Changes || len(s.Steps) != len(want.Rows) {
			t.Fatalf("the engine: %d late, %d changes, %d steps; alone: %+v", s.Late, s.Changes, len(s.Steps), want.Summary)
		}
	})
}
