package plan

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// someFutures draws futures on weeks that are bought by the week, in whole and broken
// GPUs, and a market of a term or two.
func someFutures(t *rapid.T, futures, steps, most int) (*Futures, *Market) {
	f := &Futures{Grid: capcli.Grid{Origin: 1_798_761_600, Step: capcli.Step{Seconds: capcli.Hour}}}
	for range rapid.IntRange(1, futures).Draw(t, "futures") {
		path := make([]float64, steps)
		for i := range path {
			path[i] = float64(rapid.IntRange(0, 2*most).Draw(t, "demand")) / 2
		}
		f.Paths = append(f.Paths, path)
	}
	after := After{rapid.SampledFrom([]AfterRule{Fitting, Prorated}).Draw(t, "after"), 0}
	m := &Market{OnDemand: Flat(2_000_000), Every: capcli.Step{Seconds: 2 * capcli.Hour}, After: after}
	for i := range rapid.IntRange(1, 2).Draw(t, "terms") {
		length := capcli.Seconds(rapid.IntRange(1, steps/2).Draw(t, "length")) * 2
		m.Terms = append(m.Terms, Term{Name: fmt.Sprint(i), Length: capcli.Step{Seconds: length * capcli.Hour}, Rate: Flat(capcli.Rate(rapid.IntRange(2, 24).Draw(t, "rate")) * 100_000)})
	}
	return f, m
}

// brute finds the least risk of all choices of up to most lots of each option.
func (f *Field) brute(risk Risk, most int64) *big.Rat {
	var best *big.Rat
	bought := make([]int64, len(f.cost))
	for {
		costs, err := f.costs(bought)
		if err != nil {
			panic(err)
		}
		if v := risk.Measure(costs); best == nil || v.Cmp(best) < 0 {
			best = v
		}
		i := 0
		for ; i < len(bought) && bought[i] == most; i++ {
			bought[i] = 0
		}
		if i == len(bought) {
			return best
		}
		bought[i]++
	}
}

// Against every choice that there is: the mean is exact, and CVaR and quantile lie
// between their bound and their value.
func TestChooseAgainstAllChoices(t *testing.T) {
	var exact, all int
	rapid.Check(t, func(t *rapid.T) {
		futures, m := someFutures(t, 4, 4, 2)
		f, err := NewField(futures, m)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.cost) > 6 {
			t.Skip("too many choices")
		}
		for _, risk := range []Risk{{}, {Kind: CVaR, Level: 500_000}, {Kind: CVaR, Level: 700_000}, {Kind: Quantile, Level: 600_000}} {
			got, err := f.Choose(context.Background(), risk)
			if err != nil {
				t.Fatal(err)
			}
			want := f.brute(risk, 2)
			if got.Value.Cmp(want) < 0 || got.Bound.Cmp(want) > 0 {
				t.Fatalf("%s: value %v, bound %v, the best of all choices %v", risk, got.Value, got.Bound, want)
			}
			if costs, err := f.costs(got.bought); err != nil || !slices.Equal(costs, got.Costs) || risk.Measure(costs).Cmp(got.Value) != 0 {
				t.Fatalf("%s: says costs of %v, has %v (%v)", risk, got.Costs, costs, err)
			}
			if risk.Kind == Mean && !got.Exact() {
				t.Fatalf("the mean is %v, its bound %v", got.Value, got.Bound)
			}
			if risk.Kind == CVaR {
				all++
				if got.Value.Cmp(want) == 0 {
					exact++
				}
			}
		}
	})
	if exact*100 < all*90 {
		t.Errorf("only %d of %d plans by CVaR are the best", exact, all)
	}
	t.Logf("%d of %d plans by CVaR are the best", exact, all)
}

// With one future, or futures that are all the same, every risk gives the plan of
// a demand that is known.
func TestChooseOneFuture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		futures, m := someFutures(t, 1, 8, 6)
		m.Lot = rapid.SampledFrom([]int64{0, 1, 500, 2000}).Draw(t, "lot")
		if rapid.Bool().Draw(t, "fall") {
			m.OnDemand = append(m.OnDemand, Price{3 * capcli.Hour, 1_120_000})
		}
		curve, err := NewCurve(futures.Grid.Origin, futures.Grid.Step, futures.Paths[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Solve(context.Background(), curve)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "copies") {
			futures.Paths = append(futures.Paths, futures.Paths[0])
		}
		f, err := NewField(futures, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, risk := range []Risk{{}, {Kind: CVaR, Level: 950_000}, {Kind: Quantile, Level: 800_000}} {
			got, err := f.Choose(context.Background(), risk)
			if err != nil {
				t.Fatal(err)
			}
			usd, err := f.usd(got.Value)
			if err != nil || usd != want.Cost || !got.Exact() {
				t.Fatalf("%s: %s (gap %g, %v), the plan of the known demand costs %s", risk, usd.Decimal(), got.Gap(), err, want.Cost.Decimal())
			}
		}
	})
}

// No plan has a lower mean than the plan by the mean, or a lower CVaR than the
// bound of the plan by CVaR, whose CVaR is not above that of the mean plan; no plan
// beats a future's own optimum in it; CVaR at 0 is the mean.
func TestRiskLaws(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		futures, m := someFutures(t, 12, 10, 9)
		f, err := NewField(futures, m)
		if err != nil {
			t.Fatal(err)
		}
		cvar := Risk{Kind: CVaR, Level: 800_000}
		mean, err := f.Choose(ctx, Risk{})
		if err != nil {
			t.Fatal(err)
		}
		tail, err := f.Choose(ctx, cvar)
		if err != nil {
			t.Fatal(err)
		}
		none, err := f.Choose(ctx, Risk{Kind: CVaR})
		if err != nil || none.Value.Cmp(mean.Value) != 0 {
			t.Fatalf("CVaR at 0 is %v, the mean %v (%v)", none.Value, mean.Value, err)
		}
		alone, err := f.OptimumOfEach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		plans := append([]*Choice{mean, tail}, alone...)
		random := make([]int64, len(f.cost))
		for i := range random {
			random[i] = int64(rapid.IntRange(0, 9).Draw(t, "bought"))
		}
		costs, err := f.costs(random)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, &Choice{Costs: costs})
		for _, p := range plans {
			if (Risk{}).Measure(p.Costs).Cmp(mean.Value) < 0 {
				t.Fatal("a plan has a lower mean than the plan by the mean")
			}
			if cvar.Measure(p.Costs).Cmp(tail.Bound) < 0 {
				t.Fatal("a plan has a lower CVaR than the bound")
			}
			for s, c := range p.Costs {
				if c < alone[s].Costs[s] {
					t.Fatalf("a plan costs less in future %d than its own optimum", s)
				}
			}
		}
		if tail.Value.Cmp(cvar.Measure(mean.Costs)) > 0 {
			t.Fatal("the plan by the mean has a lower CVaR than the plan by CVaR")
		}
	})
}

func TestRiskOf(t *testing.T) {
	costs := []int64{50, 10, 40, 20, 30}
	for _, tt := range []struct{ risk, want string }{
		{"mean", "30"},
		{"q80", "40"},
		{"q81", "50"},
		{"q20", "10"},
		{"cvar80", "50"},
		{"cvar60", "45"},
		{"cvar0", "30"},
		{"CVaR-70", "140/3"}, // 50, and half of 40, over one and a half
		{"cvar99", "50"},
	} {
		r, err := ParseRisk(tt.risk)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Measure(costs).RatString(); got != tt.want {
			t.Errorf("%s of %v is %s, want %s", tt.risk, costs, got, tt.want)
		}
	}
	for _, bad := range []string{"", "q", "q0", "q100", "cvar", "cvar100", "cvar-5x", "worst", "qNaN", "95"} {
		if r, err := ParseRisk(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, r)
		}
	}
}
