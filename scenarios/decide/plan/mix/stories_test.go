package mix_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
	"capcli/testdata/golden"
)

// twiceAsMany plans the story of its name at a price of the H100, with on demand at 1.6 times as much.
func twiceAsMany(t *testing.T, seed int, price float64, hSizes, aSizes string) *mix.Result {
	t.Helper()
	c, err := new(play.Maker).Case(t.Context(), &play.Question{
		Scenario: "twice-as-many", Sets: []string{fmt.Sprintf("seed=%d", seed), fmt.Sprintf("capacity.h100.price=%.4f", price), fmt.Sprintf("capacity.burst-h.price=%.4f", 1.6*price)},
	})
	if err != nil {
		t.Fatal(err)
	}
	q := mix.NewRequest(c)
	q.Vary, q.Runs = []string{"capacity.h100.gpus=" + hSizes, "capacity.a100.gpus=" + aSizes}, 1
	r, err := mix.Plan(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Best == nil || r.Bound.Service() || r.Bound.Cost <= 0 || r.Bound.Cost > *r.Best.Cost || len(r.Models) != 2 {
		t.Fatalf("seed %d at %.2f: best %v, bound %+v, models %v", seed, price, r.Best, r.Bound, r.Models)
	}
	return r
}

// TestTwiceAsMany holds the story: H100s, or twice as many A100s? A job costs the same on both at 1 / 0.4 = 2.5 times
// the price. Well below it the plan is H100s alone, well above it A100s alone, on every seed.
func TestTwiceAsMany(t *testing.T) {
	golden.SkipLong(t)
	for seed := 1; seed <= 3; seed++ {
		for _, x := range []struct {
			price float64
			plan  int // of Models
		}{{2.60, 0}, {3.24, 1}} {
			r := twiceAsMany(t, seed, x.price, "0..96:8", "0..192:16")
			for i := range r.Models {
				m := &r.Models[i]
				more := m.More.Float() / r.Best.Cost.Float()
				if m.Best != (i == x.plan) || !m.Best && (more < 0.05 || more > 0.12) || !m.Holds {
					t.Errorf("seed %d, H100 at %.2f: %+v, %.3f more", seed, x.price, m, more)
				}
			}
			if *r.Best.Cost > r.Bound.Cost+r.Bound.Cost/5 {
				t.Errorf("seed %d, H100 at %.2f: %s, over 20%% above the bound of %s", seed, x.price, *r.Best.Cost, r.Bound.Cost)
			}
		}
	}
}

// TestTwiceAsManyBreaksEven holds the bound against its closed form: the cost of a job is the lower of its costs on the
// two models, so the bound is in proportion to the price of the H100 up to 2.5 times that of the A100, and does not change
// from there on.
func TestTwiceAsManyBreaksEven(t *testing.T) {
	const even = 2.5 * 1.20
	bound := map[float64]capcli.USD{}
	for _, price := range []float64{2.40, 2.70, even, 3.30, 4.50} {
		bound[price] = twiceAsMany(t, 1, price, "0,48", "0,96").Bound.Cost
	}
	for price, b := range bound {
		got, want := b.Float()/bound[even].Float(), math.Min(1, price/even)
		if math.Abs(got-want) > 0.001 {
			t.Errorf("H100 at %.2f: the bound is %.4f times that at the break-even price, want %.4f", price, got, want)
		}
	}
}
