package plan_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/plan"
)

// smallProgram draws a program that can be solved by trying everything.
func smallProgram(t *rapid.T) *plan.Program {
	p := &plan.Program{}
	for range rapid.IntRange(1, 4).Draw(t, "periods") {
		var levels plan.Levels
		cost := int64(20)
		for range rapid.IntRange(0, 3).Draw(t, "segments") {
			cost -= rapid.Int64Range(0, 8).Draw(t, "fall")
			if cost < 0 {
				break
			}
			levels = append(levels, plan.Segment{Units: rapid.Int64Range(1, 2).Draw(t, "units"), Cost: cost})
		}
		p.Periods = append(p.Periods, levels)
	}
	for range rapid.IntRange(0, 4).Draw(t, "offers") {
		from := rapid.IntRange(0, len(p.Periods)-1).Draw(t, "from")
		p.Offers = append(p.Offers, plan.Offer{
			From: from, To: rapid.IntRange(from+1, len(p.Periods)).Draw(t, "to"),
			Cost: rapid.Int64Range(0, 40).Draw(t, "cost"), Max: rapid.SampledFrom([]int64{0, 0, 1, 2}).Draw(t, "max"),
		})
	}
	return p
}

// cheapest tries every choice; covered levels of demand count from the lowest.
func cheapest(p *plan.Program) int64 {
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
func lift(p *plan.Program, period int) *plan.Program {
	out := &plan.Program{Periods: slices.Clone(p.Periods), Offers: p.Offers}
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
		s, err := plan.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if want := cheapest(p); s.Cost.Cmp(big.NewInt(want)) != 0 {
			t.Fatalf("cost %v, want %d", s.Cost, want)
		}
		for m := range p.Periods {
			without, err := plan.Solve(context.Background(), lift(p, m))
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
	p := &plan.Program{
		Periods: []plan.Levels{{{2, 5}, {1, 3}}, {{3, 4}}},
		Offers:  []plan.Offer{{From: 0, To: 2, Cost: 7}, {From: 1, To: 2, Cost: 3, Max: 1}},
	}
	spoil := map[string]func(s *plan.Solution){
		"a purchase more": func(s *plan.Solution) { s.Bought[0]++ },
		"over the limit":  func(s *plan.Solution) { s.Bought[1] = 2 },
		"another level":   func(s *plan.Solution) { s.Level[0]++ },
		"a lower cost":    func(s *plan.Solution) { s.Cost.Sub(s.Cost, big.NewInt(1)) },
		"another bound":   func(s *plan.Solution) { s.Bound.Add(s.Bound, big.NewInt(1)) },
		"a price":         func(s *plan.Solution) { s.Price[0] += 5 },
		"a price under 0": func(s *plan.Solution) { s.Price[0] = -1 },
		"no prices":       func(s *plan.Solution) { s.Price = nil },
		"no purchases":    func(s *plan.Solution) { s.Bought = nil },
	}
	for name, do := range spoil {
		s, err := plan.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		do(s)
		if p.Prove(s) == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}

// market draws terms for a curve of hours.
func market(t *rapid.T) *plan.Market {
	m := &plan.Market{
		OnDemand: plan.Flat(capcli.Rate(rapid.Int64Range(1, 3_000_000).Draw(t, "on demand"))),
		Every:    capcli.Step{Seconds: hour * capcli.Seconds(rapid.IntRange(1, 3).Draw(t, "every"))},
		Overrun:  rapid.Bool().Draw(t, "overrun"),
		Lot:      rapid.SampledFrom([]int64{0, 0, 500, 2000, 7}).Draw(t, "lot"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		m.Terms = append(m.Terms, drawTerm(t))
	}
	return m
}

func drawTerm(t *rapid.T) plan.Term {
	return plan.Term{
		Length: capcli.Step{Seconds: capcli.Minute * 30 * capcli.Seconds(rapid.IntRange(1, 16).Draw(t, "length"))},
		Rate:   plan.Flat(capcli.Rate(rapid.Int64Range(0, 3_000_000).Draw(t, "rate"))),
	}
}

func drawCurve(t *rapid.T) *plan.Curve {
	c, err := plan.NewCurve(capcli.NoTime, capcli.Step{Seconds: hour}, rapid.SliceOfN(rapid.Float64Range(0, 9), 1, 9).Draw(t, "demand"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func solved(t *rapid.T, m *plan.Market, c *plan.Curve) *plan.Optimum {
	o, err := m.Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestLaws holds what must be so of every optimum.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, c := market(t), drawCurve(t)
		best := solved(t, m, c)
		if none := solved(t, &plan.Market{OnDemand: m.OnDemand}, c); none.Cost != best.AllOnDemand || none.Cost != capcli.Cost(m.OnDemand[0].Rate, c.Sum()) {
			t.Fatalf("no terms cost %s, all on demand %s", none.Cost, best.AllOnDemand)
		}
		if best.Cost > best.AllOnDemand || best.Cost != best.Commitments+best.OnDemand || best.Used > best.Committed {
			t.Fatalf("the sums of the optimum are wrong: %+v", best)
		}
		more := *m
		more.Terms = append(slices.Clone(m.Terms), drawTerm(t))
		if o := solved(t, &more, c); o.Cost > best.Cost {
			t.Fatalf("one more term costs %s, before %s", o.Cost, best.Cost)
		}
		dearer := *m
		dearer.OnDemand = plan.Flat(m.OnDemand[0].Rate + 100_000)
		dearer.Terms = slices.Clone(m.Terms)
		for i := range dearer.Terms {
			dearer.Terms[i].Rate = plan.Flat(m.Terms[i].Rate[0].Rate + capcli.Rate(rapid.Int64Range(0, 99_999).Draw(t, "dearer")))
		}
		if o := solved(t, &dearer, c); o.Cost < best.Cost {
			t.Fatalf("dearer prices cost %s, before %s", o.Cost, best.Cost)
		}
		identity(t, m, c)
	})
}

// identity holds the effective savings rate: coverage × (1 - ρ/utilisation).
func identity(t *rapid.T, m *plan.Market, c *plan.Curve) {
	if len(m.Terms) == 0 {
		return
	}
	one := *m
	one.Terms = m.Terms[:1]
	o := solved(t, &one, c)
	rate, ok := o.SavingsRate()
	coverage, _ := o.Coverage()
	used, bought := o.Utilisation()
	if !ok || !bought || used == 0 {
		return
	}
	rho := m.Terms[0].Rate[0].Rate.Float() / m.OnDemand[0].Rate.Float()
	if want := coverage * (1 - rho/used); math.Abs(rate-want) > 1e-6*math.Max(1, 1e6/float64(o.AllOnDemand)) {
		t.Fatalf("effective savings rate %v, want %v", rate, want)
	}
}
