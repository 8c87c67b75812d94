package kueue

import (
	"fmt"
	"testing"

	"capcli"
)

// lineOf is a world of one queue with n workloads that come at once, each of them using all of it.
func lineOf(n int, strategy string) *World {
	w := &World{
		Flavors: []Flavor{{Name: "f"}},
		ClusterQueues: []ClusterQueue{{
			Name: "q", Strategy: strategy, Preemption: Preemption{WithinQueue: NeverPreempt, Reclaim: NeverPreempt}, WhenCanBorrow: "MayStopSearch", WhenCanPreempt: TryNextFlavor,
			ResourceGroups: []ResourceGroup{{Resources: []string{"gpu"}, Flavors: []FlavorQuotas{{Flavor: "f", Quota: map[string]Quota{"gpu": {Nominal: 8}}}}}},
		}},
	}
	for i := range n {
		w.Workloads = append(w.Workloads, Workload{ID: fmt.Sprintf("w%05d", i), Queue: "q", Duration: 10, PodSets: []PodSet{{Name: "main", Count: 1, Requests: map[string]int64{"gpu": 8}}}})
	}
	return w
}

// TestManyThatWait holds that a long queue is no world that never settles, and that its instants end
// soon.
func TestManyThatWait(t *testing.T) {
	for _, strategy := range []string{StrictFIFO, "BestEffortFIFO"} {
		w := lineOf(2000, strategy)
		r, err := Run(t.Context(), w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Livelock != nil || len(r.Decisions) != 4000 || r.Ended != 20_000 {
			t.Errorf("%s: %d decisions until %d, livelock %v", strategy, len(r.Decisions), r.Ended, r.Livelock)
		}
	}
}

// TestMoreCyclesThanMost holds that an instant may admit more workloads than mostCycles.
func TestMoreCyclesThanMost(t *testing.T) {
	w := lineOf(2000, StrictFIFO)
	w.ClusterQueues[0].ResourceGroups[0].Flavors[0].Quota["gpu"] = Quota{Nominal: 16_000}
	r, err := Run(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Decisions[1999]; r.Livelock != nil || d.Cycle != 2000 || d.At != 0 {
		t.Errorf("%+v, livelock %v", d, r.Livelock)
	}
}

// TestLoopsThatTakeTime holds that worlds that never settle end too where it takes time to evict.
func TestLoopsThatTakeTime(t *testing.T) {
	for _, c := range readCases(t, "livelocks.jsonl.gz") {
		for _, evict := range []capcli.Seconds{1, 5} {
			w := c.World
			w.Config.EvictTime = evict
			r, err := Run(t.Context(), &w, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Livelock == nil {
				continue
			}
			if len(r.Livelock.Workloads) < 2 {
				t.Errorf("%s: the loop has %v", c.ID, r.Livelock.Workloads)
			}
		}
	}
}

// TestStopAt holds that a run ends with the admission that it waits for.
func TestStopAt(t *testing.T) {
	r, err := Run(t.Context(), lineOf(100, StrictFIFO), Options{StopAt: "w00050"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != 500 || r.Jobs[50].Start != 500 || r.Jobs[51].State != Pending {
		t.Errorf("ended at %d, %+v", r.Ended, r.Jobs[50:52])
	}
}
