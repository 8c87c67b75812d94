package flow_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli/scenarios/decide/plan/flow"
)

// smallProgram draws a program that can be solved by trying everything.
func smallProgram(t *rapid.T) *flow.Program {
	p := &flow.Program{}
	for range rapid.IntRange(1, 4).Draw(t, "periods") {
		var levels flow.Levels
		cost := int64(20)
		for range rapid.IntRange(0, 3).Draw(t, "segments") {
			cost -= rapid.Int64Range(0, 8).Draw(t, "fall")
			if cost < 0 {
				break
			}
			levels = append(levels, flow.Segment{Units: rapid.Int64Range(1, 2).Draw(t, "units"), Cost: cost})
		}
		p.Periods = append(p.Periods, levels)
	}
	for range rapid.IntRange(0, 4).Draw(t, "offers") {
		from := rapid.IntRange(0, len(p.Periods)-1).Draw(t, "from")
		p.Offers = append(p.Offers, flow.Offer{
			From: from, To: rapid.IntRange(from+1, len(p.Periods)).Draw(t, "to"),
			Cost: rapid.Int64Range(0, 40).Draw(t, "cost"), Max: rapid.SampledFrom([]int64{0, 0, 1, 2}).Draw(t, "max"),
		})
	}
	return p
}

// cheapest tries every choice; covered levels of demand count from the lowest.
func cheapest(p *flow.Program) int64 {
	var most int64
	for _, levels := range p.Periods {
		var n int64
		for _, s := range levels {
			n += s.Units
		}
		most = max(most, n)
	}
	best := int64(math.MaxInt64)
	level := make([]int64, len(p.Periods))
	var try func(i int, cost int64)
	try = func(i int, cost int64) {
		if i == len(p.Offers) {
			for m, levels := range p.Periods {
				k := int64(0)
				for _, s := range levels {
					for range s.Units {
						if k++; k > level[m] {
							cost += s.Cost
						}
					}
				}
			}
			best = min(best, cost)
			return
		}
		o := p.Offers[i]
		upTo := most
		if o.Max > 0 {
			upTo = min(upTo, o.Max)
		}
		for n := int64(0); n <= upTo; n++ {
			for m := o.From; m < o.To; m++ {
				level[m] += n
			}
			try(i+1, cost+n*o.Cost)
			for m := o.From; m < o.To; m++ {
				level[m] -= n
			}
		}
	}
	try(0, 0)
	return best
}

// lift gives p as it is with one level covered for nothing in a period.
func lift(p *flow.Program, period int) *flow.Program {
	out := &flow.Program{Periods: slices.Clone(p.Periods), Offers: p.Offers}
	levels := slices.Clone(p.Periods[period])
	if len(levels) == 0 {
		return out
	}
	if levels[0].Units--; levels[0].Units == 0 {
		levels = levels[1:]
	}
	out.Periods[period] = levels
	return out
}

func TestSolveFindsTheCheapest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallProgram(t)
		s, err := flow.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if want := cheapest(p); s.Cost.Cmp(big.NewInt(want)) != 0 {
			t.Fatalf("cost %v, want %d", s.Cost, want)
		}
		for m := range p.Periods {
			without, err := flow.Solve(context.Background(), lift(p, m))
			if err != nil {
				t.Fatal(err)
			}
			if saved := new(big.Int).Sub(s.Cost, without.Cost); saved.Cmp(big.NewInt(s.Worth(m))) != 0 {
				t.Fatalf("one more in period %d is worth %d, but saves %v", m, s.Worth(m), saved)
			}
		}
	})
}

// TestProveSeesWrongOptima spoils what Solve gives, and Prove must see it.
func TestProveSeesWrongOptima(t *testing.T) {
	p := &flow.Program{
		Periods: []flow.Levels{{{2, 5}, {1, 3}}, {{3, 4}}},
		Offers:  []flow.Offer{{From: 0, To: 2, Cost: 7}, {From: 1, To: 2, Cost: 3, Max: 1}},
	}
	spoil := map[string]func(s *flow.Solution){
		"a purchase more": func(s *flow.Solution) { s.Bought[0]++ },
		"over the limit":  func(s *flow.Solution) { s.Bought[1] = 2 },
		"another level":   func(s *flow.Solution) { s.Level[0]++ },
		"a lower cost":    func(s *flow.Solution) { s.Cost.Sub(s.Cost, big.NewInt(1)) },
		"another bound":   func(s *flow.Solution) { s.Bound.Add(s.Bound, big.NewInt(1)) },
		"a price":         func(s *flow.Solution) { s.Price[0] += 5 },
		"a price under 0": func(s *flow.Solution) { s.Price[0] = -1 },
		"no prices":       func(s *flow.Solution) { s.Price = nil },
		"no purchases":    func(s *flow.Solution) { s.Bought = nil },
	}
	for name, do := range spoil {
		s, err := flow.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		do(s)
		if p.Prove(s) == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}
