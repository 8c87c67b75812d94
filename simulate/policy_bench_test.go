package simulate_test

import (
	"context"
	"runtime"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// BenchmarkPolicies is the cost of a job under each policy on 64 nodes of 8
// that are busy, and under each placement with fifo.
func BenchmarkPolicies(b *testing.B) {
	for _, pol := range policy.Catalog.All() {
		b.Run(pol.Name, func(b *testing.B) { benchRun(b, pol.Name, "count", 64, 0.95) })
	}
	for _, pl := range placement.Catalog.All() {
		b.Run("fifo-"+pl.Name, func(b *testing.B) { benchRun(b, "fifo", pl.Name, 1213, 0.8) })
	}
}

func benchRun(b *testing.B, policy, placement string, n int, load float64) {
	const jobs = 30_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		_, err := simulate.Run(context.Background(), simulate.Config{
			Start: capcli.NoTime, Jobs: poisson(jobs, 8*n, load), Policy: mustPolicy(b, policy), Placement: mustPlacement(b, placement), Pools: nodes(n, 8),
		})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(jobs*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/jobs, "allocs/job")
}

// BenchmarkOverload is the cost of a job where 1.4 times as much comes as can be done.
func BenchmarkOverload(b *testing.B) {
	for _, pol := range []string{"fifo", "easy", "conservative"} {
		b.Run(pol, func(b *testing.B) { benchRun(b, pol, "count", 64, 1.4) })
	}
}
