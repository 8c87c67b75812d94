package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestDefragment: two nodes of four GPUs are half full after 10 s, and a gang of four waits. A move
// makes room at the next round, and costs the moved job its checkpoint and restart, no work.
func TestDefragment(t *testing.T) {
	for _, c := range []struct {
		name  string
		every capcli.Seconds
		class simulate.RestartClass
		want  string
	}{
		{"never", 0, simulate.RestartClass{Interval: 50, Cost: 3, Restart: 4}, "gang 10597 to 10700, others end 10597 10597; moves 0, lost 0"},
		{"each minute", 60, simulate.RestartClass{Interval: 500, Cost: 3, Restart: 4}, "gang 60 to 160, others end 10064 10057; moves 1, lost 14"},
		{"no checkpoints, no moves", 60, simulate.RestartClass{Restart: 4}, "gang 10000 to 10100, others end 10000 10000; moves 0, lost 0"},
	} {
		got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{
				{ID: "a", GPUs: 2, Run: 10, Deadline: capcli.NoTime},
				{ID: "b", GPUs: 2, Run: 10_000, Deadline: capcli.NoTime},
				{ID: "c", GPUs: 2, Run: 10, Deadline: capcli.NoTime},
				{ID: "d", GPUs: 2, Run: 10_000, Deadline: capcli.NoTime},
				{ID: "gang", GPUs: 4, Run: 100, Submit: 20, Deadline: capcli.NoTime},
			},
			Pools:  []simulate.Pool{{Name: "p", Nodes: 2, GPUsPerNode: 4}},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "first"), Defragment: simulate.Defragment{Every: c.every, MostMoves: 1},
			Restarts: simulate.Restarts{Classes: []simulate.RestartClass{c.class}}, Observers: []simulate.Observer{got},
		})
		if err != nil {
			t.Fatal(err)
		}
		moves := simulate.Moves{}
		if m := r.Interruptions.Moves; m != nil {
			moves = *m
		}
		text := fmt.Sprintf("gang %d to %d, others end %d %d; moves %d, lost %d", got.start["gang"], got.end["gang"], got.end["b"], got.end["d"], moves.Jobs, moves.Paused/capcli.GPUSecond)
		if text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}
