package plan

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// meteredWorld is a drawn world of metered use that is small enough to buy every choice of contracts.
type meteredWorld struct {
	uses      []Metered
	contracts []Contract
	weights   []int64
	base      []capcli.USD
}

func drawMetered(t *rapid.T) *meteredWorld {
	w := &meteredWorld{}
	n := rapid.IntRange(1, 4).Draw(t, "futures")
	for range n {
		w.weights = append(w.weights, rapid.Int64Range(1, 5).Draw(t, "weight"))
		w.base = append(w.base, capcli.USD(rapid.Int64Range(0, 3_000_000).Draw(t, "base")))
	}
	kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
	for range kinds {
		u := Metered{Cuts: []capcli.Seconds{0}}
		hours := rapid.IntRange(1, 6).Draw(t, "hours")
		for range hours {
			u.Cuts = append(u.Cuts, u.Cuts[len(u.Cuts)-1]+capcli.Seconds(rapid.SampledFrom([]int{3600, 3600, 1800, 137}).Draw(t, "length")))
		}
		for range n {
			var list []Charge
			for h := range hours {
				for range rapid.IntRange(0, 2).Draw(t, "rates") {
					list = append(list, Charge{h, rapid.Int64Range(0, 10_000_000).Draw(t, "work"), capcli.Rate(rapid.Int64Range(0, 4_000_000).Draw(t, "rate"))})
				}
			}
			u.Charge = append(u.Charge, list)
		}
		for range rapid.IntRange(0, 2).Draw(t, "held") {
			from := rapid.IntRange(0, hours-1).Draw(t, "held from")
			to := rapid.IntRange(from+1, hours).Draw(t, "held to")
			u.Held = append(u.Held, Contract{From: u.Cuts[from], To: u.Cuts[to], Most: rapid.Int64Range(0, 2).Draw(t, "held units")})
		}
		w.uses = append(w.uses, u)
	}
	for range rapid.IntRange(0, 4).Draw(t, "contracts") {
		use := rapid.IntRange(0, kinds-1).Draw(t, "use")
		cuts := w.uses[use].Cuts
		from := rapid.IntRange(0, len(cuts)-2).Draw(t, "from")
		to := cuts[len(cuts)-1] + 5000
		if last := rapid.IntRange(from+1, len(cuts)).Draw(t, "to"); last < len(cuts) {
			to = cuts[last]
		}
		w.contracts = append(w.contracts, Contract{Use: use, From: cuts[from], To: to, Rate: capcli.Rate(rapid.Int64Range(0, 3_000_000).Draw(t, "price")), Most: rapid.Int64Range(0, 2).Draw(t, "most")})
	}
	return w
}

// cost is the cost of some units in a future by hand: hour by hour, the dearest use first, in exact fractions.
func (w *meteredWorld) cost(units []int64, future int) *big.Rat {
	sum := new(big.Rat).SetInt64(int64(w.base[future]))
	for i, c := range w.contracts {
		end := w.uses[c.Use].Cuts[len(w.uses[c.Use].Cuts)-1]
		sum.Add(sum, big.NewRat(units[i]*int64(c.Rate)*int64(min(c.To, end)-c.From), 3600))
	}
	for u := range w.uses {
		use := &w.uses[u]
		for h := range len(use.Cuts) - 1 {
			free := int64(0)
			for i, c := range w.contracts {
				if c.Use == u && c.From <= use.Cuts[h] && use.Cuts[h+1] <= c.To {
					free += units[i] * 1000 * int64(use.Cuts[h+1]-use.Cuts[h])
				}
			}
			for _, c := range use.Held {
				if c.From <= use.Cuts[h] && use.Cuts[h+1] <= c.To {
					free += c.Most * 1000 * int64(use.Cuts[h+1]-use.Cuts[h])
				}
			}
			var list []Charge
			for _, c := range use.Charge[future] {
				if c.Hour == h {
					list = append(list, c)
				}
			}
			for len(list) > 0 {
				top := 0
				for k := range list {
					if list[k].Rate > list[top].Rate {
						top = k
					}
				}
				used := min(free, list[top].Work)
				free -= used
				sum.Add(sum, new(big.Rat).Mul(big.NewRat(list[top].Work-used, 3_600_000), new(big.Rat).SetInt64(int64(list[top].Rate))))
				list = append(list[:top:top], list[top+1:]...)
			}
		}
	}
	return sum
}

// risk is the risk of costs by its definition, with weights.
func (w *meteredWorld) risk(r Risk, costs []*big.Rat) *big.Rat {
	order := allOf(len(costs))
	for i := range order {
		for j := i; j > 0 && costs[order[j-1]].Cmp(costs[order[j]]) > 0; j-- {
			order[j-1], order[j] = order[j], order[j-1]
		}
	}
	all := int64(0)
	for _, v := range w.weights {
		all += v
	}
	if r.Kind == Quantile {
		sum := int64(0)
		for _, i := range order {
			if sum += w.weights[i]; sum*one >= r.Level*all {
				return costs[i]
			}
		}
	}
	left := big.NewRat((one-r.Level)*all, one)
	if r.Kind == Mean {
		left = big.NewRat(all, 1)
	}
	whole, sum := new(big.Rat).Set(left), new(big.Rat)
	for k := len(order) - 1; k >= 0; k-- {
		part := big.NewRat(w.weights[order[k]], 1)
		if part.Cmp(left) > 0 {
			part.Set(left)
		}
		left.Sub(left, part)
		sum.Add(sum, part.Mul(part, costs[order[k]]))
	}
	return sum.Quo(sum, whole)
}

// TestMeteredFieldIsExact buys every choice of the contracts of drawn worlds by hand: none has a lower mean,
// quantile or CVaR than the field's choice, which costs what the field says, and the bound is no higher.
func TestMeteredFieldIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawMetered(t)
		f, err := MeteredField(w.uses, w.contracts, w.weights, w.base)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Risk{{}, {Kind: Quantile, Level: 800_000}, {Kind: CVaR, Level: 950_000}, {Kind: CVaR, Level: 400_000}} {
			c, err := f.ChooseExactly(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			of := func(units []int64) *big.Rat {
				var costs []*big.Rat
				for s := range w.weights {
					costs = append(costs, w.cost(units, s))
				}
				return w.risk(r, costs)
			}
			value, bound, err := f.RiskOf(c, r)
			if err != nil {
				t.Fatal(err)
			}
			usd := func(v *big.Rat) float64 { x, _ := v.Float64(); return x }
			if want := usd(of(c.Units())); want < float64(value)-1 || want > float64(value)+1 {
				t.Errorf("%s: the choice %v costs %v, the field says %d", r, c.Units(), want, value)
			}
			units := make([]int64, len(w.contracts))
			least := of(units)
			var every func(i int)
			every = func(i int) {
				if i == len(units) {
					if v := of(units); v.Cmp(least) < 0 {
						least = v
					}
					return
				}
				most := int64(4)
				if w.contracts[i].Most > 0 {
					most = w.contracts[i].Most
				}
				for n := range most + 1 {
					units[i] = n
					every(i + 1)
				}
				units[i] = 0
			}
			every(0)
			if usd(least) < float64(value)-1.5 {
				t.Errorf("%s: %v costs %d, enumeration finds %v", r, c.Units(), value, usd(least))
			}
			if float64(bound) > usd(least)+1.5 {
				t.Errorf("%s: bound %d above %v", r, bound, usd(least))
			}
			if value-bound > 1 {
				t.Errorf("%s: the gap of a small world is open: %d to %d", r, bound, value)
			}
		}
	})
}
