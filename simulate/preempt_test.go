package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// newest takes the GPUs of whoever runs and gives them to whoever waits.
type newest struct{}

func (newest) Schedule(t *simulate.Turn) {
	var running []*simulate.Live
	for l := range t.Running() {
		running = append(running, l)
	}
	if t.Waiting() == 0 {
		return
	}
	for _, l := range running {
		t.Preemption().Preempt(l)
	}
	for l := range t.Queue() {
		if l.Preempted == 0 {
			t.Start(l)
		}
	}
	if t.Waiting() > 0 && len(running) == 0 {
		for l := range t.Queue() {
			t.Start(l)
		}
	}
}

// declaredNewest says so.
type declaredNewest struct{ newest }

func (declaredNewest) Preempts() {}

// TestOnlyPreemptorsPreempt plays one policy that takes GPUs away twice: with
// its declaration it runs, without it is stopped at its first preemption.
func TestOnlyPreemptorsPreempt(t *testing.T) {
	play := func(p simulate.NewPolicy) (preemptions int64, fault any) {
		defer func() { fault = recover() }()
		r, err := simulate.Run(context.Background(), simulate.Config{
			List: []capcli.Job{
				{ID: "a", Submit: 0, Run: 100, GPUs: 8, Deadline: capcli.NoTime},
				{ID: "b", Submit: 10, Run: 20, GPUs: 8, Deadline: capcli.NoTime},
			},
			Policy: p, Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Jobs.Preemptions, nil
	}
	declared := simulate.NewPolicy(func(simulate.Settings) simulate.Policy { return declaredNewest{} })
	silent := simulate.NewPolicy(func(simulate.Settings) simulate.Policy { return newest{} })
	if n, fault := play(declared); n == 0 || fault != nil || !declared.Preempts(simulate.Settings{}) {
		t.Errorf("declared: %d preemptions, %v", n, fault)
	}
	if _, fault := play(silent); fault == nil || silent.Preempts(simulate.Settings{}) {
		t.Errorf("a policy that is no Preemptor preempted")
	} else if want := "simulate: a policy preempted a job and is no Preemptor"; fmt.Sprint(fault) != want {
		t.Errorf("got %v, want %s", fault, want)
	}
}
