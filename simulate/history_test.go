package simulate_test

import (
	"math"
	"reflect"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// stayNotes notes the stays of a run's jobs.
type stayNotes struct {
	jobs map[string]*simulate.Past
}

func (s *stayNotes) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	j := s.jobs[e.Job.ID]
	switch e.Kind {
	case simulate.Start:
		j.Stays = append(j.Stays, simulate.PastStay{From: e.At, Holds: []simulate.PastHold{{Pool: 0, Milli: e.Job.Milli()}}})
	case simulate.Finish:
		j.Stays[len(j.Stays)-1].To, j.Done = e.At, true
	case simulate.Preempt:
		x := &j.Stays[len(j.Stays)-1]
		x.To, x.Preempted = e.At, true
	default:
	}
}

// TestHistoryOfARun holds that the history of a run has the figures and the record of the run itself.
func TestHistoryOfARun(t *testing.T) {
	for _, name := range []string{"fifo", "priority"} {
		rng := capcli.Seed(7).Stream("jobs")
		watch := &stayNotes{jobs: map[string]*simulate.Past{}}
		var jobs []capcli.Job
		tenants := []string{"a", "b", "c"}
		at := capcli.Time(1_700_000_000)
		for i := range 300 {
			at += capcli.Time(rng.IntN(400))
			j := capcli.Job{
				ID: string(rune('A'+i/26)) + string(rune('a'+i%26)), Tenant: tenants[i%3], GPUs: 1 + rng.IntN(9), Submit: at,
				Run: capcli.Seconds(1 + rng.IntN(5000)), Priority: rng.IntN(3), Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Eligible: capcli.NoTime,
			}
			jobs = append(jobs, j)
		}
		for i := range jobs {
			j := &jobs[i]
			watch.jobs[j.ID] = &simulate.Past{ID: j.ID, Tenant: i % 3, GPUs: j.GPUs, Milli: j.Milli(), Submit: capcli.Seconds(j.Submit - jobs[0].Submit), Run: j.Run, Pools: []int{0}}
		}
		pools := []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 24}}
		newPolicy, err := policy.Catalog.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		newPlacement, err := placement.Catalog.Get("count")
		if err != nil {
			t.Fatal(err)
		}
		want, err := simulate.Run(t.Context(), simulate.Config{Start: capcli.NoTime, Pools: pools, List: jobs, Policy: newPolicy, Placement: newPlacement(), Observers: []simulate.Observer{watch}, Hourly: true, Timeline: true})
		if err != nil {
			t.Fatal(err)
		}
		h := &simulate.History{Start: want.Record.Start, End: want.Ended, Pools: pools, Tenants: []simulate.Tenant{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Hourly: true, Timeline: true}
		for i := range jobs {
			h.Jobs = append(h.Jobs, *watch.jobs[jobs[i].ID])
		}
		got, err := h.Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*simulate.Result{got, want} { // sums of slowdowns differ in the order of their terms
			for i := range r.Tenants {
				r.Tenants[i].MeanSlowdown = math.Round(1e6 * r.Tenants[i].MeanSlowdown)
			}
			for i := range r.Sizes {
				r.Sizes[i].MeanSlowdown = math.Round(1e6 * r.Sizes[i].MeanSlowdown)
			}
		}
		for _, f := range []struct {
			name      string
			got, want any
		}{
			{"jobs", got.Jobs, want.Jobs},
			{"waits", got.Wait, want.Wait},
			{"tenants", got.Tenants, want.Tenants},
			{"sizes", got.Sizes, want.Sizes},
			{"served", got.Served, want.Served},
			{"goodput", got.Goodput, want.Goodput},
			{"months", got.Record.Months, want.Record.Months},
			{"queue max", got.QueueMax, want.QueueMax},
			{"queue mean", got.QueueMean, want.QueueMean},
			{"makespan", got.Makespan, want.Makespan},
			{"jct", got.MeanJCT, want.MeanJCT},
			{"queue time", got.MeanQueueTime, want.MeanQueueTime},
			{"timeline", got.Timeline, want.Timeline},
			{"loads", got.Loads, want.Loads},
		} {
			if !reflect.DeepEqual(f.got, f.want) {
				t.Errorf("%s: %s:\n got %+v\nwant %+v", name, f.name, f.got, f.want)
			}
		}
	}
}
