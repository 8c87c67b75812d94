package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"
	"capcli/testdata/golden"

	"pgregory.net/rapid"
)

// firstStarts are the first start of each job.
type firstStarts map[string]capcli.Seconds

func (s firstStarts) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Start {
		return
	}
	if _, again := s[e.Job.ID]; !again {
		s[e.Job.ID] = e.At
	}
}

// TestGuardEndsStarvation plays a stream of small jobs that never leaves eight GPUs free at once: a
// job of eight GPUs starves where small ones pass it, and starts in time with the guard.
func TestGuardEndsStarvation(t *testing.T) {
	jobs := []capcli.Job{{ID: "s0", Submit: 0, GPUs: 4, Run: 15, Limit: 15}, {ID: "large", Submit: 1, GPUs: 8, Run: 10, Limit: 10}}
	for i := range 200 {
		jobs = append(jobs, capcli.Job{ID: fmt.Sprint("s", i+1), Submit: capcli.Time(10 + 10*i), GPUs: 4, Run: 15, Limit: 15})
	}
	for _, name := range []string{"fifo", "sjf", "priority", "edf", "qssf"} {
		for _, after := range []capcli.Seconds{0, 60} {
			first := firstStarts{}
			_, err := simulate.Run(context.Background(), simulate.Config{
				List: jobs, Policy: mustPolicy(t, name), Placement: mustPlacement(t, "count"), Guard: after, Settings: simulate.Settings{Skip: true},
				Pools: []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8}}, Observers: []simulate.Observer{first},
			})
			if err != nil {
				t.Fatal(err)
			}
			if after == 0 && first["large"] < 2000 {
				t.Errorf("%s without a guard: the large job started at %d, want it to starve", name, first["large"])
			}
			if after > 0 && first["large"] > 1+60+15 {
				t.Errorf("%s with a guard of a minute: the large job started at %d", name, first["large"])
			}
		}
	}
}

// TestNoStarvation draws jobs with true limits on one pool. With a guard each starts, under every
// policy, when all have ended at the latest that were there when its time had come.
func TestNoStarvation(t *testing.T) {
	golden.SkipLong(t)
	limitDraws(t, 60)
	for _, pol := range policy.Catalog.All() {
		t.Run(pol.Name, rapid.MakeCheck(func(rt *rapid.T) {
			after := capcli.Seconds(rapid.IntRange(1, 60).Draw(rt, "guard"))
			gpus := rapid.IntRange(2, 8).Draw(rt, "gpus")
			var jobs []capcli.Job
			at := capcli.Time(0)
			for i := range rapid.IntRange(2, 40).Draw(rt, "jobs") {
				at += capcli.Time(rapid.IntRange(0, 12).Draw(rt, "gap"))
				run := capcli.Seconds(rapid.IntRange(1, 40).Draw(rt, "run"))
				jobs = append(jobs, capcli.Job{
					ID: fmt.Sprint(i), Submit: at, Run: run, Limit: run + capcli.Seconds(rapid.IntRange(0, 20).Draw(rt, "over")),
					GPUs: rapid.IntRange(1, gpus).Draw(rt, "wants"), Tenant: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "tenant"),
					Priority: rapid.IntRange(0, 3).Draw(rt, "priority"), Deadline: at + capcli.Time(rapid.IntRange(1, 90).Draw(rt, "due")),
				})
			}
			first := firstStarts{}
			set := simulate.Settings{Skip: rapid.Bool().Draw(rt, "skip"), Choices: map[string]string{"preempt": rapid.SampledFrom([]string{"false", "true"}).Draw(rt, "preempt")}}
			_, err := simulate.Run(context.Background(), simulate.Config{
				List: jobs, Start: 0, Policy: pol.Value, Placement: mustPlacement(t, "count"), Guard: after, Settings: set,
				Pools: []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}}, Observers: []simulate.Observer{first},
			})
			if err != nil {
				rt.Fatal(err)
			}
			for i := range jobs {
				come := capcli.Seconds(jobs[i].Submit) + after
				latest := come
				for k := range jobs {
					if k != i && capcli.Seconds(jobs[k].Submit) <= come {
						latest += jobs[k].Limit
					}
				}
				if got := first[jobs[i].ID]; got > latest {
					rt.Fatalf("job %d was submitted at %d and started at %d, want %d at the latest", i, jobs[i].Submit, got, latest)
				}
			}
		}))
	}
}
