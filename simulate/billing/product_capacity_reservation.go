package billing

import (
	"slices"

	"capcli"
)

func init() {
	Products.Add("capacity_reservation", "AWS on-demand capacity reservation: the on-demand price, used or not",
		example(CapacityReservation{Units: 2000, Price: 2 * capcli.Dollar}, Scope{Family: "p5", Size: "large"}, Fees{}))
}

// CapacityReservation is AWS's on-demand capacity reservation: the on-demand
// price from creation to cancellation, used or not, by the second. Use that
// runs in it is charged as on-demand use; the part that nobody uses is charged
// beside it. Savings plans and regional reserved instances apply, to use that
// runs first and to the unused part after it; zonal reserved instances do not
// apply.
//
// One asked for in advance may be committed for a time; cancelled before the end
// of it, it costs WindDown.
//
// Source: AWS EC2 User Guide, "Capacity Reservation pricing and billing" and
// "Future-dated Capacity Reservations".
type CapacityReservation struct {
	Units                  // thousandths
	Price      capcli.Rate // on-demand price of a unit-hour
	Contracted capcli.Rate // negotiated on-demand price; 0 is Price
	Targeted   bool        // only use that names it runs in it; else all matching use does

	Committed capcli.Seconds // not cancelled before so long after creation, or
	WindDown  capcli.USD     // this is charged at the end
}

// Name gives the product's name.
func (CapacityReservation) Name() string { return "capacity_reservation" }

func (p CapacityReservation) check(c *Commitment) string {
	switch {
	case c.Fees != (Fees{}):
		return "a capacity reservation costs the on-demand price; it has no fees"
	case p.Price < 0 || p.Contracted < 0 || p.WindDown < 0 || p.Committed < 0:
		return "a price or length of time is negative"
	}
	return p.Units.check(c)
}

func (CapacityReservation) bringsCapacity() {}

func (p CapacityReservation) power(*Commitment) int64 { return 0 }

// mark names the reservation, which is no commitment discount.
func (p CapacityReservation) mark(c *Commitment, r *Row) { r.Commitment, r.Reservation = "", c.ID }

// cover is never: a reservation is no discount. Its unused part is a bucket.
func (p CapacityReservation) cover(*Commitment, *bucket) (claim, bool) { return claim{}, false }

// windDown is what it costs in a window that a reservation was cancelled before
// the time it was committed for.
func (c *Commitment) windDown(from, to capcli.Time) capcli.USD {
	p, is := c.Product.(CapacityReservation)
	if !is || capcli.Seconds(c.End-c.Start) >= p.Committed || c.End <= from || c.End > to {
		return 0
	}
	return p.WindDown
}

// reserves tells whether the portfolio has capacity reservations.
func (p *Portfolio) reserves() bool {
	return slices.ContainsFunc(p.Commitments, func(c Commitment) bool {
		_, is := c.Product.(CapacityReservation)
		return is
	})
}

// idleBucket is the unused part of a reservation, as use that discounts apply to.
func (p CapacityReservation) idleBucket(c *Commitment) bucket {
	s := &c.Scope
	l := UseLine{
		SKU: SKU{
			Provider: s.Provider, Region: s.Region, Zone: s.Zone, Family: s.Family, Size: s.Size,
			GPUModel: s.GPUModel, Service: s.Service, OS: s.OS,
		},
		Price: p.Price, Contracted: p.Contracted, Account: c.Owner, Capacity: c.ID,
	}
	b := l.bucket()
	b.idle = true
	return b
}
