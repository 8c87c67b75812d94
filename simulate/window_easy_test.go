package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestEasyPromisesBehindWindows: the first job cannot run before the window, so later jobs may use
// the time until then, and do not delay it.
func TestEasyPromisesBehindWindows(t *testing.T) {
	got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
	job := func(id string, submit capcli.Time, gpus int, run capcli.Seconds) capcli.Job {
		return capcli.Job{ID: id, Submit: submit, GPUs: gpus, Run: run, Deadline: capcli.NoTime}
	}
	if _, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, List: []capcli.Job{job("runs", 0, 4, 50), job("head", 10, 8, 150), job("small", 20, 4, 40), job("long", 30, 4, 90)},
		Pools:  []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 8, Windows: []simulate.Window{{Start: 100, End: 200, Milli: 6000}}}},
		Policy: mustPolicy(t, "easy"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{got},
	}); err != nil {
		t.Fatal(err)
	}
	if text, want := fmt.Sprint(got.start), "map[head:3m20s long:5m50s runs:0 s small:20 s]"; text != want {
		t.Errorf("starts %s, want %s", text, want)
	}
}
