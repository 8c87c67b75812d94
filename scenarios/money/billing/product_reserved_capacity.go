package billing

import "capcli"

func init() {
	Products.Add("reserved_capacity", "capacity rented for a term from a provider of GPUs",
		example(ReservedCapacity{Units: 8000}, Scope{}, Fees{Monthly: 11_000 * capcli.Dollar}))
}

// ReservedCapacity is capacity rented for a term from a provider that sells GPUs rather than
// discounts. All of it is paid for from start to end, used or not, upfront or by the hour or
// month. It covers the use that runs in it and nothing else.
//
// Source: the contract itself; the flat pools of a scenario are this product.
type ReservedCapacity struct {
	Units // thousandths
}

// Name returns the product's name.
func (ReservedCapacity) Name() string { return "reserved_capacity" }

// Form implements Product.
func (p ReservedCapacity) Form() *Form {
	p = ReservedCapacity{}
	f := unitsForm(&p.Units, func() Product { return p })
	f.Aliases = []string{"reserved"}
	return f
}

func (ReservedCapacity) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Guarantees: true, Fenced: true}
}

func (p ReservedCapacity) cover(c *Commitment, b *bucket) (claim, bool) { return coverCapacity(c, b) }
