package billing

import "capcli"

func init() {
	Products.Add("flexible_use", "Google spend-based committed use: dollars an hour in any region",
		example(FlexibleUse{Commit: 10 * capcli.Dollar, Rates: []PlanRate{{Discount: 280_000}}}, Scope{}, Fees{Hourly: 10 * capcli.Dollar}))
}

// FlexibleUse is Google Cloud's spend-based committed use discount: so many dollars an hour of
// eligible use at the discounted price, in any region, paid whether used or not, applied after
// resource-based commitments. Google lists only CPU families; here the use that Rates match is
// eligible.
//
// Source: Google Cloud, Compute Engine documentation, "Compute flexible committed use
// discounts".
type FlexibleUse struct {
	Commit capcli.Rate
	Rates
}

// Name returns the product's name.
func (FlexibleUse) Name() string { return "flexible_use" }

// Form implements Product.
func (p FlexibleUse) Form() *Form {
	p = FlexibleUse{}
	f := planForm(&p.Commit, &p.Rates, func() Product { return p })
	f.Aliases, f.Terms, f.Term = []string{"flexible_cud"}, googleTerms, googleTerm
	return f
}

func (FlexibleUse) properties(*Commitment) capcli.Properties { return capcli.Properties{Covers: true} }

func (p FlexibleUse) check(*Commitment) string { return checkPlan(p.Commit, p.Rates) }

func (p FlexibleUse) power(*Commitment) int64 { return 1000 * int64(p.Commit) }

// WithRates implements Rated.
func (p FlexibleUse) WithRates(rates []PlanRate) Product {
	p.Rates = rates
	return p
}

func (p FlexibleUse) cover(c *Commitment, b *bucket) (claim, bool) {
	return coverPlan(c, b, p.Rates, stagePlan)
}
