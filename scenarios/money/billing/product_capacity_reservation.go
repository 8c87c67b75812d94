package billing

import (
	"cmp"
	"errors"
	"slices"

	"capcli"
)

func init() {
	Products.Add("capacity_reservation", "AWS on-demand capacity reservation: the on-demand price, used or not",
		example(CapacityReservation{Units: 2000, Price: 2 * capcli.Dollar}, Scope{Family: "p5", Size: "large"}, Fees{}))
}

// CapacityReservation is AWS's on-demand capacity reservation. It costs the on-demand price
// from creation to cancellation, used or not, by the second. Use that runs in it is charged as
// on-demand use, and the unused part is charged as well. Savings plans and regional reserved
// instances apply to the use first and then to the unused part. Zonal reserved instances do not
// apply.
//
// A reservation requested in advance may be committed for a time. Cancelled before that time is
// over, it costs WindDown.
//
// Source: AWS EC2 User Guide, "Capacity Reservation pricing and billing" and "Future-dated
// Capacity Reservations".
type CapacityReservation struct {
	Units                  // thousandths
	Price      capcli.Rate // on-demand price of a unit-hour
	Contracted capcli.Rate // negotiated on-demand price; 0 means Price
	Targeted   bool        // only use that names it runs in it; otherwise all matching use does

	Committed capcli.Seconds // time from creation during which cancelling costs WindDown; 0 means none
	WindDown  capcli.USD     // charged at the end where it comes before Committed is over
}

// Name returns the product's name.
func (CapacityReservation) Name() string { return "capacity_reservation" }

// Form implements Product.
func (p CapacityReservation) Form() *Form {
	p = CapacityReservation{}
	f := unitsForm(&p.Units, func() Product { return p },
		Option{Name: "contracted_price", Doc: "capacity_reservation: negotiated on-demand price", Into: UnitPrice{&p.Contracted}},
		Option{Name: "targeted", Doc: "capacity_reservation: only use that names it runs in it", Into: &p.Targeted},
		Option{Name: "committed", Doc: "capacity_reservation: if cancelled before this time, it costs wind_down", Into: &p.Committed},
		Option{Name: "wind_down", Doc: "capacity_reservation: that charge", Into: Amount{&p.WindDown}})
	f.Aliases, f.Price = []string{"odcr"}, &p.Price
	f.Unpaid = "a capacity reservation costs the on-demand price; leave upfront, hourly, monthly and payment out"
	return f
}

func (p CapacityReservation) check(c *Commitment) string {
	switch {
	case c.Fees != (Fees{}):
		return "a capacity reservation costs the on-demand price; it has no fees"
	case p.Price < 0 || p.Contracted < 0 || p.WindDown < 0 || p.Committed < 0:
		return "a price or length of time is negative"
	}
	return p.Units.check(c)
}

func (p CapacityReservation) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Guarantees: true, Fenced: p.Targeted}
}

func (CapacityReservation) unless() string { return "targeted: fenced" }

// power returns 0: a reservation covers no use.
func (p CapacityReservation) power(*Commitment) int64 { return 0 }

// mark sets the row's reservation in place of its commitment, since a reservation is no
// commitment discount.
func (p CapacityReservation) mark(c *Commitment, r *Row) { r.Commitment, r.Reservation = "", c.ID }

// cover returns false: a reservation is no discount. Its unused part is a bucket.
func (p CapacityReservation) cover(*Commitment, *bucket) (claim, bool) { return claim{}, false }

// windDown returns the charge for cancelling a reservation before its committed time is over,
// where its end falls into (from, to]; otherwise 0.
func (c *Commitment) windDown(from, to capcli.Time) capcli.USD {
	p, is := c.Product.(CapacityReservation)
	if !is || capcli.Seconds(c.End-c.Start) >= p.Committed || c.End <= from || c.End > to {
		return 0
	}
	return p.WindDown
}

func (p *Portfolio) reserves() bool {
	return slices.ContainsFunc(p.Commitments, func(c Commitment) bool {
		_, is := c.Product.(CapacityReservation)
		return is
	})
}

// idleBucket returns the bucket of a reservation's unused part, to which discounts apply.
func (p CapacityReservation) idleBucket(c *Commitment) bucket {
	l := UseLine{SKU: *c.Scope.sku(), Price: p.Price, Contracted: p.Contracted, Account: c.Owner, Capacity: c.ID}
	b := l.bucket()
	b.idle = true
	return b
}

// reserve returns the hours with the portfolio's capacity reservations applied: use that runs
// in a reservation names it, and the unused part is a bucket of its own. Reservations are
// filled by the second, in order of start, then ID. At each moment the owner's use comes before
// others', then the order is by SKU, account, tenant and job. It fails where the use is known
// only by the hour.
func (h *Hours) reserve(p *Portfolio) (*Hours, error) {
	if !h.bySecond {
		return nil, errors.New("a capacity reservation is billed by the second, but of this use only hours are known; price it from lines of use")
	}
	g, err := gather(h.from, h.to, h.currency)
	if err != nil {
		return nil, err
	}
	g.h.byJob = h.byJob
	var orders []*Commitment
	for i := range p.Commitments {
		if _, is := p.Commitments[i].Product.(CapacityReservation); is {
			orders = append(orders, &p.Commitments[i])
		}
	}
	slices.SortFunc(orders, func(a, b *Commitment) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	lines := slices.Clone(h.lines)
	for i := range lines {
		if l := &lines[i]; l.Kind == UseOnDemand {
			l.Seconds, l.Minimum = max(l.Seconds, l.Minimum), 0
		}
	}
	for _, c := range orders {
		if lines, err = g.fill(c, lines); err != nil {
			return nil, err
		}
	}
	for i := range lines {
		if l := &lines[i]; l.Kind == UseOnDemand {
			if err := g.stretch(l.bucket(), g.lineUser(l), l.Units, l.Start, l.Seconds); err != nil {
				return nil, err
			}
		}
	}
	g.h.who = slices.Clip(g.h.who)
	if err := g.copyRest(h); err != nil {
		return nil, err
	}
	out, err := g.Hours()
	if err == nil {
		out.lines, out.bySecond = h.lines, true
	}
	return out, err
}

// copyRest copies the use that reservations do not affect: spot and reserved use.
func (g *gatherer) copyRest(h *Hours) error {
	for b := range h.buckets {
		if h.buckets[b].kind == UseOnDemand {
			continue
		}
		for _, e := range h.cells[b] {
			if err := g.put(h.buckets[b], h.who[e.who], h.first+capcli.Time(e.hour)*hour, e.time); err != nil {
				return err
			}
		}
	}
	return nil
}

// holder is a line of use that may run in a reservation.
type holder struct {
	line     *UseLine
	from, to capcli.Time // the part of the line within the reservation's term
	since    capcli.Time // time up to which the line has been flushed
	inside   int64       // thousandths of units that run in the reservation since then
}

// fill runs use in one reservation. It adds the unused part to the gatherer, and returns the
// lines cut so that the pieces that ran in the reservation name it.
func (g *gatherer) fill(c *Commitment, lines []UseLine) ([]UseLine, error) {
	p, _ := c.Product.(CapacityReservation)
	from, to := max(c.Start, g.h.from), min(c.End, g.h.to)
	if from >= to {
		return lines, nil
	}
	var rest []UseLine
	var in []holder
	for i := range lines {
		l := &lines[i]
		end := l.Start + capcli.Time(l.Seconds)
		open := !l.inside && (l.Capacity == c.ID || (!p.Targeted && l.Capacity == ""))
		if l.Kind != UseOnDemand || !open || l.Start >= to || end <= from || !c.Scope.Matches(&l.SKU, l.Account) {
			rest = append(rest, *l)
			continue
		}
		in = append(in, holder{line: l, from: max(l.Start, from), to: min(end, to)})
		rest = append(rest, piece(l, l.Start, from), piece(l, to, end))
	}
	slices.SortStableFunc(in, func(a, b holder) int { return compareHolders(c, a.line, b.line) })
	rest, err := g.sweep(c, p.units(), in, rest, from, to)
	return slices.DeleteFunc(rest, func(l UseLine) bool { return l.Kind == UseOnDemand && (l.Seconds <= 0 || l.Units == 0) }), err
}

// sweep visits the times at which use begins or ends. At each it gives the reservation's units
// to the holders in their order; the units left over are unused.
func (g *gatherer) sweep(c *Commitment, units int64, in []holder, rest []UseLine, from, to capcli.Time) ([]UseLine, error) {
	type change struct {
		at  capcli.Time
		who int
		in  bool
	}
	changes := make([]change, 0, 2*len(in)+1)
	for i := range in {
		changes = append(changes, change{in[i].from, i, true}, change{in[i].to, i, false})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.who, b.who)) })
	p, _ := c.Product.(CapacityReservation)
	idle := p.idleBucket(c)
	var active []int // indices of the running holders, in their order
	at, free := from, units
	for i := 0; i <= len(changes); {
		until := to
		if i < len(changes) {
			until = changes[i].at
		}
		if err := g.stretch(idle, user{}, free, at, capcli.Seconds(until-at)); err != nil {
			return nil, err
		}
		if i == len(changes) {
			return rest, nil
		}
		at = until
		for ; i < len(changes) && changes[i].at == at; i++ {
			k, where := changes[i].who, 0
			if where, _ = slices.BinarySearch(active, k); changes[i].in {
				active = slices.Insert(active, where, k)
				in[k].since, in[k].inside = at, 0
				continue
			}
			active = slices.Delete(active, where, where+1)
			rest = in[k].flush(c, at, rest)
		}
		free = units
		for _, k := range active {
			took := min(free, in[k].line.Units)
			free -= took
			if took != in[k].inside {
				rest = in[k].flush(c, at, rest)
				in[k].inside = took
			}
		}
	}
	return rest, nil
}

// flush appends the use of a holder since the last flush: the units inside the reservation and
// the units outside it.
func (k *holder) flush(c *Commitment, at capcli.Time, rest []UseLine) []UseLine {
	part := piece(k.line, k.since, at)
	k.since = at
	if part.Seconds <= 0 {
		return rest
	}
	units := part.Units
	if part.Units = k.inside; part.Units > 0 {
		inside := part
		inside.Capacity, inside.inside = c.ID, true
		rest = append(rest, inside)
	}
	if part.Units = units - k.inside; part.Units > 0 {
		rest = append(rest, part)
	}
	return rest
}

// piece returns the part of a line from one time to another.
func piece(l *UseLine, from, to capcli.Time) UseLine {
	out := *l
	out.Start, out.Seconds = from, capcli.Seconds(max(0, to-from))
	return out
}

// compareHolders orders the use that may run in a reservation. It ignores when a line began, so
// that cutting a line changes nothing.
func compareHolders(c *Commitment, a, b *UseLine) int {
	x, y := a.bucket(), b.bucket()
	return cmp.Or(
		cmp.Compare(capcli.Bit(a.Capacity != c.ID), capcli.Bit(b.Capacity != c.ID)),
		cmp.Compare(capcli.Bit(a.Account != c.Owner), capcli.Bit(b.Account != c.Owner)),
		x.compare(&y), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Job, b.Job))
}
