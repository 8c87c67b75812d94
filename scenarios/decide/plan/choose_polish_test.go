package plan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMarginsHideNothing tries every change of a lot around drawn choices: what the margins say cannot help has
// no lower risk when it is priced in all futures. Most changes that do not help are told by the margins.
func TestMarginsHideNothing(t *testing.T) {
	var told, useless int
	rapid.Check(t, func(t *rapid.T) {
		futures, market := someFutures(t, 5, 8, 4)
		market.Lot = rapid.SampledFrom([]int64{0, 500, 2000}).Draw(t, "lot")
		market.Terms[0].Max = int64(rapid.IntRange(0, 3).Draw(t, "most")) * 2000
		f, err := NewField(futures, market, Held{From: 0, To: 3600 * 4, Milli: 2000})
		if err != nil {
			t.Fatal(err)
		}
		h := &hunt{f: f, in: allOf(f.Count()), risk: rapid.SampledFrom([]Risk{{Kind: CVaR, Level: 700_000}, {Kind: CVaR, Level: 350_000}, {Kind: Quantile, Level: 600_000}}).Draw(t, "risk")}
		bought := make([]int64, len(f.cost))
		for i := range bought {
			bought[i] = int64(rapid.IntRange(0, 3).Draw(t, "lots"))
		}
		if h.risk.Kind == Quantile {
			h.in = h.in[:1+len(h.in)/2]
		}
		if _, err := h.keep(h.capped(bought)); err != nil {
			t.Fatal(err)
		}
		m, was := h.margins(), h.best
		for a := range bought {
			for b := -1; b < len(bought); b++ {
				for _, by := range []int64{1, -1} {
					if a == b {
						continue
					}
					try, fewer := slices.Clone(was.bought), int64(0)
					try[a] += by
					if b >= 0 {
						try[b] -= by
						fewer = h.changeOf(b, -by)
					}
					costs, err := f.costs(h.capped(try))
					if err != nil {
						t.Fatal(err)
					}
					helps, hidden := h.value(costs).Cmp(was.Value) < 0, m.cannotHelp(a, h.changeOf(a, by), b, fewer)
					if helps && hidden {
						t.Fatalf("%s: from %v, %+d of option %d and %+d of %d lower the risk, and the margins hide it", h.risk, was.bought, by, a, -by, b)
					}
					if !helps {
						useless++
					}
					if hidden {
						told++
					}
				}
			}
		}
	})
	if told*2 < useless {
		t.Errorf("the margins tell %d of %d changes that do not help", told, useless)
	}
	t.Logf("the margins tell %d of %d changes that do not help", told, useless)
}
