package billing

import "capcli"

// This file is all that a new product takes: a type and its entry. The tests find it
// in the catalogue and hold it to the same promises as every other.

func init() {
	Products.Add("night_rate", "made up: units of a family at a monthly price",
		example(nightRate{500}, Scope{Family: "p5"}, Fees{Monthly: 700 * capcli.Dollar}))
}

type nightRate struct{ Units }

func (nightRate) Name() string { return "night_rate" }

func (p nightRate) Form() *Form {
	p = nightRate{}
	return unitsForm(&p.Units, func() Product { return p })
}

func (nightRate) properties(*Commitment) capcli.Properties { return capcli.Properties{Covers: true} }

func (p nightRate) cover(c *Commitment, b *bucket) (claim, bool) {
	return coverUnits(c, b, stageReserved)
}
