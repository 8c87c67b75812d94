package plan_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// TestParseAfter reads what String writes, and nothing else.
func TestParseAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAfter(t)
		if a.Rule != plan.Tail {
			a.Milli = 0
		}
		if got, err := plan.ParseAfter(a.String()); err != nil || got != a {
			t.Fatalf("%s is %+v (%v), want %+v", a, got, err, a)
		}
	})
	for _, bad := range []string{"", "tail", "tail=", "tail=-1", "tail=x", "tail=NaN", "whole=1", "overrun"} {
		if got, err := plan.ParseAfter(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
}

// TestMovedByAYearOfWeeks moves a demand by 52 weeks. Terms that are longer than the demand count
// with the part within, so leap years and the lengths of months make no difference.
func TestMovedByAYearOfWeeks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := capcli.Time(1_767_225_600 + 86_400*rapid.Int64Range(0, 1500).Draw(t, "day")) // from 2026 on
		m := &plan.Market{OnDemand: plan.Flat(4_000_000), Every: capcli.Step{Days: 7}}
		for _, length := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"6mo", "1y", "3y", "26w", "365d"}), 1, 3, rapid.ID).Draw(t, "terms") {
			step, err := capcli.ParseStep(length)
			if err != nil {
				t.Fatal(err)
			}
			m.Terms = append(m.Terms, plan.Term{Name: length, Length: step, Rate: plan.Flat(capcli.Rate(rapid.Int64Range(1_000_000, 5_000_000).Draw(t, "rate")))})
		}
		gpus := make([]float64, rapid.IntRange(1, 20*7).Draw(t, "days"))
		for i := range gpus {
			gpus[i] = float64(rapid.IntRange(0, 9).Draw(t, "GPUs"))
		}
		var first *plan.Optimum
		for _, by := range []capcli.Time{0, 52 * 7 * 86_400} {
			c, err := plan.NewCurve(start+by, capcli.Step{Days: 1}, gpus)
			if err != nil {
				t.Fatal(err)
			}
			got := solved(t, m, c)
			if first == nil {
				first = got
				continue
			}
			same := got.Cost == first.Cost && slices.EqualFunc(got.Purchases, first.Purchases, func(a, b plan.Purchase) bool {
				return a.Term == b.Term && a.From == b.From && a.Milli == b.Milli && a.Cost == b.Cost
			})
			if !same {
				t.Fatalf("costs %s moved by 52 weeks, %s before: %+v and %+v", got.Cost.Decimal(), first.Cost.Decimal(), got.Purchases, first.Purchases)
			}
		}
	})
}

// TestFirstPurchaseAtEveryHorizon plans a demand that does not fall, over every horizon from the
// term on: what is bought today does not hang on how far one looks. Break-even uses that tie are
// among the drawn ones.
func TestFirstPurchaseAtEveryHorizon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := rapid.SampledFrom([]int{1, 3, 12}).Draw(t, "months")
		m := &plan.Market{OnDemand: plan.Flat(4_000_000), Every: capcli.Step{Months: 1}, Terms: []plan.Term{
			{Length: capcli.Step{Months: term}, Rate: plan.Flat(4_000_000 * capcli.Rate(rapid.IntRange(1, 11).Draw(t, "twelfths")) / 12)},
		}}
		gpus := make([]float64, 36*4)
		level := 0
		for i := range gpus {
			level += rapid.IntRange(0, 1).Draw(t, "more")
			gpus[i] = float64(level)
		}
		var first int64 = -1
		for months := term; months <= 36; months += rapid.IntRange(1, 12).Draw(t, "further") {
			c, err := plan.NewCurve(capcli.NoTime, capcli.Step{Seconds: 730 * capcli.Hour / 4}, gpus[:4*months])
			if err != nil {
				t.Fatal(err)
			}
			var today int64
			for _, p := range solved(t, m, c).Purchases {
				if p.From == 0 {
					today += p.Milli
				}
			}
			if first >= 0 && today != first {
				t.Fatalf("%d thousandths today at %d months, %d at less", today, months, first)
			}
			first = today
		}
	})
}

// TestHeldServeFirst is the case of the docs: 64 GPUs held until April, 100 wanted for three years.
func TestHeldServeFirst(t *testing.T) {
	start, err := capcli.ParseTime("2027-01-01", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.NewCurve(start, capcli.Step{Days: 1}, slices.Repeat([]float64{100}, 1096))
	if err != nil {
		t.Fatal(err)
	}
	// They end on a day that is no time of purchase.
	held := []plan.Held{{To: 100 * capcli.Day, Milli: 64_000}}
	m := (&plan.Market{OnDemand: rate(t, "4"), Terms: []plan.Term{term(t, "1y", "2.52"), term(t, "3y", "2.10")}}).AfterHeld(held)
	left, _, err := c.Serve(held)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Solve(context.Background(), left)
	if err != nil {
		t.Fatal(err)
	}
	p := got.Purchases
	if len(p) != 2 || p[0].Milli != 36_000 || p[0].From != 0 || p[1].Milli != 64_000 || p[1].From != 100*capcli.Day || got.OnDemand != 0 {
		t.Errorf("bought %+v, on demand %s", p, got.OnDemand)
	}
}

// TestLead orders in March what is delivered in August: until then all is on demand.
func TestLead(t *testing.T) {
	start, err := capcli.ParseTime("2027-03-01", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.NewCurve(start, capcli.Step{Days: 1}, slices.Repeat([]float64{10}, 365))
	if err != nil {
		t.Fatal(err)
	}
	x := term(t, "1y", "2")
	x.Lead = capcli.Step{Months: 5}
	got, err := (&plan.Market{OnDemand: rate(t, "4"), Terms: []plan.Term{x}}).Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	// 153 days to 1 August at $4, the other 212 at $2, for 10 GPUs.
	if want := capcli.USD(153*24*40+212*24*20) * capcli.Dollar; got.Cost != want {
		t.Errorf("costs %s, want %s", got.Cost, want)
	}
	if p := got.Purchases; len(p) != 1 || p[0].Ordered != 0 || p[0].From != 153*capcli.Day || p[0].Milli != 10_000 {
		t.Errorf("bought %+v", p)
	}
}
