package plan

import (
	"math/big"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// build makes the program, in the largest unit in which every cost is whole.
func (d *deal) build() error {
	lot := d.m.lot()
	d.unit = 0
	for _, ps := range d.pieces {
		for _, p := range ps {
			whole, err := exact.Times(lot, p.Duration)
			if err != nil {
				return err
			}
			d.unit = exact.GCD(exact.GCD(d.unit, whole), p.Work%whole)
		}
	}
	for _, x := range d.options {
		whole, err := exact.Times(lot, int64(x.until-x.from))
		if err != nil {
			return err
		}
		d.unit = exact.GCD(d.unit, whole)
	}
	d.program = &flow.Program{}
	for _, ps := range d.pieces {
		levels, err := flow.Stack(ps, d.m.lot(), d.unit)
		if err != nil {
			return err
		}
		d.program.Periods = append(d.program.Periods, levels)
	}
	for _, x := range d.options {
		cost, err := exact.Times(x.rate, lot*int64(x.until-x.from)/d.unit)
		if err != nil {
			return err
		}
		d.program.Offers = append(d.program.Offers, x.offer(cost))
	}
	return nil
}

// usd returns an amount of the program in dollars, rounded half up to the millionth.
func (d *deal) usd(v *big.Rat) (capcli.USD, error) {
	r := new(big.Rat).Mul(v, new(big.Rat).SetFrac64(d.unit, 1000*int64(capcli.Hour)*d.scale))
	n := new(big.Int).Mul(r.Num(), big.NewInt(2))
	n.Add(n, r.Denom())
	n.Div(n, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	if !n.IsInt64() {
		return 0, capcli.ErrOverflow
	}
	return capcli.USD(n.Int64()), nil
}
