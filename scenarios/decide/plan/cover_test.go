package plan

import (
	"context"
	"math/big"
	"testing"

	"capcli/scenarios/decide/plan/flow"

	"pgregory.net/rapid"
)

// drawCover draws a cover of a few rows and offers over any sets of them.
func drawCover(t *rapid.T, rows, offers, most int) *cover {
	c := &cover{rows: make([]flow.Levels, rapid.IntRange(1, rows).Draw(t, "rows"))}
	for r := range c.rows {
		last := int64(40)
		for range rapid.IntRange(0, 3).Draw(t, "segments") {
			cost := rapid.Int64Range(0, last).Draw(t, "cost")
			c.rows[r] = c.rows[r].Add(rapid.Int64Range(1, int64(most)).Draw(t, "units"), cost)
			last = cost
		}
	}
	for range rapid.IntRange(1, offers).Draw(t, "offers") {
		o := coverOffer{hi: -1, cost: rapid.Int64Range(1, 80).Draw(t, "offer cost")}
		for r := range c.rows {
			if rapid.Bool().Draw(t, "covers") {
				o.rows = append(o.rows, r)
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			o.hi = rapid.Int64Range(0, 3).Draw(t, "most")
		}
		if rapid.IntRange(0, 5).Draw(t, "forced") == 0 {
			o.lo = rapid.Int64Range(0, 2).Draw(t, "fewest")
			o.hi = max(o.hi, o.lo)
		}
		c.offers = append(c.offers, o)
	}
	return c
}

// cheapest tries every choice.
func (s *coverSearch) cheapest(x []int64, j int, most int64) int64 {
	if j == len(x) {
		cost, _ := s.total(x)
		return cost
	}
	o := s.c.offers[j]
	hi := most
	if o.hi >= 0 {
		hi = min(hi, o.hi)
	}
	best := int64(1) << 60
	for n := o.lo; n <= max(hi, o.lo); n++ {
		x[j] = n
		best = min(best, s.cheapest(x, j+1, most))
	}
	return best
}

func TestCoverEqualsEveryChoice(t *testing.T) {
	proven, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCover(t, 5, 4, 2)
		got, err := solveCover(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		s := &coverSearch{c: c, rows: coverRowsOf(c.rows)}
		want := s.cheapest(make([]int64, len(c.offers)), 0, 7)
		if got.bound.Cmp(big.NewInt(want)) > 0 {
			t.Fatalf("bound %s is over the optimum %d", got.bound, want)
		}
		if cost, _ := s.total(got.bought); cost != got.cost || got.cost < want {
			t.Fatalf("cost %d of a choice that costs %d; the optimum is %d", got.cost, cost, want)
		}
		all++
		if got.proven() {
			proven++
			if got.cost != want {
				t.Fatalf("proven %d, want %d", got.cost, want)
			}
		}
	})
	if proven*100 < all*97 {
		t.Errorf("%d of %d were proven", proven, all)
	}
}

// On an unbroken time line the flow is the reference.
func TestCoverEqualsFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCover(t, 10, 0+1, 9)
		p := &flow.Program{Periods: c.rows}
		c.offers = nil
		for range rapid.IntRange(1, 12).Draw(t, "purchases") {
			from := rapid.IntRange(0, len(c.rows)-1).Draw(t, "from")
			to := rapid.IntRange(from+1, len(c.rows)).Draw(t, "to")
			o := coverOffer{hi: -1, cost: rapid.Int64Range(1, 120).Draw(t, "price")}
			for r := from; r < to; r++ {
				o.rows = append(o.rows, r)
			}
			c.offers = append(c.offers, o)
			p.Offers = append(p.Offers, flow.Offer{From: from, To: to, Cost: o.cost})
		}
		want, err := flow.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := solveCover(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want.Cost.Cmp(big.NewInt(got.cost)) != 0 || !got.proven() {
			t.Fatalf("%d, at least %s, want %s", got.cost, got.bound, want.Cost)
		}
	})
}

// proven reports whether no choice costs less.
func (c *covered) proven() bool { return c.bound.Cmp(big.NewInt(c.cost)) >= 0 }
