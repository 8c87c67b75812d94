package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestCountedCapacityIsNoNode plays jobs that state CPUs on nodes, with and
// without a large counted pool beside them that no job may use: best
// fit puts every job on the same node.
func TestCountedCapacityIsNoNode(t *testing.T) {
	rng := capcli.Seed(3).Stream("jobs")
	var jobs []capcli.Job
	for i := range 400 {
		j := capcli.Job{
			ID: fmt.Sprint(i), Submit: capcli.Time(i * 10), Run: capcli.Seconds(100 + rng.IntN(3000)), GPUs: 1 + rng.IntN(4),
			CPUMilli: int64(1+rng.IntN(24)) * 1000, Deadline: capcli.NoTime,
		}
		if rng.IntN(3) == 0 {
			j.GPUs, j.GPUMilli = 1, 100*(1+rng.IntN(9))
		}
		jobs = append(jobs, j)
	}
	places := func(pools ...simulate.Pool) (out []string) {
		_, err := simulate.Run(context.Background(), simulate.Config{
			List: jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "best"), Pools: pools,
			Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: -1}}},
			Observers: []simulate.Observer{placed(func(l *simulate.Live) { out = append(out, fmt.Sprint(l.ID, l.Slices())) })},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wide := simulate.Pool{Name: "wide", Terms: simulate.Owned, Nodes: 6, GPUsPerNode: 4, CPUMilli: 96_000}
	lean := simulate.Pool{Name: "lean", Terms: simulate.Owned, Nodes: 6, GPUsPerNode: 8, CPUMilli: 64_000}
	counted := simulate.Pool{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 5000}
	alone, beside := places(wide, lean), places(wide, lean, counted)
	if len(alone) != len(jobs) || !slices.Equal(alone, beside) {
		t.Errorf("the counted pool changed where jobs go: %d starts alone, %d beside it", len(alone), len(beside))
	}
}

// placed is an observer of jobs' starts.
type placed func(*simulate.Live)

func (f placed) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		f(e.Job)
	}
}
