package plan_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// TestPrice prices the optimum's own purchases, and others, which cost no less.
func TestPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, c := market(t), drawCurve(t)
		best := solved(t, m, c)
		if got, err := m.Price(c, best.Purchases); err != nil || got != best.Cost {
			t.Fatalf("the optimum's purchases cost %s (%v), want %s", got, err, best.Cost)
		}
		other := append([]plan.Purchase(nil), best.Purchases...)
		for i := range other {
			other[i].Milli *= rapid.Int64Range(0, 3).Draw(t, "times")
		}
		if got, err := m.Price(c, other); err != nil || got < best.Cost {
			t.Fatalf("other purchases cost %s (%v), the optimum %s", got, err, best.Cost)
		}
		list, err := m.Sensitivity(context.Background(), c, best.Purchases, 0.2)
		if err != nil || len(list) != 4+2*len(m.Terms) {
			t.Fatalf("%d changes of %d terms (%v)", len(list), len(m.Terms), err)
		}
		for _, x := range list {
			if x.Regret < 0 {
				t.Fatalf("%+v: regret under 0", x)
			}
		}
	})
}

// TestSensitivity is a demand of ten for a day, bought at half the price: by hand.
func TestSensitivity(t *testing.T) {
	c := curve(t, capcli.Step{Seconds: 24 * hour}, 10)
	m := plan.Market{OnDemand: rate(t, "1"), Terms: []plan.Term{term(t, "24h", "0.5")}}
	best, err := m.Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Sensitivity(context.Background(), c, best.Purchases, 0.6)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Change{
		{What: "demand", Share: -.6, Kept: usd(t, "120"), Best: usd(t, "48"), Regret: usd(t, "72")},
		{What: "demand", Share: .6, Kept: usd(t, "264"), Best: usd(t, "192"), Regret: usd(t, "72")},
		{What: "on_demand", Share: -.6, Kept: usd(t, "120"), Best: usd(t, "96"), Regret: usd(t, "24")},
		{What: "on_demand", Share: .6, Kept: usd(t, "120"), Best: usd(t, "120")},
		{What: "24h", Share: -.6, Kept: usd(t, "48"), Best: usd(t, "48")},
		{What: "24h", Share: .6, Kept: usd(t, "192"), Best: usd(t, "192")},
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if _, err := m.Price(c, []plan.Purchase{{Term: 0, From: 7, Milli: 1000}}); err == nil {
		t.Error("a purchase in the middle is priced")
	}
	if _, err := m.Sensitivity(context.Background(), c, nil, 1.5); err == nil {
		t.Error("a share of 150 % is taken")
	}
}
