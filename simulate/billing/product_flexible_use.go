package billing

import "capcli"

// FlexibleUse is Google Cloud's spend-based committed use discount: so many
// dollars an hour of eligible use at the discounted price, in any region, paid
// whether used or not, after resource-based commitments. Google lists CPU
// families only; which use is eligible is what Rates match.
//
// Source: Google Cloud, Compute Engine documentation, "Compute flexible
// committed use discounts".
type FlexibleUse struct {
	Commit capcli.Rate
	Rates  []PlanRate
}

// Name gives the product's name.
func (FlexibleUse) Name() string { return "flexible_use" }

func (p FlexibleUse) check(*Commitment) string { return checkPlan(p.Commit, p.Rates) }

func (p FlexibleUse) power(*Commitment) int64 { return 1000 * int64(p.Commit) }

func (p FlexibleUse) cover(c *Commitment, b *bucket) (claim, bool) {
	return coverPlan(c, b, p.Rates, stagePlan)
}
