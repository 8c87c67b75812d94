package choose_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/choose"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// model is 8 GPUs for 100 s, 4 for 160 s, 2 for 400 s; a B does half the work of an A.
var model = &capcli.Shape{Name: "model", Ways: []capcli.Way{
	{Model: "A", GPUs: 8, Num: 1, Den: 1},
	{Model: "A", GPUs: 4, Num: 8, Den: 5},
	{Model: "A", GPUs: 2, Num: 4, Den: 1},
	{Model: "B", GPUs: 8, Num: 2, Den: 1},
	{Model: "B", GPUs: 4, Num: 16, Den: 5},
}}

// starts notes where and how wide jobs start.
type starts struct{ list []string }

func (s *starts) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Kind == simulate.Start {
		s.list = append(s.list, fmt.Sprintf("%s@%d %dx%s", e.Job.ID, e.At, e.Job.GPUs, c.Pool(e.Pool).GPUModel))
	}
}

// TestRules plays one job, with and without a deadline, beside jobs that hold GPUs of A until 30 s.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule  string
		wait  capcli.Seconds
		holds int // GPUs of A held until 30
		due   capcli.Time
		price []capcli.USD // of A and B
		want  string
	}{
		{"asked", 0, 0, 0, nil, "j@0 8xA"},
		{"asked", 0, 1, 0, nil, "j@30 8xA"},
		{"soonest", 0, 0, 0, nil, "j@0 8xA"},
		{"soonest", 0, 1, 0, nil, "j@0 4xA"},
		{"soonest", 0, 5, 0, nil, "j@0 8xB"},
		{"soonest", 20, 1, 0, nil, "j@20 4xA"},
		{"soonest", 60, 1, 0, nil, "j@30 8xA"},
		{"widest", 0, 1, 0, nil, "j@0 8xB"},
		{"narrowest", 0, 0, 0, nil, "j@0 2xA"},
		{"narrowest", 0, 0, 399, nil, "j@0 4xA"},
		{"narrowest", 0, 0, 159, nil, "j@0 8xA"},
		{"narrowest", 0, 0, 50, nil, "j@0 8xA"}, // late in any way: the fastest
		{"narrowest", 0, 1, 159, nil, "j@0 4xA"},
		// GPU-seconds: 800 and 640 of 800 on A; 1600 and 1280 on B.
		{"cheapest", 0, 0, 0, nil, "j@0 4xA"},
		{"cheapest", 0, 0, 0, []capcli.USD{3, 1}, "j@0 4xB"},
		{"cheapest", 0, 0, 319, []capcli.USD{3, 1}, "j@0 8xB"},
		{"cheapest", 0, 0, 199, []capcli.USD{3, 1}, "j@0 4xA"},
		{"cheapest", 0, 6, 0, []capcli.USD{10, 10}, "j@0 2xA"},
		{"cheapest", 1000, 6, 189, []capcli.USD{10, 10}, "j@30 8xA"},
		{"cheapest", 1000, 6, 190, []capcli.USD{10, 10}, "j@30 4xA"},
	} {
		jobs := []capcli.Job{{ID: "j", GPUs: 8, Run: 100, GPUModel: "A", Shape: model, Deadline: capcli.NoTime}}
		if c.due > 0 {
			jobs[0].Deadline = c.due
		}
		if c.holds > 0 {
			jobs = slices.Insert(jobs, 0, capcli.Job{ID: "h", GPUs: c.holds, Run: 30, GPUModel: "A", Deadline: capcli.NoTime})
		}
		if got := play(t, jobs, c.rule, choose.Settings{Wait: c.wait, Prices: c.price}); got != c.want {
			t.Errorf("%s, wait %d, %d held, due %d, prices %v: %s, want %s", c.rule, c.wait, c.holds, c.due, c.price, got, c.want)
		}
	}
}

// play returns how the last job starts on 8 GPUs of A and 8 of B.
func play(t *testing.T, jobs []capcli.Job, rule string, s choose.Settings) string {
	t.Helper()
	pick, err := choose.Catalog.Get(rule)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := policy.Catalog.Get("fifo")
	count, _ := placement.Catalog.Get("count")
	var seen starts
	r, err := simulate.Run(context.Background(), simulate.Config{
		Pools: []simulate.Pool{{Name: "a", GPUModel: "A", Nodes: 1, GPUsPerNode: 8}, {Name: "b", GPUModel: "B", Nodes: 1, GPUsPerNode: 8}},
		List:  jobs, Policy: first, Placement: count(), Chooser: pick(s), Observers: []simulate.Observer{&seen},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Jobs.Finished != int64(len(jobs)) {
		t.Fatalf("%d of %d jobs ended", r.Jobs.Finished, len(jobs))
	}
	return seen.list[len(seen.list)-1]
}
