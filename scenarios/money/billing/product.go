package billing

import "capcli"

// Product is a kind of contract. Each has one file, product_*.go, which states the provider's
// rule and its source, and adds the product to Products.
type Product interface {
	// Name returns the product's name in bills and files, such as savings_plan.
	Name() string
	// Form returns how files state the product. It has none of the product's own parameters, but for a variant.
	Form() *Form
	// check returns the first fault of the product's own parameters in words, or "".
	check(c *Commitment) string
	// units returns the number of units, in thousandths, that the product commits to; 0 where
	// it commits to money.
	units() int64
	// power returns what the commitment can cover each second, in thousandths of its own unit.
	// That unit is an instance or GPU, times its size factor where sizes are flexible, or a
	// millionth of a dollar an hour.
	power(c *Commitment) int64
	// properties returns what the commitment does: the product's row in productTable, with the
	// commitment's own options.
	properties(c *Commitment) capcli.Properties
	// cover reports whether the commitment applies to the use in a bucket, with the weight of
	// the use in the commitment's own unit and the order of application.
	cover(c *Commitment, b *bucket) (claim, bool)
}

// Products is the catalog of products. Each entry has a valid commitment, which the tests check
// against the laws of bills.
var Products = capcli.Catalog[Commitment]{Kind: "product"}

// Optional interfaces of products, found by type assertion.
type (
	// earlyEnder is a product whose use ends some time before its term does.
	earlyEnder interface{ endsEarly() capcli.Seconds }

	// promise is a product that is paid as it is used, and up to a minimum where the use is
	// less.
	promise interface {
		total(c *Commitment) (capcli.USD, error)
		drawdown(c *Commitment) *drawdown
	}

	// marker is a product that sets more fields in the rows of its commitments.
	marker interface {
		mark(c *Commitment, r *Row)
	}

	// exchanger is a product that may be exchanged for certain other products.
	exchanger interface {
		exchange(c, with *Commitment, left capcli.USD) error
	}

	// Rated is a product with rates of use.
	Rated interface {
		PlanRates() []PlanRate
		WithRates(rates []PlanRate) Product
	}
)

// BringsCapacity reports whether a product brings capacity rather than a discount on use.
func BringsCapacity(p Product) bool { return !p.properties(&Commitment{Product: p}).Covers }

// Units is the number of equal units, in thousandths, that a product commits to. A product that
// embeds it has this number checked and covers that many units at once.
type Units int64

// maxUnits is the most units of one commitment or line, in thousandths: a hundred million
// units.
const maxUnits = 100_000_000_000

func (n Units) check(*Commitment) string {
	if n <= 0 || n > maxUnits {
		return "the number of units must be above 0 and at most 100,000,000"
	}
	return ""
}

func (n Units) units() int64 { return int64(n) }

func (n Units) power(*Commitment) int64 { return int64(n) }

// example returns a commitment for the year 2027, for Products.
func example(p Product, scope Scope, fees Fees) Commitment {
	const year2027, year2028 = capcli.Time(1798761600), capcli.Time(1830297600)
	return Commitment{ID: p.Name(), Start: year2027, End: year2028, Scope: scope, Fees: fees, Product: p}
}
