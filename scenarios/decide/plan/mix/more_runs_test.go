package mix

import (
	"context"
	"testing"

	"capcli"
)

// TestMoreRunsBuyNoMore draws tables in which 10 GPUs leave too much of the work undone in one run of fifty, and 20 GPUs cost
// more and never do. The limit on undone work is one of 95 % of the runs and of the mean, so more runs do not turn the plan
// to 20 GPUs: a limit on every run would, the surer the more runs there are.
func TestMoreRunsBuyNoMore(t *testing.T) {
	small, anyUndone := map[int]int{}, 0
	for seed := range uint64(50) {
		for _, runs := range []int{20, 40, 60, 80} {
			d := &drawnTable{}
			for i := range 3 { // 0, 10 and 20 GPUs
				cost := make([]capcli.USD, runs)
				for k := range cost {
					cost[k] = []capcli.USD{500, 1000, 1500}[i] * capcli.Dollar
				}
				d.cost, d.long = append(d.cost, cost), append(d.long, make([]bool, runs))
			}
			rng := capcli.Seed(seed).Stream("undone") // the first runs are the same, however many follow
			undone := make([]bool, runs)
			for k := range undone {
				undone[k] = rng.Float64() < 0.02
			}
			s := d.search(t, frontier, 1)
			s.Limits = append(s.Limits, Limit{Metric: "unserved_share", Op: "<=", Value: 0.005, Text: "unserved_share <= 0.5%", OnMean: true})
			plain := s.Evaluate
			s.Evaluate = func(ctx context.Context, run int, list []*Candidate) ([]Outcome, error) {
				out, err := plain(ctx, run, list)
				for i := range out {
					out[i].Possible, out[i].Served = 1000, 1000
					switch {
					case out[i].Candidate == 0:
						out[i].Served = 500
					case out[i].Candidate == 1 && undone[run]:
						out[i].Served = 990
					}
				}
				return out, err
			}
			f, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			switch best := f.BestEntry(); best.Index {
			case 1:
				small[runs]++
				if best.heldRuns() < runs {
					anyUndone++
				}
			case 2:
			default:
				t.Errorf("table %d of %d runs: mix %d leaves half of the work undone", seed, runs, best.Index)
			}
		}
	}
	t.Logf("the plan is 10 GPUs in so many of 50 tables, by runs: %v; in %d plans a run breaks the limit", small, anyUndone)
	for _, runs := range []int{40, 60, 80} {
		if small[runs] < small[20] {
			t.Errorf("%d runs: 10 GPUs in %d tables, with 20 runs in %d", runs, small[runs], small[20])
		}
	}
	if anyUndone == 0 {
		t.Error("no run breaks the limit: this shows nothing")
	}
}
