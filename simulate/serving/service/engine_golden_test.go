package service_test

import (
	"context"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/service"
)

// Each published case gives the published rows in the engine too, with its own scaler, on a pool without
// limit. Cases with losses need nodes that fail: the engine's own tests have them.
func TestEngineEqualsPublishedStepTables(t *testing.T) {
	names, err := filepath.Glob(scaleGolden + "/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Skip("no published step tables: ../shared/golden/inference/scale is absent")
	}
	fifo, _ := policy.Catalog.Get("fifo")
	count, _ := placement.Catalog.Get("count")
	for _, name := range names {
		want := readStepTable(t, name)
		s, err := service.Parse("case.json", want.Case)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.ScaleCase(nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Losses != nil {
			continue
		}
		scaler, err := scale.NewScaler(c.Scaler)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Until: c.Length * capcli.Seconds(len(c.Load)), List: []capcli.Job{}, Policy: fifo, Placement: count(),
			Pools: []simulate.Pool{{Name: "cloud", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100_000}},
			Services: []simulate.Service{{
				Name: "s", GPUs: 1, Length: c.Length, Load: c.Load, PerReplica: c.PerUnit, Late: c.LateSteps, Initial: c.Initial,
				Cold: c.Length * capcli.Seconds(c.ColdSteps), Scaler: scaler,
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := r.Services[0].Steps
		if len(steps) != len(want.Rows) {
			t.Fatalf("%s: %d steps, want %d", filepath.Base(name), len(steps), len(want.Rows))
		}
		for i, x := range steps {
			got := [7]int64{int64(i), x.Load, int64(x.Ready), int64(x.Loading), x.Served, x.Backlog, int64(x.Desired)}
			if got != want.Rows[i] {
				t.Fatalf("%s: row %v, want %v", filepath.Base(name), got, want.Rows[i])
			}
		}
	}
}
