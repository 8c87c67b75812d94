package simulate_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/cause"
)

// BenchmarkWaits is the cost of being told why jobs wait, beside the same run
// untold: a busy cluster of nodes of eight with a backfilling policy.
func BenchmarkWaits(b *testing.B) {
	const n, gpus = 100_000, 512
	for _, told := range []bool{false, true} {
		b.Run(map[bool]string{false: "untold", true: "told"}[told], func(b *testing.B) {
			for b.Loop() {
				cfg := simulate.Config{
					Start: capcli.NoTime, Jobs: poisson(n, gpus, 0.95), Policy: mustPolicy(b, "easy"), Placement: mustPlacement(b, "consolidate"),
					Pools: []simulate.Pool{
						{Name: "base", Terms: simulate.Owned, Nodes: gpus / 8, GPUsPerNode: 8},
						{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 64, Lead: 300},
					},
					Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: 1800}}},
				}
				if told {
					cfg.Observers = append(cfg.Observers, &cause.Waits{})
				}
				if _, err := simulate.Run(context.Background(), cfg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
