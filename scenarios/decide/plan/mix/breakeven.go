package mix

import (
	"math/big"
	"slices"

	"capcli"
)

// Tie is the price of one pool at which two mixes cost the same, all other prices
// unchanged.
type Tie struct {
	Pool string       `json:"pool"`
	Now  capcli.Rate  `json:"usd_per_gpu_hour"`
	At   *capcli.Rate `json:"break_even_usd_per_gpu_hour"` // break-even price, rounded half up to the millionth; null where no price of 0 or more exists
	Why  string       `json:"break_even_why,omitempty"`    // why there is no break-even price; "" where there is one
	Best string       `json:"best_is_cheaper,omitempty"`   // where the first mix is cheaper: "below" or "above" the break-even price
}

// ties returns, for each pool of a and b, the price at which the two mixes cost the same. With the
// schedules fixed, the cost of a mix is linear in each price, so this is exact but for the rounding
// of invoices. With A and B the GPU-hours that a and b are charged for at the price p, and D the
// cost of a less that of b, they tie at p - D / (A - B).
func ties(a, b *Entry) []Tie {
	var out []Tie
	names, rates := prices(a)
	for i, name := range names {
		out = append(out, tie(a, b, name, rates[i]))
	}
	more, rates := prices(b)
	for i, name := range more {
		if !slices.Contains(names, name) {
			out = append(out, tie(a, b, name, rates[i]))
		}
	}
	return out
}

// prices returns the names of a mix's pools and their prices, without those whose use commitments may cover: at
// another price other commitments would be best, and the cost is not linear in it.
func prices(e *Entry) (names []string, rates []capcli.Rate) {
	for i := range e.Outcomes[0].Pools {
		if e.isCovered(i) {
			continue
		}
		names = append(names, e.Outcomes[0].Pools[i].Name)
		rates = append(rates, e.Rates[i].Price)
	}
	return names, rates
}

// charged returns the GPU time, in thousandths of GPU-seconds, charged at a pool's price, summed
// over all runs.
func charged(e *Entry, pool string) (sum int64) {
	for k := range e.Outcomes {
		for i := range e.Outcomes[k].Pools {
			if p := &e.Outcomes[k].Pools[i]; p.Name == pool {
				sum += int64(p.Charged)
			}
		}
	}
	return sum
}

func tie(a, b *Entry, pool string, now capcli.Rate) Tie {
	t := Tie{Pool: pool, Now: now, Why: "no price of 0 or more makes the two cost the same"}
	inA, inB := charged(a, pool), charged(b, pool)
	if inA == inB {
		return t
	}
	var difference capcli.USD
	for k := range a.Outcomes {
		difference += a.Outcomes[k].Cost - b.Outcomes[k].Cost
	}
	// p - D * 3,600,000 / (A - B): a price is for 3,600,000 thousandths of a
	// GPU-second.
	at := big.NewRat(1, inA-inB)
	at.Mul(at, new(big.Rat).SetInt64(int64(difference)))
	at.Mul(at, big.NewRat(3_600_000, 1))
	at.Sub(new(big.Rat).SetInt64(int64(now)), at)
	if at.Sign() < 0 {
		return t
	}
	at.Add(at, big.NewRat(1, 2))
	whole := new(big.Int).Quo(at.Num(), at.Denom())
	if !whole.IsInt64() {
		return t
	}
	price := capcli.Rate(whole.Int64())
	t.At, t.Why, t.Best = &price, "", "above"
	if inA > inB {
		t.Best = "below"
	}
	return t
}
