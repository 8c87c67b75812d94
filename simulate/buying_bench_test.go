package simulate_test

import (
	"context"
	"runtime"
	"testing"

	"capcli"
	"capcli/simulate"
)

// BenchmarkBought is the cost of a job on bought nodes that are ordered for what waits.
func BenchmarkBought(b *testing.B) {
	const n = 100_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		_, err := simulate.Run(context.Background(), simulate.Config{
			Start: capcli.NoTime, Jobs: poisson(n, 512, 0.8), Policy: mustPolicy(b, "fifo"), Placement: mustPlacement(b, "consolidate"),
			Pools: []simulate.Pool{{
				Name: "od", Terms: simulate.OnDemand, Nodes: 128, GPUsPerNode: 8,
				Buy: &simulate.Buying{Lead: func(int64) capcli.Seconds { return 240 }, Idle: 600},
			}},
		})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/job")
}
