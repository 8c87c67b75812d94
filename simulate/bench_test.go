package simulate_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"capcli"
	"capcli/simulate"
)

// poisson is a stream of n jobs that offer the given load to gpus GPUs:
// exponential gaps and run times, sizes of powers of two up to eight.
func poisson(n, gpus int, load float64) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		rng := capcli.Seed(1).Stream("bench")
		sizes := [...]int{1, 1, 1, 1, 1, 2, 4, 8}
		const meanRun, meanSize = 3600.0, 19.0 / 8
		gap := meanRun * meanSize / (load * float64(gpus))
		var ids [64]string
		for i := range ids {
			ids[i] = fmt.Sprintf("job-%02d", i)
		}
		at := 0.0
		for i := range n {
			at += rng.ExpFloat64() * gap
			j := capcli.Job{
				ID: ids[i%len(ids)], Tenant: ids[i%16], Submit: capcli.Time(at), GPUs: sizes[rng.IntN(len(sizes))],
				Run: capcli.Seconds(math.Ceil(rng.ExpFloat64() * meanRun)), Deadline: capcli.NoTime,
			}
			j.Limit = j.Run * 2
			if !yield(j, nil) {
				return
			}
		}
	}
}

// BenchmarkEngine is the cost of a job inside the engine, by policy and number
// of jobs at equal load. jobs/s should stay flat, allocs/job near zero.
func BenchmarkEngine(b *testing.B) {
	const gpus = 512
	for _, pol := range []string{"fifo", "easy"} {
		for _, n := range []int{1e4, 1e5, 1e6, 1e7} {
			b.Run(fmt.Sprintf("%s/%d", pol, n), func(b *testing.B) {
				var before, after runtime.MemStats
				for b.Loop() {
					runtime.ReadMemStats(&before)
					_, err := simulate.Run(context.Background(), simulate.Config{
						Start: capcli.NoTime, Jobs: poisson(n, gpus, 0.8), Policy: mustPolicy(b, pol), Placement: mustPlacement(b, "count"),
						Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}},
					})
					if err != nil {
						b.Fatal(err)
					}
					runtime.ReadMemStats(&after)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(n), "allocs/job")
			})
		}
	}
}

// BenchmarkPassingOver is the cost of a job with skip while thousands wait that
// never start: for a model of which no GPU comes within the period.
func BenchmarkPassingOver(b *testing.B) {
	const jobs = 100_000
	for _, stuck := range []int{0, 1_000, 10_000} {
		b.Run(fmt.Sprint(stuck), func(b *testing.B) {
			for b.Loop() {
				all := make([]capcli.Job, stuck, stuck+jobs)
				for i := range all {
					all[i] = capcli.Job{ID: "stuck", GPUModel: "B", GPUs: 1 + i%8, Run: 60, Deadline: capcli.NoTime}
				}
				for j := range poisson(jobs, 512, 0.9) {
					j.GPUModel = "A"
					all = append(all, j)
				}
				_, err := simulate.Run(context.Background(), simulate.Config{
					Start: 0, Until: capcli.Seconds(all[len(all)-1].Submit) + 1, List: all, Policy: mustPolicy(b, "fifo"), Settings: simulate.Settings{Skip: true}, Placement: mustPlacement(b, "count"),
					Pools: []simulate.Pool{
						{Name: "a", Terms: simulate.Owned, GPUModel: "A", Nodes: 1, GPUsPerNode: 512},
						{Name: "b", Terms: simulate.Owned, GPUModel: "B", Nodes: 1, GPUsPerNode: 8, From: 1 << 40},
					},
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkOverflow is the cost of a job where more come than there is room
// for: a growing line of jobs whose patience has ended is offered each GPU that
// comes free on demand.
func BenchmarkOverflow(b *testing.B) {
	for _, jobs := range []int{1e5, 1e6} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			for b.Loop() {
				_, err := simulate.Run(context.Background(), simulate.Config{
					Start: capcli.NoTime, Jobs: poisson(jobs, 512, 1.3), Policy: mustPolicy(b, "fifo"), Placement: mustPlacement(b, "count"),
					Pools: []simulate.Pool{
						{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 256},
						{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 256},
					},
					Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: 300}}},
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
