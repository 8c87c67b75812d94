package plan

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"capcli"
)

// build makes the program, in the largest unit in which every cost is whole.
func (d *deal) build() error {
	lot := d.m.lot()
	d.unit = 0
	for _, ps := range d.pieces {
		for _, p := range ps {
			whole, err := times(lot, int64(p.dur))
			if err != nil {
				return err
			}
			d.unit = gcd(gcd(d.unit, whole), int64(p.work)%whole)
		}
	}
	for _, x := range d.chances {
		whole, err := times(lot, int64(x.to-x.from))
		if err != nil {
			return err
		}
		d.unit = gcd(d.unit, whole)
	}
	d.program = &Program{}
	for _, ps := range d.pieces {
		levels, err := d.levels(ps)
		if err != nil {
			return err
		}
		d.program.Periods = append(d.program.Periods, levels)
	}
	for _, x := range d.chances {
		cost, err := times(x.rate, lot*int64(x.to-x.from)/d.unit)
		if err != nil {
			return err
		}
		from, _ := slices.BinarySearch(d.edges, x.from)
		to, _ := slices.BinarySearch(d.edges, min(x.to, d.c.Len()))
		d.program.Offers = append(d.program.Offers, Offer{From: from, To: to, Cost: cost, Max: d.m.Terms[x.term].Max / lot})
	}
	return nil
}

// levels says what each lot of demand costs on demand in a period: the k-th
// costs what the part of the demand between k-1 and k lots comes to.
func (d *deal) levels(ps []piece) (Levels, error) {
	var shares []share
	lot := d.m.lot()
	var each int64 // what a lot costs that all of the period wants
	for _, p := range ps {
		if p.work == 0 || p.rate == 0 {
			continue
		}
		size := lot * int64(p.dur)
		whole, err := times(p.rate, size/d.unit)
		if err != nil {
			return nil, err
		}
		s := share{int64(p.work) / size, whole, p.rate * (int64(p.work) % size / d.unit)}
		if each > limitCost-whole {
			return nil, capcli.ErrOverflow
		}
		each += whole
		shares = append(shares, s)
	}
	return stackLevels(shares, each, 0), nil
}

// share is what the steps of one height want: so many whole lots, what such a lot
// costs on demand in them, and what the part of a lot on top costs.
type share struct{ lots, whole, rest int64 }

// stackLevels makes levels of shares, over so many lots that are covered already.
// each is what a lot costs that all shares want.
func stackLevels(shares []share, each, done int64) Levels {
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.lots, b.lots) })
	var out Levels
	for i := 0; i < len(shares); {
		lots := shares[i].lots
		out = out.add(lots-done, each)
		part := int64(0)
		for ; i < len(shares) && shares[i].lots == lots; i++ {
			each -= shares[i].whole
			part += shares[i].rest
		}
		out = out.add(1, each+part)
		done = lots + 1
	}
	return out
}

// add puts levels on top.
func (l Levels) add(units, cost int64) Levels {
	switch {
	case units <= 0 || cost == 0:
		return l
	case len(l) > 0 && l[len(l)-1].Cost == cost:
		l[len(l)-1].Units += units
		return l
	}
	return append(l, Segment{units, cost})
}

// usd is an amount of the program in dollars, rounded half up to the millionth.
func (d *deal) usd(cost *big.Int) (capcli.USD, error) {
	per := big.NewInt(1000 * int64(capcli.Hour) * d.scale)
	v := new(big.Int).Mul(cost, big.NewInt(d.unit))
	v.Add(v, new(big.Int).Rsh(per, 1))
	v.Div(v, per)
	if !v.IsInt64() {
		return 0, capcli.ErrOverflow
	}
	return capcli.USD(v.Int64()), nil
}

// times is a product that must fit.
func times(a, b int64) (int64, error) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return 0, capcli.ErrOverflow
	}
	return int64(lo), nil
}

// mulDiv is a·b/c, rounded down, for b ≤ c.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
