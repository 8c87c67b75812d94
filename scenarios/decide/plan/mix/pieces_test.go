package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"capcli/testdata/golden"
)

func piecesProblem(runs int) *Problem {
	z := someSizing(7, runs)
	z.gpus, z.patience, z.policies = numbers(0, 30, 2), []string{"0", "1h"}, []string{"fifo", "srtf"}
	return z.problem()
}

// A search over outcomes that shards computed, whatever the number of shards and
// the order in which they ended, finds what one that simulates finds: the same
// mixes, dropped for the same reasons, and the same figures to the last bit.
func TestPiecesGiveTheSameSearch(t *testing.T) {
	const runs = 5
	for _, c := range []struct {
		name       string
		goal       Goal
		confidence float64
		stride     int
		limits     []Limit
	}{
		{"the frontier", frontier, 0.99, 1, nil},
		{"the cheapest, with a race", cheapest, 0.9, 1, []Limit{{Metric: "wait_p95", Op: "<=", Value: 600}}},
		{"with a limit on cost", cheapest, 0.99, 1, []Limit{{Metric: "cost", Op: "<=", Value: 600}, {Metric: "wait_p95", Op: "<=", Value: 600}}},
		{"coarse, then finer", frontier, 0.99, 4, nil},
	} {
		if golden.Short() && c.stride == 1 && c.confidence > 0.95 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			search := func(e Evaluate) *Found {
				s := &Search{
					Problem: piecesProblem(runs), Limits: c.limits, Hold: 0.9, Confidence: c.confidence, Goal: c.goal,
					Stride: c.stride, Include: []int{37}, Evaluate: e,
				}
				f, err := s.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			want := search(nil)
			p, err := (&Search{Problem: piecesProblem(runs), Limits: c.limits, Hold: 0.9, Stride: c.stride, Include: []int{37}}).pieces(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			outcomes := make([]json.RawMessage, p.Len())
			const count = 5
			for _, k := range rand.New(rand.NewPCG(1, 2)).Perm(count) {
				var which []int
				for i := k; i < p.Len(); i += count {
					which = append(which, i)
				}
				err := p.Compute(context.Background(), which, func(i int, outcome json.RawMessage) error {
					outcomes[i] = outcome
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			evaluate, err := p.Evaluate(outcomes)
			if err != nil {
				t.Fatal(err)
			}
			got := search(evaluate)
			if got.Simulations != want.Simulations || !reflect.DeepEqual(got.Counts(), want.Counts()) {
				t.Errorf("%d simulations, %+v, want %d, %+v", got.Simulations, got.Counts(), want.Simulations, want.Counts())
			}
			for i, e := range want.Entries {
				o := got.Entries[i]
				if o.Index != e.Index || o.Fate != e.Fate || o.Rival != e.Rival || !reflect.DeepEqual(o.Outcomes, e.Outcomes) {
					t.Errorf("mix %v: %s after %d runs, want %s after %d", e.Values, o.Fate, len(o.Outcomes), e.Fate, len(e.Outcomes))
				}
			}
			t.Logf("%d mixes, %d simulations, %d pieces", len(want.Entries), want.Simulations, p.Len())
			if c.limits != nil && c.limits[0].Metric == "cost" && (p.Len() >= want.Size*runs || p.Len() == 0) {
				t.Errorf("a limit on cost leaves %d pieces", p.Len())
			}
		})
	}
}

// Mixes that differ only in their prices are one piece, and outcomes under wrong
// numbers are refused.
func TestPiecesAreHeldAgainstTheirNumbers(t *testing.T) {
	z := someSizing(3, 2)
	z.gpus, z.patience, z.policies = numbers(2, 8, 2), []string{"0"}, []string{"fifo"}
	problem := z.problem()
	make1 := problem.Candidate
	problem.Candidate = func(i int) (*Candidate, error) {
		c, err := make1(i)
		if err == nil {
			c.Key = fmt.Sprint(i / 2 * 2) // as if they differed in price
		}
		return c, err
	}
	p, err := (&Search{Problem: problem, Hold: 1}).pieces(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Len() != 4 {
		t.Fatalf("two keys in two runs are %d pieces", p.Len())
	}
	outcomes := make([]json.RawMessage, p.Len())
	if err := p.Compute(context.Background(), []int{0, 1, 2, 3}, func(i int, o json.RawMessage) error { outcomes[i] = o; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(outcomes); err != nil {
		t.Error(err)
	}
	outcomes[0], outcomes[1] = outcomes[1], outcomes[0]
	if _, err := p.Evaluate(outcomes); err == nil || err.Error() != "piece 0: expected mix 0 in run 0, found mix 0 in run 1" {
		t.Errorf("swapped outcomes: %v", err)
	}
	outcomes[0] = json.RawMessage(`[]`)
	if _, err := p.Evaluate(outcomes); err == nil {
		t.Error("a piece without outcomes was taken")
	}
	if _, err := p.Evaluate(outcomes[1:]); err == nil {
		t.Error("a list without a piece was taken")
	}
}
