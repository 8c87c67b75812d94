package mix

import (
	"context"
	"slices"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// A search that gives up runs which have lost finds the same best mix and the same
// frontier as one that runs every mix to its end, and gives up the same ones
// whether it stops them or looks at the end.
func TestAbandonedRunsHadLost(t *testing.T) {
	golden.SkipLong(t)
	ctx := context.Background()
	stopped := 0
	for seed := capcli.Seed(1); seed <= 4; seed++ {
		z := someSizing(seed, 1)
		z.gpus = numbers(0, 40, 1)
		p := z.problem()
		limits := []Limit{{Metric: "wait_p95", Op: "<=", Value: 3000}}
		s := &Search{Problem: p, Limits: limits, Hold: 1}
		fast, err := s.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s.Evaluate = func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
			whole := make([]*Candidate, len(candidates))
			for i, c := range candidates {
				again := *c
				again.lost = loss{}
				whole[i] = &again
			}
			return p.evaluate(ctx, run, whole)
		}
		slow, err := s.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all := &Found{limits: limits, hold: 1}
		for i := range fast.Size {
			c, err := p.Candidate(i)
			if err != nil {
				t.Fatal(err)
			}
			o, err := p.Outcome(ctx, i, 0)
			if err != nil {
				t.Fatal(err)
			}
			e := &Entry{Candidate: c}
			e.note(o, limits)
			all.Entries = append(all.Entries, e)
		}
		for i, e := range fast.Entries {
			if other := slow.Entries[i]; e.Fate != other.Fate || e.Rival != other.Rival {
				t.Fatalf("seed %d: mix %d is %v by %d when stopped, %v by %d when run to its end", seed, i, e.Fate, e.Rival, other.Fate, other.Rival)
			}
			if e.lost.known && e.Fate == ByBound {
				stopped++
				rival := all.Entries[e.Rival]
				if own := all.Entries[i]; rival.Cost() >= own.Cost() || rival.Wait() > own.Wait() {
					t.Errorf("seed %d: mix %d was given up for %d, which does not beat it", seed, i, e.Rival)
				}
			}
		}
		if got, want := fast.BestEntry(), all.BestEntry(); got.Index != want.Index {
			t.Errorf("seed %d: the best is mix %d, want %d", seed, got.Index, want.Index)
		}
		if got, want := numbersOf(fast.frontier()), numbersOf(all.frontier()); !slices.Equal(got, want) {
			t.Errorf("seed %d: the frontier is %v, want %v", seed, got, want)
		}
	}
	if stopped < 10 {
		t.Errorf("only %d mixes were given up: the test shows nothing", stopped)
	}
}

func numbersOf(list []*Entry) []int {
	var out []int
	for _, e := range list {
		out = append(out, e.Index)
	}
	return out
}
