package billing

import "capcli"

// Product is a kind of contract. Each is one file, product_NAME.go, which states the
// provider's rule and where it is written, and adds it to Products.
type Product interface {
	// Name is the product as bills and files write it: savings_plan.
	Name() string
	// check finds what is wrong with the product's own parameters; "" is nothing.
	check(c *Commitment) string
	// units is how many thousandths of a unit the product commits to; 0 where it
	// commits to money.
	units() int64
	// power is what the commitment covers each second, in thousandths of its own
	// unit: of an instance or GPU, times its size factor where sizes are flexible, or
	// of a millionth of a dollar an hour.
	power(c *Commitment) int64
	// cover says whether the commitment applies to such use, at what weight in its
	// own unit, and in which order.
	cover(c *Commitment, b *bucket) (claim, bool)
}

// Products are the products, each with a commitment of it that is valid, which the
// tests hold to the laws of bills.
var Products = capcli.Catalog[Commitment]{Kind: "product"}

// What only some products have is an interface of its own, found by assertion.
type (
	// earlyEnder is a product whose use ends so long before its term.
	earlyEnder interface{ endsEarly() capcli.Seconds }

	// promise is a product that is paid as it is used, and up to a minimum if it is
	// not.
	promise interface {
		total(c *Commitment) (capcli.USD, error)
		drawdown(c *Commitment) *drawdown
	}

	// marker is a product that says more in the rows of its commitments.
	marker interface {
		mark(c *Commitment, r *Row)
	}

	// exchanger is a product that may be exchanged for some others.
	exchanger interface {
		exchange(c, with *Commitment, left capcli.USD) error
	}

	// capacity is a product that brings capacity, and is no discount on use of it.
	capacity interface{ bringsCapacity() }

	// Rated is a product with rates of use.
	Rated interface {
		PlanRates() []PlanRate
		WithRates(rates []PlanRate) Product
	}
)

// BringsCapacity reports whether a product brings capacity, rather than a discount
// on use of it.
func BringsCapacity(p Product) bool {
	_, brings := p.(capacity)
	return brings
}

// Units is a number of equal units, in thousandths, that a product commits to. A
// product that embeds it is checked for the number, and covers as many units at once.
type Units int64

// maxUnits is the most units that one commitment or line may have, in
// thousandths: a hundred million.
const maxUnits = 100_000_000_000

func (n Units) check(*Commitment) string {
	if n <= 0 || n > maxUnits {
		return "the number of units must be above 0 and at most 100,000,000"
	}
	return ""
}

func (n Units) units() int64 { return int64(n) }

func (n Units) power(*Commitment) int64 { return int64(n) }

// example is a commitment of a year from 2027 on, for Products.
func example(p Product, scope Scope, fees Fees) Commitment {
	const year2027, year2028 = capcli.Time(1798761600), capcli.Time(1830297600)
	return Commitment{ID: p.Name(), Start: year2027, End: year2028, Scope: scope, Fees: fees, Product: p}
}
