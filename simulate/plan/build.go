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
			whole, err := exact.Times(lot, p.Duration)
			if err != nil {
				return err
			}
			d.unit = exact.GCD(exact.GCD(d.unit, whole), p.Work%whole)
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
		levels, err := flow.Stack(ps, d.m.lot(), d.unit)
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
