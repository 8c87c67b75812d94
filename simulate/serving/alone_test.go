package serving_test

import (
	"math/rand/v2"
	"testing"

	"capcli/simulate/serving"
)

// No request is served sooner in company than alone.
func TestAlone(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		c, requests := randomService(rand.New(rand.NewPCG(seed, 2)))
		alone, err := serving.PlayAlone(t.Context(), c, requests)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Replicas {
			c.Replicas[i] = serving.Replica{Drain: -1, Down: -1}
		}
		r, err := serving.Replay(t.Context(), c, requests)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Served {
			a, b := &alone[i], &r.Served[i]
			if a.Arrival != b.Arrival || a.Status != b.Status || a.FirstToken > b.FirstToken || a.Finish > b.Finish {
				t.Fatalf("seed %d: request %d alone\n%+v, with others\n%+v", seed, i, a, b)
			}
			compared++
		}
	}
	if compared < 5000 {
		t.Errorf("%d requests compared", compared)
	}
}
