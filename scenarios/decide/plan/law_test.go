package plan_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// market draws terms for a curve of hours.
func market(t *rapid.T) *plan.Market {
	m := &plan.Market{
		OnDemand: plan.Flat(capcli.Rate(rapid.Int64Range(1, 3_000_000).Draw(t, "on demand"))),
		Every:    capcli.Step{Seconds: hour * capcli.Seconds(rapid.IntRange(1, 3).Draw(t, "every"))},
		After:    drawAfter(t),
		Lot:      rapid.SampledFrom([]int64{0, 0, 500, 2000, 7}).Draw(t, "lot"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		m.Terms = append(m.Terms, drawTerm(t))
	}
	return m
}

func drawAfter(t *rapid.T) plan.After {
	return plan.After{
		Rule:  rapid.SampledFrom([]plan.AfterRule{plan.Prorated, plan.Tail, plan.InFull, plan.Fitting}).Draw(t, "after"),
		Milli: rapid.Int64Range(0, 5000).Draw(t, "tail"),
	}
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
		more := *m
		more.Terms = append(slices.Clone(m.Terms), drawTerm(t))
		c, err := more.Extend(c)
		if err != nil {
			t.Fatal(err)
		}
		best := solved(t, m, c)
		if none := solved(t, &plan.Market{OnDemand: m.OnDemand}, c); none.Cost != best.AllOnDemand || none.Cost != capcli.Cost(m.OnDemand[0].Rate, c.Sum()) {
			t.Fatalf("no terms cost %s, all on demand %s", none.Cost, best.AllOnDemand)
		}
		if best.Cost > best.AllOnDemand || best.Cost != best.Commitments+best.OnDemand || best.Used > best.Committed {
			t.Fatalf("the sums of the optimum are wrong: %+v", best)
		}
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
	if !ok || o.Committed == 0 || o.Used == 0 {
		return
	}
	coverage, used := float64(o.Used)/float64(o.Wanted), float64(o.Used)/float64(o.Committed)
	rho := m.Terms[0].Rate[0].Rate.Float() / m.OnDemand[0].Rate.Float()
	if want := coverage * (1 - rho/used); math.Abs(rate-want) > 1e-6*math.Max(1, 1e6/float64(o.AllOnDemand)) {
		t.Fatalf("effective savings rate %v, want %v", rate, want)
	}
}
