package billing

import "capcli"

func init() {
	Products.Add("azure_savings_plan", "Azure savings plan: dollars an hour at plan prices, after reservations",
		example(AzurePlan{Commit: 10 * capcli.Dollar, Rates: []PlanRate{{Discount: 280_000}}}, Scope{}, Fees{Hourly: 10 * capcli.Dollar}))
}

// AzurePlan is Azure's savings plan for compute: so many dollars an hour at plan prices, use it
// or lose it, applied after reservations. Three-year plans come before one-year plans, and
// narrower scopes before wider ones. Each plan covers the use with the greatest discount first.
// It never covers spot.
//
// Source: Microsoft Learn, "How an Azure savings plan discount is applied".
type AzurePlan struct {
	Commit capcli.Rate
	Rates
}

// Name returns the product's name.
func (AzurePlan) Name() string { return "azure_savings_plan" }

// Form implements Product.
func (p AzurePlan) Form() *Form {
	p = AzurePlan{}
	return planForm(&p.Commit, &p.Rates, func() Product { return p })
}

func (AzurePlan) properties(*Commitment) capcli.Properties { return capcli.Properties{Covers: true} }

func (p AzurePlan) check(*Commitment) string { return checkPlan(p.Commit, p.Rates) }

func (p AzurePlan) power(*Commitment) int64 { return 1000 * int64(p.Commit) }

// WithRates implements Rated.
func (p AzurePlan) WithRates(rates []PlanRate) Product {
	p.Rates = rates
	return p
}

func (p AzurePlan) cover(c *Commitment, b *bucket) (claim, bool) {
	k, ok := coverPlan(c, b, p.Rates, stagePlan)
	k.order.narrow = c.Scope.narrowness()
	if years := int64((c.End - c.Start) / yearAtLeast); years > 0 {
		k.order.term = -years
	}
	return k, ok
}

// yearAtLeast is the shortest calendar year in seconds.
const yearAtLeast = 365 * 86400
