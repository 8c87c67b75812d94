package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// story tells starts in the order in which they happened: "a@0 c@2 b@10".
type story struct{ lines []string }

func (s *story) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		s.lines = append(s.lines, fmt.Sprintf("%s@%d", e.Job.ID, e.At))
	}
}

// TestBackfillKeepsNodesForTheHead tells stories of two nodes of four GPUs. By
// number there are GPUs enough for the later job, but it would sit on the node
// that the head was promised.
func TestBackfillKeepsNodesForTheHead(t *testing.T) {
	job := func(id string, submit, run, gpus int) capcli.Job {
		return capcli.Job{
			ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), Limit: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime,
		}
	}
	tests := []struct {
		name, placement string
		jobs            []capcli.Job
		want            string
	}{
		// Node 0 is free of a at 10; the head wants all of a node then. c is
		// longer than that and fits on the free GPU of node 0 only: first
		// would put it there, and the head would wait until 101.
		{"a long job may not take the head's node", "first", []capcli.Job{
			job("a", 0, 10, 3), job("b", 0, 100, 4), job("head", 1, 10, 4), job("c", 1, 100, 1),
		}, "a@0 b@0 head@10 c@20"},
		// The same job, short enough to be gone by 10, goes ahead.
		{"a short job may", "first", []capcli.Job{
			job("a", 0, 10, 3), job("b", 0, 100, 4), job("head", 1, 10, 4), job("c", 1, 9, 1),
		}, "a@0 b@0 c@1 head@10"},
		// By number the head (4) could start at 5, when three nodes' leftovers
		// make four; on one node only at 50. A job that ends by 50 may go.
		{"the promise is for a whole node", "first", []capcli.Job{
			job("a", 0, 50, 3), job("b", 0, 60, 2), job("d", 0, 5, 1), job("head", 1, 10, 4), job("c", 6, 40, 1),
		}, "a@0 b@0 d@0 c@6 head@50"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s story
			_, err := simulate.Run(context.Background(), simulate.Config{
				Jobs: stream(tt.jobs), Policy: mustPolicy(t, "easy"), Placement: mustPlacement(t, tt.placement),
				Pools:     []simulate.Pool{{Name: "two", Nodes: 2, GPUsPerNode: 4}},
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
