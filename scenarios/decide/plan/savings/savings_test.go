package savings_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan/savings"
)

// TestPriceVectors prices AWS's worked example: four kinds of use in an hour, at
// commitments that cover all of it, a part, and nothing.
func TestPriceVectors(t *testing.T) {
	skus := []savings.SKU{
		{Name: "c5.9xlarge", OnDemand: usd(t, "4"), Plan: usd(t, "2")},
		{Name: "c5.24xlarge", OnDemand: usd(t, "10"), Plan: usd(t, "8")},
		{Name: "vCPU", OnDemand: usd(t, "1.5"), Plan: usd(t, "1")},
		{Name: "GB", OnDemand: usd(t, "2"), Plan: usd(t, "1")},
	}
	hour := [][]int64{{1000, 1000, 10_000, 5000}}
	for _, tt := range []struct{ commit, cost, used string }{
		{"25", "25", "25"}, {"10", "30.5", "10"}, {"18", "26.75", "18"}, {"0", "39", "0"}, {"30", "30", "25"},
	} {
		s, err := savings.Price(skus, hour, usd(t, tt.commit))
		if err != nil || s.Cost != usd(t, tt.cost) || s.Used != usd(t, tt.used) || s.AllOnDemand != usd(t, "39") {
			t.Errorf("%s an hour: %+v (%v), want %s", tt.commit, s, err, tt.cost)
		}
	}
	if s, err := savings.BestCommitment(skus, hour); err != nil || s.Commit != usd(t, "25") {
		t.Errorf("the best is %+v (%v), want 25 an hour", s, err)
	}
}

// TestBest holds the commitment against trying every millionth near the
// kinks, and of one SKU against the newsvendor.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var skus []savings.SKU
		for range rapid.IntRange(1, 3).Draw(t, "skus") {
			p := capcli.Rate(rapid.Int64Range(1, 40).Draw(t, "plan"))
			skus = append(skus, savings.SKU{OnDemand: p + capcli.Rate(rapid.Int64Range(-1, 60).Draw(t, "more")), Plan: p})
		}
		var used [][]int64
		for range rapid.IntRange(1, 5).Draw(t, "hours") {
			hour := make([]int64, len(skus))
			for i := range hour {
				hour[i] = 1000 * rapid.Int64Range(0, 3).Draw(t, "use")
			}
			used = append(used, hour)
		}
		best, err := savings.BestCommitment(skus, used)
		if err != nil {
			t.Fatal(err)
		}
		for c := range capcli.USD(3*3*40 + 1) {
			s, err := savings.Price(skus, used, c)
			if err != nil {
				t.Fatal(err)
			}
			if s.Cost < best.Cost {
				t.Fatalf("%d an hour costs %d, the best, %d, costs %d", c, s.Cost, best.Commit, best.Cost)
			}
			if bill := hourByHour(skus, used, c); bill != s.Cost {
				t.Fatalf("%d an hour costs %d, by hand %d", c, s.Cost, bill)
			}
		}
		if len(skus) > 1 {
			return
		}
		demand := make([]float64, len(used))
		for i := range used {
			demand[i] = float64(used[i][0]) / 1000
		}
		if k := newsvendor(demand, skus[0].Plan, skus[0].OnDemand); best.Commit != capcli.USD(k)*skus[0].Plan {
			t.Fatalf("%d an hour, want %v GPUs at %d", best.Commit, k, skus[0].Plan)
		}
	})
	if _, err := savings.BestCommitment([]savings.SKU{{Plan: 0}}, [][]int64{{1}}); err == nil {
		t.Error("a plan for nothing is taken")
	}
	if _, err := savings.BestCommitment([]savings.SKU{{OnDemand: 1, Plan: 1}}, nil); err == nil {
		t.Error("no hours are taken")
	}
}

// hourByHour bills whole units of use one at a time, the highest discount first,
// in fractions of a millionth.
func hourByHour(skus []savings.SKU, used [][]int64, commit capcli.USD) capcli.USD {
	sum := new(big.Rat).SetInt64(int64(commit) * int64(len(used)))
	for _, hour := range used {
		left := new(big.Rat).SetInt64(int64(commit))
		done := make([]bool, len(skus))
		for range skus {
			best := -1
			for i := range skus {
				if !done[i] && (best < 0 || comesFirst(skus[i], skus[best])) {
					best = i
				}
			}
			done[best] = true
			s := skus[best]
			for range hour[best] / 1000 {
				part := new(big.Rat).Quo(left, new(big.Rat).SetInt64(int64(s.Plan)))
				if one := big.NewRat(1, 1); part.Cmp(one) > 0 {
					part = one
				}
				left.Sub(left, new(big.Rat).Mul(part, new(big.Rat).SetInt64(int64(s.Plan))))
				rest := new(big.Rat).Sub(big.NewRat(1, 1), part)
				sum.Add(sum, rest.Mul(rest, new(big.Rat).SetInt64(int64(s.OnDemand))))
			}
		}
	}
	sum.Add(sum, big.NewRat(1, 2))
	return capcli.USD(new(big.Int).Div(sum.Num(), sum.Denom()).Int64())
}

// comesFirst tells whether the plan covers a before b.
func comesFirst(a, b savings.SKU) bool {
	x, y := int64(a.OnDemand)*int64(b.Plan), int64(b.OnDemand)*int64(a.Plan)
	return x > y || x == y && a.Plan < b.Plan
}

// newsvendor is the level that is wanted in more than rate/onDemand of the hours: the
// best one commitment for all of them.
func newsvendor(demand []float64, rate, onDemand capcli.Rate) float64 {
	sorted := slices.Sorted(slices.Values(demand))
	slices.Reverse(sorted)
	for j, d := range sorted {
		if int64(j+1)*int64(onDemand) > int64(len(sorted))*int64(rate) {
			return max(0, d)
		}
	}
	return 0
}

func usd(t testing.TB, text string) capcli.USD {
	t.Helper()
	u, err := capcli.ParseUSD(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
