package kueue

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"capcli"
)

// drawWorld makes a small world up: queues in a tree of cohorts, two flavors, limits, all policies.
func drawWorld(rng *rand.Rand) *World {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	limit := func() *int64 {
		if rng.IntN(3) > 0 {
			return nil
		}
		v := int64(rng.IntN(9))
		return &v
	}
	weight := func() *float64 {
		if rng.IntN(2) == 0 {
			return nil
		}
		v := float64(rng.IntN(4))
		return &v
	}
	w := &World{Config: Config{FairSharing: rng.IntN(2) == 0, EvictTime: capcli.Seconds(rng.IntN(2) * 3)}}
	for _, f := range []string{"a100", "h100"} {
		w.Flavors = append(w.Flavors, Flavor{Name: f, NodeLabels: map[string]string{"gpu": f}})
	}
	groups := func() []ResourceGroup {
		g := ResourceGroup{Resources: []string{"gpu"}}
		for _, i := range rng.Perm(2)[:1+rng.IntN(2)] {
			g.Flavors = append(g.Flavors, FlavorQuotas{Flavor: w.Flavors[i].Name, Quota: map[string]Quota{"gpu": {Nominal: int64(rng.IntN(9)), Borrowing: limit(), Lending: limit()}}})
		}
		return []ResourceGroup{g}
	}
	w.Cohorts = []Cohort{{Name: "root"}, {Name: "left", Parent: "root", Weight: weight(), ResourceGroups: groups()}, {Name: "right", Parent: "root", Weight: weight()}}
	for _, name := range []string{"p", "q", "r", "s"} {
		w.ClusterQueues = append(w.ClusterQueues, ClusterQueue{
			Name: name, Cohort: pick("left", "right", "root", ""), Strategy: pick(StrictFIFO, "BestEffortFIFO"), Weight: weight(),
			Preemption: Preemption{
				WithinQueue: pick(NeverPreempt, LowerPriority, LowerOrNewerEqualPriority), Reclaim: pick(NeverPreempt, LowerPriority, AnyPriority), Borrow: pick("", LowerPriority),
			},
			WhenCanBorrow: pick("MayStopSearch", TryNextFlavor), WhenCanPreempt: pick("MayStopSearch", TryNextFlavor), Preference: pick("", PreemptionOverBorrowing),
			ResourceGroups: groups(),
		})
	}
	for i := range 6 + rng.IntN(14) {
		x := Workload{
			ID: fmt.Sprintf("w%02d", i), Queue: pick("p", "q", "r", "s"), Arrival: capcli.Seconds(rng.IntN(30)), Duration: capcli.Seconds(1 + rng.IntN(20)), Priority: int64(rng.IntN(3)),
			PodSets: []PodSet{{Name: "main", Count: int64(1 + rng.IntN(4)), Requests: map[string]int64{"gpu": int64(1 + rng.IntN(3))}}},
		}
		if p := &x.PodSets[0]; rng.IntN(3) == 0 && p.Count > 1 {
			p.MinCount = 1
		}
		w.Workloads = append(w.Workloads, x)
	}
	return w
}

// TestLaws holds the laws of made-up worlds: what is used of a flavor in a tree is never more than the
// tree has, each workload ends once or waits with a reason, quotas are given back as they were taken,
// and neither the order of the lists nor the number of runs changes a decision.
func TestLaws(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := drawWorld(rng)
		r, err := Run(t.Context(), w, Options{Steps: true})
		if err != nil {
			t.Fatal(err)
		}
		checkTrees(t, seed, w, r)
		checkEvents(t, seed, w, r)
		other := *w
		for _, shuffle := range []func(){
			func() { other.Workloads = shuffled(rng, w.Workloads) }, func() { other.ClusterQueues = shuffled(rng, w.ClusterQueues) },
			func() { other.Cohorts = shuffled(rng, w.Cohorts) }, func() { other.Flavors = shuffled(rng, w.Flavors) },
		} {
			shuffle()
		}
		again, err := Run(t.Context(), &other, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Decisions, r.Decisions) {
			t.Errorf("seed %d: the order of the lists changes decisions", seed)
		}
	}
}

func shuffled[T any](rng *rand.Rand, list []T) []T {
	out := slices.Clone(list)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// checkTrees holds that no tree uses more of a flavor than its quotas together. While victims take time
// to leave it may: heads of the same cycle are admitted as if the victims were gone.
func checkTrees(t *testing.T, seed uint64, w *World, r *Result) {
	t.Helper()
	if w.Config.EvictTime > 0 {
		return
	}
	tree := func(q *ClusterQueue) string {
		if q.Cohort == "" {
			return q.Name
		}
		return "root"
	}
	quota := map[string]int64{}
	for i := range w.Cohorts {
		for _, f := range w.Cohorts[i].ResourceGroups {
			for _, x := range f.Flavors {
				quota["root "+x.Flavor+"/gpu"] += x.Quota["gpu"].Nominal
			}
		}
	}
	for i := range w.ClusterQueues {
		q := &w.ClusterQueues[i]
		for _, x := range q.ResourceGroups[0].Flavors {
			quota[tree(q)+" "+x.Flavor+"/gpu"] += x.Quota["gpu"].Nominal
		}
	}
	for _, s := range r.Steps {
		used := map[string]int64{}
		for i := range w.ClusterQueues {
			q := &w.ClusterQueues[i]
			for slot, v := range s.Used[q.Name] {
				used[tree(q)+" "+slot] += v
			}
		}
		for slot, v := range used {
			if v > quota[slot] {
				t.Errorf("seed %d, t %d: %d of %s are used, there are %d", seed, s.At, v, slot, quota[slot])
			}
		}
	}
}

// checkEvents holds that the events of each workload follow one another as they can.
func checkEvents(t *testing.T, seed uint64, w *World, r *Result) {
	t.Helper()
	next := map[string][]string{"": {Admit}, Admit: {Finish, Preempt}, Preempt: {Admit}, Release: {Admit}, Finish: {}}
	if w.Config.EvictTime > 0 {
		next[Preempt] = []string{Release}
	}
	last, at := map[string]string{}, map[string]capcli.Seconds{}
	for _, d := range r.Decisions {
		if !slices.Contains(next[last[d.Workload]], d.Event) {
			t.Errorf("seed %d, t %d: %s of %s after %q", seed, d.At, d.Event, d.Workload, last[d.Workload])
		}
		if d.Event == Finish {
			i := slices.IndexFunc(w.Workloads, func(x Workload) bool { return x.ID == d.Workload })
			if d.At-at[d.Workload] != w.Workloads[i].Duration {
				t.Errorf("seed %d: %s ran for %s", seed, d.Workload, d.At-at[d.Workload])
			}
		}
		last[d.Workload], at[d.Workload] = d.Event, d.At
	}
	for _, j := range r.Jobs {
		if (j.State == Finished) != (last[j.ID] == Finish) || j.State == Pending && j.Why == "" || j.State == Running && r.Livelock == nil {
			t.Errorf("seed %d: %+v after %q", seed, j, last[j.ID])
		}
	}
}
