package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestGraceAndBudgets: a small job of high priority comes after 100 s; two jobs of low priority hold
// all GPUs. Each row is what the rules make of it.
func TestGraceAndBudgets(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules simulate.PreemptRules
		mode  simulate.RestartClass
		want  string
	}{
		{"at once", simulate.PreemptRules{}, simulate.RestartClass{Interval: 80}, "high@100 first@0 second@110; redone 20"},
		{"after the grace", simulate.PreemptRules{Grace: 30}, simulate.RestartClass{Interval: 80}, "high@130 first@0 second@140; redone 0"},
		{"a grace too short to save", simulate.PreemptRules{Grace: 30}, simulate.RestartClass{Interval: 80, Cost: 40}, "high@130 first@0 second@140; redone 970"},
		{"near the end", simulate.PreemptRules{Spare: 950}, simulate.RestartClass{Interval: 80}, "high@1000 first@0 second@0; redone 0"},
	} {
		got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{
				{ID: "first", GPUs: 4, Run: 1000, Deadline: capcli.NoTime},
				{ID: "second", GPUs: 4, Run: 1000, Deadline: capcli.NoTime},
				{ID: "high", GPUs: 2, Run: 10, Submit: 100, Priority: 1, Deadline: capcli.NoTime},
			},
			Pools:  []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 8}},
			Policy: mustPolicy(t, "priority-victims"), Placement: mustPlacement(t, "count"), Preempts: c.rules,
			Restarts:  simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{c.mode}},
			Observers: []simulate.Observer{got},
		})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("high@%d first@%d second@%d; redone %d", got.start["high"], got.start["first"], got.start["second"], r.Redone/4000)
		if text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

// TestGraceIsOfOneStay: a job that was preempted after a grace, and runs again, may be preempted again.
func TestGraceIsOfOneStay(t *testing.T) {
	got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
	_, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, List: []capcli.Job{
			{ID: "low", GPUs: 4, Run: 1000, Deadline: capcli.NoTime},
			{ID: "high", GPUs: 4, Run: 10, Submit: 100, Priority: 1, Deadline: capcli.NoTime},
			{ID: "next", GPUs: 4, Run: 10, Submit: 200, Priority: 1, Deadline: capcli.NoTime},
		},
		Pools:  []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 4}},
		Policy: mustPolicy(t, "priority-victims"), Placement: mustPlacement(t, "count"), Preempts: simulate.PreemptRules{Grace: 30},
		Restarts:  simulate.Restarts{Mode: simulate.Suspend},
		Observers: []simulate.Observer{got},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.start["high"] != 130 || got.start["next"] != 230 || got.end["low"] != 1020 {
		t.Errorf("high starts at %d, next at %d and low ends at %d, want 130, 230 and 1020", got.start["high"], got.start["next"], got.end["low"])
	}
}

// TestBudgetComesBack: one preemption an hour is allowed. The second newcomer waits for the budget,
// not for a GPU.
func TestBudgetComesBack(t *testing.T) {
	for _, rules := range []simulate.PreemptRules{{PerHour: 1}, {PerTenant: 1}} {
		got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
		_, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{
				{ID: "low", GPUs: 4, Run: 20_000, Deadline: capcli.NoTime},
				{ID: "low too", GPUs: 4, Run: 20_000, Deadline: capcli.NoTime},
				{ID: "high", GPUs: 4, Run: 20_000, Submit: 100, Priority: 1, Deadline: capcli.NoTime},
				{ID: "next", GPUs: 4, Run: 20_000, Submit: 200, Priority: 1, Deadline: capcli.NoTime},
			},
			Pools:  []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 8}},
			Policy: mustPolicy(t, "priority-victims"), Placement: mustPlacement(t, "count"), Preempts: rules, Observers: []simulate.Observer{got},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.start["high"] != 100 || got.start["next"] != 3700 {
			t.Errorf("%+v: high started at %d, next at %d; want 100 and 3700", rules, got.start["high"], got.start["next"])
		}
	}
}
