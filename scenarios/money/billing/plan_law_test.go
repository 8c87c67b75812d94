package billing_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
)

// bySavings applies plans to an hour of use as the provider's page says it, in
// rational arithmetic and by search rather than by sorting: while something can
// be covered, the plan and use with the highest saving, ties to the lowest rate,
// the owner's use before others. It gives what is left at on-demand prices.
func bySavings(use []billing.UseLine, plans []billing.Commitment) *big.Rat {
	left := make([]*big.Rat, len(use))
	for i, l := range use {
		left[i] = big.NewRat(l.Units*int64(l.Seconds), 3_600_000)
	}
	money := make([]*big.Rat, len(plans))
	for i, p := range plans {
		money[i] = new(big.Rat).SetInt64(int64(p.Product.(billing.SavingsPlan).Commit))
	}
	rate := func(p, u int) int64 {
		r := p1(plans[p]).Rates[0]
		for _, k := range p1(plans[p]).Rates {
			if k.Scope.Size == use[u].SKU.Size {
				r = k
				break
			}
		}
		return int64(r.Rate)
	}
	better := func(p, u, q, v int) bool {
		if a, b := p1(plans[p]).Instance, p1(plans[q]).Instance; a != b {
			return a
		}
		if a, b := plans[p].Owner != "" && plans[p].Owner != use[u].Account, plans[q].Owner != "" && plans[q].Owner != use[v].Account; a != b {
			return b
		}
		a, b := big.NewRat(rate(p, u), int64(use[u].Price)), big.NewRat(rate(q, v), int64(use[v].Price))
		if c := a.Cmp(b); c != 0 {
			return c < 0
		}
		return rate(p, u) < rate(q, v)
	}
	for {
		p, u := -1, -1
		for i := range plans {
			for j := range use {
				if money[i].Sign() > 0 && left[j].Sign() > 0 && (p < 0 || better(i, j, p, u)) {
					p, u = i, j
				}
			}
		}
		if p < 0 {
			break
		}
		r := new(big.Rat).SetInt64(rate(p, u))
		took := new(big.Rat).Quo(money[p], r)
		if took.Cmp(left[u]) > 0 {
			took.Set(left[u])
		}
		left[u].Sub(left[u], took)
		money[p].Sub(money[p], took.Mul(took, r))
	}
	sum := new(big.Rat)
	for i, l := range use {
		sum.Add(sum, new(big.Rat).Mul(left[i], new(big.Rat).SetInt64(int64(l.Price))))
	}
	return sum
}

func p1(c billing.Commitment) billing.SavingsPlan { return c.Product.(billing.SavingsPlan) }

// TestPlansAreAppliedAsDocumented holds the sorted, integer engine against the
// rule itself on small cases.
func TestPlansAreAppliedAsDocumented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := []string{"s", "m", "l"}
		prices := []capcli.Rate{1_000_000, 1_000_000, 3_000_000}
		var use []billing.UseLine
		for i := range rapid.IntRange(1, 4).Draw(t, "lines") {
			k := rapid.IntRange(0, 2).Draw(t, "size")
			use = append(use, billing.UseLine{
				Start: day0, Seconds: capcli.Seconds(rapid.IntRange(1, 3600).Draw(t, "seconds")), Units: rapid.Int64Range(1, 3000).Draw(t, "units"),
				SKU: billing.SKU{Size: sizes[k], Region: fmt.Sprint(i)}, Price: prices[k], Account: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "account"),
			})
		}
		var plans []billing.Commitment
		for i := range rapid.IntRange(1, 3).Draw(t, "plans") {
			c := billing.Commitment{ID: fmt.Sprint("p", i), Start: day0, End: day0 + hours, Owner: rapid.SampledFrom([]string{"", "x"}).Draw(t, "owner")}
			sp := billing.SavingsPlan{Commit: capcli.Rate(rapid.Int64Range(1, 6_000_000).Draw(t, "commit")), Instance: rapid.Bool().Draw(t, "family")}
			for k, s := range sizes {
				sp.Rates = append(sp.Rates, size(s, prices[k]*capcli.Rate(rapid.IntRange(2, 9).Draw(t, "tenths"))/10))
			}
			c.Product = sp
			plans = append(plans, c)
		}
		b := drawnBill(t, &billing.UseRecord{From: day0, To: day0 + hours, Lines: use}, &billing.Portfolio{Commitments: plans})
		want, _ := bySavings(use, plans).Float64()
		if got := float64(b.Total.Billed); got < want-2 || got > want+2 { // each is rounded
			t.Fatalf("billed %.0f, the rule says %.3f", got, want)
		}
	})
}

// TestEqualSavingsGoToTheLowestRate: a dollar covers GB at $1 of $2 before
// c5.9xlarge at $2 of $4, which saves as much of its price.
func TestEqualSavingsGoToTheLowestRate(t *testing.T) {
	lines, plans := oldPlan(t, "1")
	b := billOf(t, &billing.UseRecord{From: day0, To: day0 + hours, Lines: lines}, &billing.Portfolio{Commitments: plans}, billing.InAll)
	for _, r := range b.Rows {
		if r.Status == billing.Used && (r.SKU.Size != "gb" || r.EffectiveCost != capcli.Dollar) {
			t.Errorf("the plan covers %s for %s, want gb for 1.00", r.SKU.Size, r.EffectiveCost)
		}
	}
}
