package decide

import (
	"testing"

	"capcli"
)

// TestSeedsAreTied asks the same question with other seeds and numbers of futures: the sizes that cost the same by one answer
// and by another overlap, so that which futures were drawn decides nothing.
func TestSeedsAreTied(t *testing.T) {
	m := made{seed: 3, days: 42, rate: "1.40"}
	files := m.files()
	type answer struct {
		seed          capcli.Seed
		futures, gpus int
		least, most   float64
	}
	var all []answer
	sizes := map[int]bool{}
	for seed := capcli.Seed(1); seed <= 5; seed++ {
		for _, futures := range []int{4, 12} {
			q := m.request()
			q.Seed, q.Futures, q.Origins = seed, futures, 0
			r, err := Decide(t.Context(), q, &World{Open: opened(files)})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, answer{seed, futures, r.Plan.GPUs, r.Ties.Least, r.Ties.Most})
			sizes[r.Plan.GPUs] = true
		}
	}
	t.Log(all)
	for _, a := range all {
		for _, b := range all {
			if a.least > b.most {
				t.Errorf("%+v and %+v are not tied", a, b)
			}
		}
	}
	if len(sizes) < 2 {
		t.Error("all futures give one size: this shows nothing")
	}
}
