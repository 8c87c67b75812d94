package billing

import (
	"cmp"
	"errors"

	"capcli"
)

func init() {
	Products.Add("owned", "capacity that was bought, with what it is worth at the end",
		example(Owned{Units: 8000}, Scope{}, Fees{Upfront: 250_000 * capcli.Dollar, Residual: 40_000 * capcli.Dollar, Hourly: capcli.Dollar}))
}

// Owned is capacity that was bought. Its capital is paid at the start, its residual value comes
// back at the end, and power and space are paid by the hour. The difference of capital and
// residual value is written off by the second over its life, straight line. It covers the use
// that runs in it and nothing else.
//
// Source: straight-line depreciation, IAS 16 paragraph 62; power usage effectiveness, ISO/IEC
// 30134-2.
type Owned struct {
	Units // thousandths
}

// Name returns the product's name.
func (Owned) Name() string { return "owned" }

// Form implements Product.
func (p Owned) Form() *Form {
	p = Owned{}
	f := unitsForm(&p.Units, func() Product { return p })
	f.Ownership = &Ownership{}
	f.Options = append(f.Options, Option{Name: "residual", Doc: "owned: what comes back at the end", Into: Amount{&f.Ownership.Residual}},
		Option{Name: "machine", Doc: "owned: what one unit costs: {capital: 250k, residual: 40k, watts: 10200, pue: 1.3, price_kwh: 0.11, space: 0.40}", Into: &f.Ownership.Machine})
	return f
}

func (Owned) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Guarantees: true, Fenced: true}
}

func (p Owned) cover(c *Commitment, b *bucket) (claim, bool) { return coverCapacity(c, b) }

// Machine is the cost of owning one unit.
type Machine struct {
	Capital  capcli.USD
	Residual capcli.USD  // value at the end of its life
	Watts    int64       // power draw, used or not
	PUE      int64       // thousandths of power usage effectiveness, building / machine power; 0 means 1000
	Energy   capcli.Rate // dollars for a kilowatt-hour
	Space    capcli.Rate // rent, staff and network, dollars an hour
}

// Fees returns the fees for a number of units, in thousandths, over the life of the machine. It
// fails for a negative figure, a residual over the capital, and an amount that does not fit.
func (m Machine) Fees(units int64) (Fees, error) {
	if m.Capital < 0 || m.Residual < 0 || m.Residual > m.Capital || m.Watts < 0 || m.PUE < 0 || m.Energy < 0 || m.Space < 0 || units < 0 {
		return Fees{}, errors.New("what it costs to own a machine may not be negative, nor may it be worth more at the end than at the start")
	}
	// W x micro-$/kWh x PUE in thousandths, divided by 10^6, is millionths of a dollar an hour.
	var t tally
	power := t.mulDiv(m.Watts, cmp.Or(m.PUE, 1000), 1)
	energy := t.mulDiv(int64(power), int64(m.Energy), 1_000_000)
	of := func(u capcli.USD) capcli.USD { return t.mulDiv(int64(u), units, 1000) }
	f := Fees{Upfront: of(m.Capital), Residual: of(m.Residual), Hourly: of(energy)}
	t.add(&f.Hourly, of(m.Space))
	return f, t.err
}
