package flow_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"capcli/scenarios/decide/plan/flow"
)

// TestTies tries every choice: of those that cost the least, Solve takes one with the least sum of
// ties, and its cost and proof are those of the program without ties.
func TestTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallProgram(t)
		plain := flow.Program{Periods: p.Periods}
		plain.Offers = append(plain.Offers, p.Offers...)
		for i := range p.Offers {
			p.Offers[i].Tie = rapid.Int64Range(0, 3).Draw(t, "tie")
		}
		got, err := flow.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		without, err := flow.Solve(context.Background(), &plain)
		if err != nil || got.Cost.Cmp(without.Cost) != 0 || got.Bound.Cmp(got.Cost) != 0 {
			t.Fatalf("costs %s with ties, at least %s; %s without (%v)", got.Cost, got.Bound, without.Cost, err)
		}
		for m := range p.Periods {
			if a, b := got.Worth(m), without.Worth(m); a != b {
				t.Fatalf("one more in period %d is worth %d with ties, %d without", m, a, b)
			}
		}
		sum := func(bought []int64) (ties int64) {
			for i, n := range bought {
				ties += n * p.Offers[i].Tie
			}
			return ties
		}
		least := sum(got.Bought)
		bought := make([]int64, len(p.Offers))
		for {
			if cost, err := p.Cost(bought); err == nil && cost.Cmp(got.Cost) == 0 && sum(bought) < least {
				t.Fatalf("%d units of ties, %v has %d at the same cost", least, bought, sum(bought))
			}
			i := 0
			for ; i < len(bought) && bought[i] == 6; i++ {
				bought[i] = 0
			}
			if i == len(bought) {
				return
			}
			bought[i]++
		}
	})
}
