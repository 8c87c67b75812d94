package plan

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// Whatever people do, it costs no less than the optimum; accounts of every plan add
// up; a plan's regret is 0 in the future it was made for; knowing more never costs
// more.
func TestAssessLaws(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		futures, m := someFutures(t, 5, 24, 6)
		f, err := NewField(futures, m)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := f.Choose(ctx, Risk{})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := f.OptimumOfEach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := f.Baselines(ctx)
		if err != nil {
			t.Fatal(err)
		}
		best, err := f.Assess("mean", "", mean)
		if err != nil {
			t.Fatal(err)
		}
		own, err := f.Assess("own", "", alone[0])
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, best, own)
		if err := f.Regret(alone, plans...); err != nil {
			t.Fatal(err)
		}
		if own.Outcomes[0].Regret != 0 {
			t.Fatalf("the plan of future 0 has a regret of %s in it", own.Outcomes[0].Regret.Decimal())
		}
		least, _ := f.usd(mean.Value)
		for _, p := range plans {
			if got, err := f.Risk(p, Risk{}); err != nil || p.Purchases != nil && got < least {
				t.Fatalf("%s has a mean of %s, under the optimum %s (%v)", p.Name, got.Decimal(), least.Decimal(), err)
			}
			for s, o := range p.Outcomes {
				if o.Regret < 0 || o.Cost != o.Committed+o.OnDemand || o.Unused < 0 || o.Unused > o.Committed+1 || o.Covered > o.Paid || o.Covered > o.Wanted {
					t.Fatalf("%s in future %d: %+v", p.Name, s, o)
				}
				if want := capcli.Cost(2_000_000, o.Wanted-o.Covered); o.OnDemand != want {
					t.Fatalf("%s in future %d: %s on demand, want %s", p.Name, s, o.OnDemand.Decimal(), want.Decimal())
				}
			}
		}
		w, err := f.Wait(ctx, Stages{Every: capcli.Step{Seconds: 6 * capcli.Hour}, Count: 2, Branches: 3}, mean, alone)
		if err != nil {
			t.Fatal(err)
		}
		if w.Rest > w.Now || w.Again > w.Rest || w.Again > w.Later || w.Bound > w.Again || w.Known > w.Again || w.Now != least {
			t.Fatalf("%+v", w)
		}
	})
}

// Two years of 4, 6, 10 and 12 GPUs, against what the rules make of them by hand.
func TestBaselinesByHand(t *testing.T) {
	demand := slices.Concat(slices.Repeat([]float64{4}, 4), slices.Repeat([]float64{6}, 6), slices.Repeat([]float64{10}, 10), slices.Repeat([]float64{12}, 4))
	f, err := NewField(&Futures{Grid: capcli.Grid{Origin: capcli.NoTime, Step: capcli.Step{Seconds: 730 * capcli.Hour}}, Paths: [][]float64{demand}}, &Market{
		OnDemand: Flat(capcli.Dollar), Terms: []Term{
			{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(800_000)},
			{Name: "12mo", Length: capcli.Step{Months: 12}, Rate: Flat(630_000)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	plans, err := f.Baselines(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const month = 730 * capcli.Dollar
	// 3 of the peak of 12 for long; for each three months what they want over that,
	// at most 5. Rightsizing sees month 0 to 2 first, and tops up each month.
	tiers, over := 3*24*month*63/100, capcli.USD(0)
	flex := []float64{1, 3, 3, 5, 5, 5, 5, 5}
	for i, d := range demand {
		over += capcli.USD(max(0, d-3-flex[i/3])) * month
	}
	tiers += over + 3*32*month*80/100
	for name, want := range map[string]capcli.USD{
		"on-demand": 200 * month, "peak": 12 * 24 * month * 63 / 100, "three-tier": tiers,
	} {
		for _, p := range plans {
			if p.Name == name && p.Outcomes[0].Cost != want {
				t.Errorf("%s costs %s, want %s", name, p.Outcomes[0].Cost.Decimal(), want.Decimal())
			}
		}
	}
}

// Ten GPUs all the time: rightsizing pays three months on demand, then buys, and so
// does the online rule, once the fee of a lease was paid on demand.
func TestRulesByHand(t *testing.T) {
	f, err := NewField(&Futures{Grid: capcli.Grid{Origin: capcli.NoTime, Step: capcli.Step{Seconds: 730 * capcli.Hour}}, Paths: [][]float64{slices.Repeat([]float64{10}, 12)}}, &Market{
		OnDemand: Flat(capcli.Dollar), Terms: []Term{{Name: "3mo", Length: capcli.Step{Months: 3}, Rate: Flat(800_000)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	plans, err := f.Baselines(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const month = 730 * capcli.Dollar
	want := map[string]capcli.USD{
		"rightsize-90d": 10*3*month + 10*9*month*80/100,
		// On demand in months 0 to 2 is 3 months, over the fee of 2.4: leased from
		// month 2 on, to month 4. The next begins when months 5 to 7 are seen.
		"online-3mo": 10 * (2*month + 3*month*80/100 + 2*month + 3*month*80/100 + 2*month),
	}
	for _, p := range plans {
		if w, ok := want[p.Name]; ok && p.Outcomes[0].Cost != w {
			t.Errorf("%s costs %s, want %s", p.Name, p.Outcomes[0].Cost.Decimal(), w.Decimal())
		}
	}
}

// No rule of thumb costs less than the optimum, also where demand is no whole
// number of thousandths.
func TestRulesAreNoBetterThanTheOptimum(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		_, m := someFutures(t, 1, 8, 3)
		var gpus []float64
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			gpus = append(gpus, rapid.Float64Range(0, 9).Draw(t, "demand"))
		}
		c, err := NewCurve(1_798_761_600, capcli.Step{Seconds: capcli.Hour}, gpus)
		if err != nil {
			t.Fatal(err)
		}
		best, err := m.Solve(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := m.Rules(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if len(rules) < 3 {
			t.Fatalf("%d rules", len(rules))
		}
		for _, r := range rules {
			if r.Outcomes[0].Cost < best.Cost {
				t.Fatalf("%s costs %s, the optimum %s", r.Name, r.Outcomes[0].Cost.Decimal(), best.Cost.Decimal())
			}
		}
	})
}
