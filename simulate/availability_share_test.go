package simulate_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestAvailability has one GPU and jobs of an hour that come together: the k-th
// starts after k hours. One wants more than there is.
func TestAvailability(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "a", GPUs: 1, Run: capcli.Hour, Deadline: capcli.NoTime},
		{ID: "b", GPUs: 1, Run: capcli.Hour, Deadline: capcli.NoTime},
		{ID: "c", GPUs: 1, Run: capcli.Hour, Deadline: capcli.NoTime},
		{ID: "big", GPUs: 2, Run: capcli.Hour, Deadline: capcli.NoTime},
		{ID: "late", GPUs: 1, Run: capcli.Hour, Submit: 2 * 3600, Deadline: capcli.NoTime},
	}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, Until: 2*capcli.Hour + 1800, List: jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
		Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		within capcli.Seconds
		want   float64
	}{
		{"at once: a, but not b, c, big nor late", 0, 1.0 / 5},
		{"half an hour: late has waited that long and may yet start in time", 1800, 1.0 / 4},
		{"an hour", 3600, 2.0 / 4},
		{"two hours: only the one that can never run is out", 7200, 3.0 / 4},
		{"no time at all", -1, 0},
	} {
		if got, ok := res.Availability(c.within); !ok || got != c.want {
			t.Errorf("%s: got %v (%t), want %v", c.name, got, ok, c.want)
		}
	}
}
