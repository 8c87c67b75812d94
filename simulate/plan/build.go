package plan

import (
	"math/big"

	"capcli/simulate/internal/exact"
	"capcli/simulate/plan/flow"

	"capcli"
)

// build makes the program, in the largest unit in which every cost is whole.
func (d *deal) build() error {
	lot := d.m.lot()
	d.unit = 0
	for _, ps := range d.pieces {
		for _, p := range ps {
			whole, err := exact.Times(lot, int64(p.dur))
			if err != nil {
				return err
			}
			d.unit = exact.GCD(exact.GCD(d.unit, whole), int64(p.work)%whole)
		}
	}
	for _, x := range d.options {
		whole, err := exact.Times(lot, int64(x.to-x.from))
		if err != nil {
			return err
		}
		d.unit = exact.GCD(d.unit, whole)
	}
	d.program = &flow.Program{}
	for _, ps := range d.pieces {
		levels, err := d.levels(ps)
		if err != nil {
			return err
		}
		d.program.Periods = append(d.program.Periods, levels)
	}
	for _, x := range d.options {
		cost, err := exact.Times(x.rate, lot*int64(x.to-x.from)/d.unit)
		if err != nil {
			return err
		}
		d.program.Offers = append(d.program.Offers, x.offer(cost))
	}
	return nil
}

// levels says what each lot of demand costs on demand in a period: the k-th
// costs what the part of the demand between k-1 and k lots comes to.
func (d *deal) levels(ps []piece) (flow.Levels, error) {
	var shares []flow.Share
	lot := d.m.lot()
	var each int64 // what a lot costs that all of the period wants
	for _, p := range ps {
		if p.work == 0 || p.rate == 0 {
			continue
		}
		size := lot * int64(p.dur)
		whole, err := exact.Times(p.rate, size/d.unit)
		if err != nil {
			return nil, err
		}
		s := flow.Share{Lots: int64(p.work) / size, Whole: whole, Rest: p.rate * (int64(p.work) % size / d.unit)}
		if each > flow.LimitCost-whole {
			return nil, capcli.ErrOverflow
		}
		each += whole
		shares = append(shares, s)
	}
	return flow.Stack(shares, each, 0), nil
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
