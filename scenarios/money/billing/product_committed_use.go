package billing

import "capcli"

func init() {
	Products.Add("committed_use", "Google resource-based committed use: units in a region",
		example(CommittedUse{Units: 3000}, Scope{Family: "p5"}, Fees{Hourly: 3 * capcli.Dollar}))
}

// CommittedUse is Google Cloud's resource-based committed use discount: one or three years,
// nothing upfront, one region, no cancellation. It is paid for each hour, used or not, and
// covers so many units of the scope at once.
//
// For GPUs it must be bought with a reservation that lasts as long as the commitment.
// Reservation names it, and rows carry its status. The reserved capacity is not charged again,
// since the commitment pays for it.
//
// Source: Google Cloud, Compute Engine documentation, "Resource-based committed use discounts"
// and "Reservations with committed use discounts".
type CommittedUse struct {
	Units              // thousandths
	Reservation string // the attached reservation; "" for none
}

// Name returns the product's name.
func (CommittedUse) Name() string { return "committed_use" }

// Lengths for which Google sells committed use, and what to say of others.
var googleTerms = []string{"1y", "3y"}

const googleTerm = "committed use is for 1y or 3y; a part of a term is said with until"

// Form implements Product.
func (p CommittedUse) Form() *Form {
	p = CommittedUse{}
	f := unitsForm(&p.Units, func() Product { return p },
		Option{Name: "reservation", Doc: "committed_use: the reservation attached to it; GPUs want one", Into: &p.Reservation})
	f.Aliases, f.Terms, f.Term = []string{"cud"}, googleTerms, googleTerm
	return f
}

func (p CommittedUse) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Covers: true, Guarantees: p.Reservation != ""}
}

func (CommittedUse) unless() string { return "with its reservation, as GPUs have it: guarantees" }

func (p CommittedUse) check(c *Commitment) string {
	switch {
	case c.Fees.Upfront > 0:
		return "committed use has no upfront payment; give it by the hour or the month"
	case c.Scope.Zone != "" && p.Reservation == "":
		return "committed use is for a region; only its reservation has a zone"
	case c.Scope.GPUModel != "" && p.Reservation == "":
		return "committed use of GPUs comes with a reservation; name it"
	}
	return p.Units.check(c)
}

// mark sets the attached reservation and its status in a row.
func (p CommittedUse) mark(_ *Commitment, r *Row) {
	if p.Reservation != "" && r.Status != NoStatus {
		r.Reservation, r.ReservationStatus = p.Reservation, r.Status
	}
}

func (p CommittedUse) cover(c *Commitment, b *bucket) (claim, bool) {
	return coverUnits(c, b, stageReserved)
}

// coverUnits is the cover method of commitments to a number of equal units.
func coverUnits(c *Commitment, b *bucket, stage int) (claim, bool) {
	if !b.eligible() || !c.Scope.Matches(&b.sku, b.account) {
		return claim{}, false
	}
	o := standing(c, b, stage)
	o.alone = true
	return claim{weight: 1, order: o}, true
}
