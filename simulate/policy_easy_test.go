package simulate_test

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestNoGPUWaitsForAnEvent tells stories in which a job may start though no
// GPU came free since it was held back.
func TestNoGPUWaitsForAnEvent(t *testing.T) {
	job := func(id string, submit, run, limit, gpus int) capcli.Job {
		return capcli.Job{
			ID: id, Tenant: "one", Submit: capcli.Time(submit), Run: capcli.Seconds(run), Limit: capcli.Seconds(limit), GPUs: gpus,
			Deadline: capcli.NoTime,
		}
	}
	pool := func(name string, terms simulate.Terms, gpus int) simulate.Pool {
		return simulate.Pool{Name: name, Terms: terms, Nodes: 1, GPUsPerNode: gpus}
	}
	base, od := pool("base", simulate.Reserved, 8), pool("od", simulate.OnDemand, 8)
	patient := []capcli.Job{job("a", 0, 100, 100, 4), job("head", 1, 1000, 1000, 8), job("c", 5, 200, 200, 4)}
	second := []capcli.Job{job("a", 0, 100, 100, 4), job("head", 1, 1000, 1000, 6), job("next", 2, 9, 9, 5), job("c", 5, 200, 200, 3)}
	overrun := []capcli.Job{
		job("a", 0, 100, 10, 4), job("b", 0, 90, 20, 2), job("head", 1, 10, 10, 6), job("c", 2, 50, 50, 2), job("d", 30, 100, 100, 8),
	}
	tests := []struct {
		name, policy string
		pools        []simulate.Pool
		patience     capcli.Seconds
		jobs         []capcli.Job
		want         string
	}{
		// Of the eight GPUs at 100 the head will leave two over, so c may not go
		// ahead, until the head goes on to on-demand at 11. The next will leave
		// three.
		{"the head went on", "easy", []simulate.Pool{base, od}, 10, second, "a@0 head@11 c@11 next@100"},
		{"the shortest behind it", "easy-sjbf", []simulate.Pool{base, od}, 10, second, "a@0 head@11 c@11 next@100"},
		{"the tenant's first job went on", "fair", []simulate.Pool{base, od}, 10, patient, "a@0 head@11 c@11"},
		// c would delay the head in base; the other pool has no room for the
		// head, and room for c.
		{"in another pool", "easy", []simulate.Pool{base, pool("side", simulate.Owned, 4)}, 0, patient, "a@0 c@5 head@100"},
		// At 2 the head is promised those of a at 10 and both that are free, so c
		// may not go ahead. At 30, when d comes, a and b are past their limits,
		// and the head will leave two over.
		{"beliefs have turned out wrong", "easy", []simulate.Pool{base}, 0, overrun, "a@0 b@0 c@30 head@100 d@110"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s story
			_, err := simulate.Run(context.Background(), simulate.Config{
				Jobs: stream(tt.jobs), Policy: mustPolicy(t, tt.policy), Placement: mustPlacement(t, "count"), Pools: tt.pools,
				Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: tt.patience}}},
				Observers: []simulate.Observer{&s},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.lines, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
