package policy

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
)

// Promises look ahead to maintenance: what would run into it is promised a start behind it, and shorter
// jobs go before.
func TestPromisesBehindMaintenance(t *testing.T) {
	job := func(id string, submit, gpus, run int) capcli.Job {
		return capcli.Job{ID: id, Submit: capcli.Time(submit), GPUs: gpus, Run: capcli.Seconds(run), Limit: capcli.Seconds(run), Deadline: capcli.NoTime}
	}
	place, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		w    simulate.Window
		want string
	}{
		{"all of it", simulate.Window{Start: 100, End: 200, Milli: 4000}, "map[before:1 behind:350 first:200 small:51]"},
		{"half of it", simulate.Window{Start: 100, End: 200, Milli: 2000}, "map[before:1 behind:350 first:200 small:51]"},
		{"without an end", simulate.Window{Start: 100, Milli: 1000}, "map[before:1 small:51]"},
		{"too late to matter", simulate.Window{Start: 1000, End: 2000, Milli: 4000}, "map[before:150 behind:200 first:0 small:260]"},
	} {
		got := startTimes{}
		_, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, Until: 3000, Placement: place(), Observers: []simulate.Observer{got},
			List:   []capcli.Job{job("first", 0, 4, 150), job("before", 1, 4, 50), job("behind", 2, 4, 60), job("small", 3, 2, 40)},
			Policy: func(simulate.Settings) simulate.Policy { return &conservative{allowed: usualAllowance} },
			Pools:  []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 4, Windows: []simulate.Window{c.w}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(text(got)) != c.want {
			t.Errorf("%s: starts %v, want %s", c.name, text(got), c.want)
		}
	}
}

// text returns starts in plain seconds.
func text(s startTimes) map[string]int64 {
	out := map[string]int64{}
	for id, at := range s {
		out[id] = int64(at)
	}
	return out
}
