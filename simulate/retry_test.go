package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestRetriesAndBrokenGPUs: a job of three GPUs on a node of four, whose third and then fourth GPU
// fail. It is interrupted only by a GPU that it holds, starts again on what is left, and fails for
// good after too many failures.
func TestRetriesAndBrokenGPUs(t *testing.T) {
	broken := func(at capcli.Seconds, gpu int, kind simulate.Kind) simulate.Change {
		return simulate.Change{At: at, Kind: kind, GPU: gpu}
	}
	for _, c := range []struct {
		name    string
		retries simulate.Retries
		changes []simulate.Change
		want    string
	}{
		{"a free GPU", simulate.Retries{Most: 1}, []simulate.Change{broken(10, 4, simulate.Lose), broken(20, 4, simulate.Gain)}, "start 0, end 100; failed 0, down 10"},
		{"a held GPU", simulate.Retries{}, []simulate.Change{broken(10, 3, simulate.Lose), broken(20, 3, simulate.Gain)}, "start 10, end 110; failed 0, down 10"},
		{"back-off", simulate.Retries{Backoff: 30}, []simulate.Change{broken(10, 3, simulate.Lose), broken(20, 3, simulate.Gain)}, "start 40, end 140; failed 0, down 10"},
		{"too few are left", simulate.Retries{}, []simulate.Change{broken(5, 4, simulate.Lose), broken(10, 1, simulate.Lose), broken(50, 1, simulate.Gain)}, "start 50, end 150; failed 0, down 185"},
		{"fails for good", simulate.Retries{Most: 1}, []simulate.Change{broken(10, 1, simulate.Lose), broken(30, 2, simulate.Lose), broken(40, 2, simulate.Gain), broken(45, 1, simulate.Gain)}, "start 10, end 0; failed 1, down 20"},
	} {
		got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{{ID: "j", GPUs: 3, Run: 100, Deadline: capcli.NoTime}},
			Pools:  []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 4, CPUMilli: 1000, Supply: &comings{c.changes}}},
			Policy: mustPolicy(t, "easy"), Placement: mustPlacement(t, "first"), Retries: c.retries, Observers: []simulate.Observer{got},
		})
		if err != nil {
			t.Fatal(err)
		}
		down := r.Record.Months[0].Pools[0].Down / capcli.GPUSecond
		text := fmt.Sprintf("start %d, end %d; failed %d, down %d", got.start["j"], got.end["j"], r.Interruptions.Failed, down)
		if text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
		if strings.Contains(c.name, "good") && (r.Jobs.Dropped != 1 || r.Redone == 0) {
			t.Errorf("%s: %+v, redone %d", c.name, r.Jobs, r.Redone)
		}
	}
}
