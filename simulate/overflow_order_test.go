package simulate_test

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestRipeJobsDoNotOvertakeOnCommittedCapacity tells stories in which on-demand
// capacity is full when a small job's patience ends: it may go on there later,
// but on committed capacity it keeps its place.
func TestRipeJobsDoNotOvertakeOnCommittedCapacity(t *testing.T) {
	job := func(id string, submit, run, gpus int) capcli.Job {
		return capcli.Job{
			ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), Limit: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime,
		}
	}
	jobs := []capcli.Job{job("a", 0, 100, 7), job("full", 0, 1000, 4), job("head", 2, 10, 8), job("small", 11, 500, 1)}
	for policy, want := range map[string]string{
		"fifo":         "a@0 full@10 head@100 small@110",
		"easy":         "a@0 full@10 head@100 small@110",
		"conservative": "a@0 full@10 head@100 small@110",
	} {
		t.Run(policy, func(t *testing.T) {
			var s story
			_, err := simulate.Run(context.Background(), simulate.Config{
				Jobs: stream(jobs), Policy: mustPolicy(t, policy), Placement: mustPlacement(t, "count"),
				Pools: []simulate.Pool{
					{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 8},
					{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 4},
				},
				Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: 10}}},
				Observers: []simulate.Observer{&s},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.lines, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
