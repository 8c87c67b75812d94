package simulate_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestLoadIsOverWhatWasOffered has a hundred GPU-hours come over ten hours, one
// job an hour, to pools with dates.
func TestLoadIsOverWhatWasOffered(t *testing.T) {
	const h = capcli.Hour
	var jobs []capcli.Job
	for i := range 11 {
		jobs = append(jobs, capcli.Job{
			Submit: capcli.Time(i) * capcli.Time(h), ID: "j", GPUs: 4, Run: 2 * h, Deadline: capcli.NoTime,
		})
	}
	pool := func(gpus int, from, until capcli.Seconds) simulate.Pool {
		return simulate.Pool{Name: "p", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: gpus, From: from, Until: until}
	}
	for _, c := range []struct {
		name     string
		pools    []simulate.Pool
		gpus     int
		capacity capcli.GPUTime // GPU-hours
	}{
		{"always", []simulate.Pool{pool(8, 0, 0)}, 8, 80},
		{"until half", []simulate.Pool{pool(8, 0, 5*h)}, 8, 40},
		{"from half on", []simulate.Pool{pool(8, 5*h, 0)}, 8, 40},
		{"a contract after another", []simulate.Pool{pool(8, 0, 5*h), pool(12, 5*h, 0)}, 12, 100},
		{"over each other", []simulate.Pool{pool(8, 0, 6*h), pool(12, 5*h, 20*h)}, 20, 48 + 60},
		{"before the jobs end, but not while they come", []simulate.Pool{pool(8, 0, 0), pool(4, 11*h, 0)}, 8, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := simulate.Run(context.Background(), simulate.Config{
				Start: 0, Until: 24 * h, List: jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Pools: c.pools,
			})
			if err != nil {
				t.Fatal(err)
			}
			l := r.Loads[0]
			if want := c.capacity * capcli.GPUTime(h) * capcli.GPUSecond; l.Capacity != want || l.GPUs != c.gpus {
				t.Errorf("got %d GPUs and %d, want %d and %d", l.GPUs, l.Capacity, c.gpus, want)
			}
			if want := 88.0 / float64(c.capacity); l.Offered() != want {
				t.Errorf("got a load of %v, want %v", l.Offered(), want)
			}
		})
	}
}
