package billing

import (
	"maps"

	"capcli"
)

// Form is a product while a file that names it is read: what the file may say of it, where each value goes, and the
// product that they make.
type Form struct {
	Aliases  []string           // other names of the product
	Variants map[string]Product // names of the product with an option set
	Options  []Option           // its own fields, in the order of messages
	Product  func() Product     // with the values that were read

	Units     *Units       // the number of units that it commits to; nil: none
	Commit    *capcli.Rate // the dollars of use an hour that it commits to; nil: none
	Price     *capcli.Rate // what a unit costs for an hour, where the product itself says; nil: its fees do
	Ownership *Ownership   // where it can be what owning machines costs; nil: never

	Unpaid string // why it has no fees; "": it has
	Block  bool   // it has fixed dates, and is paid whole in advance
	Terms  []string
	Term   string // what to say of other lengths than Terms, such as 1y; "": any length is sold
}

// Option is a field of a product in files.
type Option struct {
	Name, Doc string
	// Into is where the value goes: *Units, *string (a name), *bool, *capcli.Seconds, *Rates, *[]SizeRatio, **Machine, Amount,
	// UnitPrice or Choice.
	Into   any
	Needed bool
}

// Kinds of options that need more than their Go type to be read.
type (
	// Amount is an option in dollars.
	Amount struct{ To *capcli.USD }
	// UnitPrice is an option in dollars for a unit-hour.
	UnitPrice struct{ To *capcli.Rate }
	// Choice is an option that is one of several words.
	Choice struct {
		To *string
		Of []string
	}
)

// Ownership is what it costs to own capacity, beside fees or in place of them.
type Ownership struct {
	Residual capcli.USD // what comes back at the end
	Machine  *Machine   // what one unit costs; nil: fees say it
}

// Named returns the products by each name that files may give them, and the name of each alias.
func Named() (products map[string]Product, aliases map[string]string) {
	products, aliases = map[string]Product{}, map[string]string{}
	for _, e := range Products.All() {
		f := e.Value.Product.Form()
		products[e.Name] = e.Value.Product
		maps.Copy(products, f.Variants)
		for _, a := range f.Aliases {
			aliases[a] = e.Name
		}
	}
	return products, aliases
}

// OwnFields returns the names of the fields that the product has in files.
func (f *Form) OwnFields() (names []string) {
	for _, o := range f.Options {
		names = append(names, o.Name)
	}
	return names
}

// IsOffered reports whether a market may offer the product: it commits to units or to money, at a price.
func (f *Form) IsOffered() bool { return f.Unpaid == "" && (f.Units != nil || f.Commit != nil) }

// unitsForm is the form of a product that commits to units, whose other options are those given.
func unitsForm(units *Units, product func() Product, options ...Option) *Form {
	return &Form{Units: units, Product: product, Options: append([]Option{{"units", "instances or GPUs, up to three decimals", units, true}}, options...)}
}

// planForm is the form of a product that commits to dollars of use an hour.
func planForm(commit *capcli.Rate, rates *Rates, product func() Product) *Form {
	return &Form{Commit: commit, Product: product, Options: []Option{
		{"commit", "plans: dollars of use at plan rates, an hour", Amount{commit}, true}, ratesOption(rates),
	}}
}

func ratesOption(rates *Rates) Option {
	return Option{"rates", "plans: [{instance_type: m5.large, rate: 0.061}, {discount: 28%}], the first that fits counts", rates, true}
}
