package billing

import (
	"fmt"
	"math"

	"capcli"
)

func init() {
	Products.Add("savings_plan", "AWS savings plan: dollars of use an hour at plan rates",
		example(SavingsPlan{Commit: 10 * capcli.Dollar, Rates: []PlanRate{{Discount: 280_000}}}, Scope{}, Fees{Hourly: 10 * capcli.Dollar}))
}

// SavingsPlan is AWS's savings plan: so many dollars of use at plan rates each hour, paid
// whether used or not. In each hour it is applied after reserved instances, to the owner's
// account before others, to the use with the highest saving first, ties to the lowest plan
// rate. Plans for one family (EC2 Instance) come before those for all (Compute). What is left
// of an hour is lost; use beyond it is on demand. It never covers spot.
//
// Source: AWS Savings Plans User Guide, "How Savings Plans apply to your usage".
type SavingsPlan struct {
	Commit   capcli.Rate // dollars of use at plan rates, an hour
	Instance bool        // an EC2 Instance plan, for one family in one region; applied before the others
	Rates
}

// PlanRate is the price of a unit-hour under a plan: a rate, or a discount from the on-demand
// price.
type PlanRate struct {
	Scope    Scope // use that it applies to
	Rate     capcli.Rate
	Discount int64 // millionths of the on-demand price; used where Rate is 0
}

// Rates are the prices of use under a product that commits to money. The first that matches
// counts; use that none matches is not covered.
type Rates []PlanRate

func (Rates) units() int64 { return 0 }

// PlanRates implements Rated.
func (r Rates) PlanRates() []PlanRate { return r }

// Name returns the product's name.
func (SavingsPlan) Name() string { return "savings_plan" }

// Form implements Product.
func (p SavingsPlan) Form() *Form {
	p = SavingsPlan{Instance: p.Instance}
	f := planForm(&p.Commit, &p.Rates, func() Product { return p })
	f.Aliases, f.Variants = []string{"compute_savings_plan"}, map[string]Product{"instance_savings_plan": SavingsPlan{Instance: true}}
	return f
}

func (SavingsPlan) properties(*Commitment) capcli.Properties { return capcli.Properties{Covers: true} }

func (p SavingsPlan) check(*Commitment) string { return checkPlan(p.Commit, p.Rates) }

func (p SavingsPlan) power(*Commitment) int64 { return 1000 * int64(p.Commit) }

// WithRates implements Rated.
func (p SavingsPlan) WithRates(rates []PlanRate) Product {
	p.Rates = rates
	return p
}

func (p SavingsPlan) cover(c *Commitment, b *bucket) (claim, bool) {
	stage := stagePlan
	if p.Instance {
		stage = stageFamily
	}
	return coverPlan(c, b, p.Rates, stage)
}

// maxCommit is the largest hourly commitment. With it, the power over an hour fits an int64.
const maxCommit = capcli.Rate(math.MaxInt64 / 3600 / 1000)

// checkPlan returns the first fault of a spend-based commitment in words, or "".
func checkPlan(commit capcli.Rate, rates []PlanRate) string {
	switch {
	case commit <= 0 || commit > maxCommit:
		return fmt.Sprintf("the commitment is %s dollars an hour; it must be above 0 and at most %s", commit.Decimal(), maxCommit.Decimal())
	case len(rates) == 0:
		return "no plan rate is given, so it covers nothing"
	}
	for i, r := range rates {
		switch {
		case r.Rate < 0 || r.Discount < 0 || r.Discount > 1_000_000:
			return fmt.Sprintf("plan rate %d is negative or its discount is not from 0 to 1", i+1)
		case r.Rate > 0 && r.Discount > 0:
			return fmt.Sprintf("plan rate %d has a rate and a discount; leave one out", i+1)
		}
	}
	return ""
}

// coverPlan is the cover method of spend-based commitments.
func coverPlan(c *Commitment, b *bucket, rates []PlanRate, stage int) (claim, bool) {
	if !b.eligible() || !c.Scope.Matches(&b.sku, b.account) {
		return claim{}, false
	}
	for i := range rates {
		if r := &rates[i]; r.Scope.Matches(&b.sku, b.account) {
			o := standing(c, b, stage)
			o.rate, o.per = r.rateFor(b.list), b.list
			return claim{weight: int64(o.rate), order: o}, true
		}
	}
	return claim{}, false
}

// rateFor returns the plan rate of use whose on-demand price is list, rounded half up.
func (r *PlanRate) rateFor(list capcli.Rate) capcli.Rate {
	if r.Rate > 0 {
		return r.Rate
	}
	return list - scale(list, r.Discount, 1_000_000)
}
