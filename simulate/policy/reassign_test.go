package policy_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/simulate"
)

// swapper lets its two jobs change places once.
type swapper struct {
	done int
}

func (*swapper) Preempts() {}
func (*swapper) Resizes()  {}

func (p *swapper) Schedule(t *simulate.Turn) {
	for l := range t.Queue() {
		ways := t.Ways().All(l, nil)
		for _, c := range ways {
			if t.Ways().StartAs(l, c) {
				break
			}
		}
	}
	switch {
	case t.Now() < 100:
		t.WakeAt(100)
	case p.done == 0:
		var moves []simulate.Reassignment
		for l := range t.Running() {
			for _, c := range t.Ways().All(l, nil) {
				if c.Pool != l.Pool() {
					moves = append(moves, simulate.Reassignment{Job: l, To: []simulate.Choice{c}})
				}
			}
		}
		p.done = t.Ways().Reassign(moves)
	}
}

// TestReassign: two jobs change places on full pools, keep their work and are not preempted. The first has
// 1,000 s of work on pool a and twice that on b; the second is as fast on both.
func TestReassign(t *testing.T) {
	slow := &capcli.Shape{Name: "slow", Ways: []capcli.Way{{Model: "A", GPUs: 1, Num: 1, Den: 1}, {Model: "B", GPUs: 1, Num: 2, Den: 1}}}
	same := &capcli.Shape{Name: "same", Ways: []capcli.Way{{Model: "A", GPUs: 1, Num: 1, Den: 1}, {Model: "B", GPUs: 1, Num: 1, Den: 1}}}
	jobs := []capcli.Job{
		{ID: "x", GPUs: 1, Run: 1000, Deadline: capcli.NoTime, Shape: slow},
		{ID: "y", GPUs: 1, Run: 1000, Deadline: capcli.NoTime, Shape: same},
	}
	p, o := &swapper{}, &ends{map[int64]capcli.Seconds{}}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Pools: []simulate.Pool{{Name: "a", GPUModel: "A", Nodes: 1, GPUsPerNode: 1}, {Name: "b", GPUModel: "B", Nodes: 1, GPUsPerNode: 1}},
		Jobs:  streamOf(jobs), Policy: func(simulate.Settings) simulate.Policy { return p }, Placement: mustCounted(t), Observers: []simulate.Observer{o},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.done != 2 || r.Jobs.Preemptions != 0 || o.took[0] != 100+2*900 || o.took[1] != 1000 {
		t.Errorf("%d moved, %d preempted, completion times %v; want 2, 0, [1900 1000]", p.done, r.Jobs.Preemptions, o.took)
	}
}
