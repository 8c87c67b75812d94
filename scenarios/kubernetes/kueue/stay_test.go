package kueue

import "testing"

// TestStays holds that the stays of golden worlds never use more than a tree of cohorts has, that each
// job's last stay is that of its result, and that preemptions are as many as the decisions say.
func TestStays(t *testing.T) {
	for _, c := range readCases(t, "cases.jsonl.gz") {
		r, err := Run(t.Context(), &c.World, Options{})
		if err != nil {
			t.Fatal(err)
		}
		stays := r.Stays(&c.World)
		preempted := make([]int, len(c.Workloads))
		for _, s := range stays {
			if s.To < s.From || len(s.Uses) == 0 {
				t.Errorf("%s: stay %+v", c.ID, s)
			}
			if s.End == Preempt {
				preempted[s.Workload]++
				if s.By < 0 || s.Reason == "" || s.To-s.Evicted > c.Config.EvictTime {
					t.Errorf("%s: stay %+v", c.ID, s)
				}
			}
			if j := r.Jobs[s.Workload]; s.End == Finish && (j.Start != s.From || j.End != s.To) {
				t.Errorf("%s: %+v ended by %+v", c.ID, j, s)
			}
		}
		for i, n := range preempted {
			if n != r.Jobs[i].Preemptions {
				t.Errorf("%s: %s has %d stays that were preempted, want %d", c.ID, r.Jobs[i].ID, n, r.Jobs[i].Preemptions)
			}
		}
	}
}
