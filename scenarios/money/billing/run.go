package billing

import (
	"errors"
	"fmt"

	"capcli"
	"capcli/simulate"
)

// RunPool says how the use of one pool of a run is billed.
type RunPool struct {
	SKU        SKU
	Kind       UseKind     // commitments may cover only on-demand use
	Price      capcli.Rate // public on-demand price of a GPU-hour
	Path       []Step      // later values of Price; each applies to the clock hours that begin at or after it
	Contracted capcli.Rate // negotiated on-demand price; 0 means Price
	Spot       capcli.Rate // price of a GPU-hour of spot use
	Capacity   string      // name of the pool; for reserved use, ID of the commitment that brings the capacity
	Account    string      // account that is billed
	Skip       bool        // this pool is priced at its rate instead

	// Reserved is the size, in thousandths of a GPU, of the capacity reservation that the pool
	// is from From to Until. Its unused part is billed too. 0 means that the pool is no
	// reservation.
	Reserved    int64
	From, Until capcli.Time
}

// ofRun gathers the use of a run that kept its hours, with minimum billing times, over [from,
// to). The run must lie within that window. pools are in the order of the record's. The sum
// equals what the record says was billed, to the thousandth of a GPU-second.
func ofRun(rec *simulate.Record, pools []RunPool, from, to capcli.Time) (*Hours, error) {
	switch {
	case rec.Hourly == nil:
		return nil, errors.New("the run did not keep its use by hour; commitments are settled hour by hour")
	case len(pools) != len(rec.Pools):
		return nil, fmt.Errorf("price a run: got %d pools, the run has %d", len(pools), len(rec.Pools))
	}
	g, err := gather(from, to, "")
	if err != nil {
		return nil, err
	}
	for p := range pools {
		k := &pools[p]
		var tenants []simulate.HourlyUse
		if p < len(rec.Hourly.Use) {
			tenants = rec.Hourly.Use[p]
		}
		if k.Skip {
			continue
		}
		if rec.Pools[p].Buy != nil {
			if err := g.bookFree(k, rec.UnusedByHour(p), rec.Hourly.First); err != nil {
				return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
			}
		}
		if err := g.bookIdle(k, tenants, rec.Hourly.First); err != nil {
			return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
		}
		for t := range tenants {
			if err := g.hours(k, user{rec.Tenants[t], ""}, &tenants[t], rec.Hourly.First); err != nil {
				return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
			}
		}
	}
	return g.Hours()
}

// hours adds the use of a pool by one tenant.
func (g *gatherer) hours(k *RunPool, u user, use *simulate.HourlyUse, first capcli.Time) error {
	for _, times := range [][]capcli.GPUTime{use.Used, use.Rest, use.Spare} {
		for i, time := range times {
			if time == 0 {
				continue
			}
			at := max(g.h.from, first+capcli.Time(i)*hour)
			if err := g.put(k.bucketAt(at), u, at, time); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucketAt returns the bucket of the pool's use in the hour that begins at an instant.
func (k *RunPool) bucketAt(at capcli.Time) bucket {
	line := UseLine{SKU: k.SKU, Kind: k.Kind, Price: stepAt(k.Price, k.Path, at), Contracted: k.Contracted, Spot: k.Spot, Capacity: k.Capacity, Account: k.Account, inside: k.Reserved > 0}
	return line.bucket()
}

// bookIdle adds the unused part of a pool that is a capacity reservation.
func (g *gatherer) bookIdle(k *RunPool, tenants []simulate.HourlyUse, first capcli.Time) error {
	if k.Reserved == 0 {
		return nil
	}
	for i := range g.h.n {
		at := g.h.first + capcli.Time(i)*hour
		free := capcli.GPUTime(k.Reserved * g.h.overlap(i, k.From, k.Until))
		for t := range tenants {
			if n := int((at - first) / hour); n >= 0 && n < len(tenants[t].Used) {
				free -= tenants[t].Used[n]
			}
		}
		if free > 0 {
			unused := k.bucketAt(max(at, g.h.from))
			unused.idle = true
			if err := g.put(unused, user{}, max(at, g.h.from), free); err != nil {
				return err
			}
		}
	}
	return nil
}

// bookFree adds what nobody held of the nodes of a pool of bought nodes, by hour: it is billed as use is.
func (g *gatherer) bookFree(k *RunPool, free []capcli.GPUTime, first capcli.Time) error {
	for i, time := range free {
		at := max(g.h.from, first+capcli.Time(i)*hour)
		b := k.bucketAt(at)
		b.idle, b.free = true, true
		if err := g.put(b, user{}, at, time); err != nil {
			return err
		}
	}
	return nil
}

// Deal is commitments that discount the use of a run, and the pools to whose use they may
// apply.
type Deal struct {
	Portfolio Portfolio
	Pools     []RunPool   // in order of the record's pools; those with Skip are priced at their rates
	To        capcli.Time // end of the run
}

// PriceUnder prices a record as Price does, but settles the use of the deal's pools without
// Skip hour by hour with its commitments. The covered part of a commitment is charged to who
// used it; the unused part is shared like all unused capacity. All tables still add up to the
// total. It fails where the run did not keep its hours, and as Price and Hours.Bill do.
func PriceUnder(rec *simulate.Record, rates []Rate, d *Deal) (*Invoice, error) {
	if len(rec.Months) == 0 { // nothing ever happened
		return Price(rec, rates)
	}
	h, err := ofRun(rec, d.Pools, rec.Start, max(d.To, rec.Start+1))
	if err != nil {
		return nil, err
	}
	bill, err := h.Bill(&d.Portfolio, ByDay)
	if err != nil {
		return nil, err
	}
	inv := &Invoice{ByPool: make([]Line, len(rec.Pools)), Commitments: bill.Commitments, bill: bill, deal: d, cash: bill.Total.Billed}
	inv.settled, inv.covered = settledOf(rec, d, bill)
	if err := inv.price(rec, rates); err != nil {
		return nil, err
	}
	if err := inv.check(bill, d.Pools); err != nil {
		return nil, err
	}
	return inv, inv.addRounding(rec, d)
}

// settled is the cost of one pool in one month under commitments.
type settled struct {
	direct  []capcli.USD   // by tenant
	covered []capcli.USD   // by tenant: part of direct that commitments covered
	time    capcli.GPUTime // time that commitments covered
	unused  capcli.USD     // cost of the unused part, of the pool and of commitments
	spare   capcli.USD     // part of unused that is of commitments
	left    capcli.GPUTime // unit time that commitments could have covered and did not
}

// settledOf divides the rows of a bill by month and pool, and those of commitments by commitment
// and pool.
func settledOf(rec *simulate.Record, d *Deal, bill *Bill) ([][]*settled, map[string][]Line) {
	pools, tenants := map[string]int{}, map[string]int{}
	for t, name := range rec.Tenants {
		tenants[name] = t
	}
	out, first := nothingSettled(rec, d, pools)
	homes, covered := d.homes(rec.Start), map[string][]Line{}
	for i := range bill.Rows {
		r := &bill.Rows[i]
		if r.Category == Purchase || first < 0 || len(out) == 0 {
			continue
		}
		m := recordMonth(rec, r.Start)
		p, of := pools[r.Capacity]
		if !of {
			if p, of = homes[r.Commitment]; !of {
				p = first
			}
		}
		who, is := tenants[r.Tenant]
		if !is {
			who = -1
		}
		out[m][p].row(r, who)
		if r.Commitment != "" && r.Status != NoStatus {
			if covered[r.Commitment] == nil {
				covered[r.Commitment] = make([]Line, len(rec.Pools))
			}
			covered[r.Commitment][p].row(r, who)
		}
	}
	return out, covered
}

// nothingSettled returns the places of settledOf without an amount, by month and pool, and the first pool
// that is settled; -1 where none is. It sets the number of each pool by its name.
func nothingSettled(rec *simulate.Record, d *Deal, pools map[string]int) (out [][]*settled, first int) {
	out, first = make([][]*settled, len(rec.Months)), -1
	for p := range d.Pools {
		if d.Pools[p].Skip {
			continue
		}
		if first < 0 {
			first = p
		}
		pools[d.Pools[p].Capacity] = p
		for m := range out {
			if out[m] == nil {
				out[m] = make([]*settled, len(rec.Pools))
			}
			out[m][p] = &settled{direct: make([]capcli.USD, len(rec.Tenants)), covered: make([]capcli.USD, len(rec.Tenants))}
		}
	}
	return out, first
}

// row adds a row of a commitment to its line at a pool: what it covered is held, and what it did not
// is idle. who is the index of its tenant; -1 for nobody.
func (l *Line) row(r *Row, who int) {
	l.Cost += r.EffectiveCost
	if r.Status == Unused || r.Free || r.ReservationStatus == Unused || who < 0 {
		l.Idle += r.EffectiveCost
		l.Time.Idle += r.Quantity
	} else {
		l.Direct += r.EffectiveCost
		l.Time.Used += r.Quantity
	}
	l.Time.Offered += r.Quantity
}

// CoveredBy returns what a commitment beside the pools' own terms paid for, by pool: what it covered
// of the pool's use is held. What it did not cover is idle, and is at the first pool that it applies
// to. It returns nil for other commitments.
func (inv *Invoice) CoveredBy(id string) []Line { return inv.covered[id] }

// row adds a row of the bill. who is the index of its tenant; -1 for nobody.
func (s *settled) row(r *Row, who int) {
	switch {
	case r.Status == Unused, r.Status == Used && (r.ReservationStatus == Unused || r.Free):
		s.unused += r.EffectiveCost
		s.spare += r.EffectiveCost
		if r.Status == Unused {
			s.left += r.Quantity
		}
	case r.ReservationStatus == Unused || r.Free || who < 0:
		s.unused += r.EffectiveCost
	default:
		s.direct[who] += r.EffectiveCost
		if r.Status == Used {
			s.covered[who] += r.EffectiveCost
			s.time += r.Quantity
		}
	}
}

// homes returns the pool to which the unused part of each commitment is charged, by the
// commitment's ID: the first pool that it applies to.
func (d *Deal) homes(at capcli.Time) map[string]int {
	out := map[string]int{}
	for i := range d.Portfolio.Commitments {
		c := &d.Portfolio.Commitments[i]
		for p := range d.Pools {
			b := d.Pools[p].bucketAt(at)
			_, applies := c.Product.cover(c, &b)
			if _, has := out[c.ID]; applies && !has && !d.Pools[p].Skip {
				out[c.ID] = p
			}
		}
	}
	return out
}

// recordMonth returns the index of the record's month that contains an instant; the last for a
// later instant.
func recordMonth(rec *simulate.Record, at capcli.Time) int {
	m := 0
	for m+1 < len(rec.Months) && rec.Months[m+1].Start <= at {
		m++
	}
	return m
}

// lay replaces the cost of a pool at its rate by the settled cost. It returns the part of the
// line that commitments paid for.
func (s *settled) lay(l *Line) (part Line) {
	l.Direct = 0
	for t := range s.direct {
		l.Direct += s.direct[t]
		part.Direct += s.covered[t]
	}
	times := []int64{int64(l.Time.Idle), int64(l.Time.Blocked), int64(l.Time.Down)}
	own := capcli.Split(s.unused-s.spare, times)
	spare := capcli.Split(s.spare, times)
	l.Idle, l.Blocked, l.Down = own[0]+spare[0], own[1]+spare[1], own[2]+spare[2]
	l.Cost = l.Direct + l.Idle + l.Blocked + l.Down
	part.Idle, part.Blocked, part.Down = spare[0], spare[1], spare[2]
	part.Cost = part.Direct + spare[0] + spare[1] + spare[2]
	part.Billed = min(s.time, l.Billed)
	part.Time.Used = min(part.Billed, l.Time.Used)
	part.Time.Offered = part.Time.Used
	if l.Unlisted > 0 {
		part.Unlisted = part.Billed
	} else if l.Billed > 0 {
		part.Equivalent = scale(l.Equivalent, int64(part.Billed), int64(l.Billed))
	}
	return part
}

// subtract returns the line less a part of it.
func (l *Line) subtract(o *Line) Line {
	return Line{
		Cost: l.Cost - o.Cost, Direct: l.Direct - o.Direct, Idle: l.Idle - o.Idle, Blocked: l.Blocked - o.Blocked, Down: l.Down - o.Down,
		Equivalent: l.Equivalent - o.Equivalent, Unlisted: l.Unlisted - o.Unlisted, Billed: l.Billed - o.Billed, Spare: l.Spare,
		Time: simulate.Span{Offered: l.Time.Offered - o.Time.Offered, Used: l.Time.Used - o.Time.Used, Idle: l.Time.Idle, Blocked: l.Time.Blocked, Down: l.Time.Down},
	}
}

// Settled reports whether pool p was settled with commitments beside its terms.
func (inv *Invoice) Settled(p int) bool {
	return len(inv.settled) > 0 && inv.settled[0] != nil && inv.settled[0][p] != nil
}

// Standard returns the part of the cost of settled pool p that no commitment covered: what was
// paid for it on demand.
func (inv *Invoice) Standard(p int) capcli.USD {
	var sum capcli.USD
	for m := range inv.settled {
		if s := inv.settledAt(m, p); s != nil {
			for t := range s.direct {
				sum += s.direct[t] - s.covered[t]
			}
			sum += s.unused - s.spare
		}
	}
	return sum
}

// Uncovered returns the unit time that the commitments beside the pools' own terms could have
// covered and did not. Commitments to money have none.
func (inv *Invoice) Uncovered() capcli.GPUTime {
	var sum capcli.GPUTime
	for m := range inv.settled {
		for _, s := range inv.settled[m] {
			if s != nil {
				sum += s.left
			}
		}
	}
	return sum
}

// Cash returns what was paid in the run for the settled pools and for their commitments.
func (inv *Invoice) Cash() capcli.USD { return inv.cash }

// check fails with a *simulate.AccountError where the settled pools do not cost what their bill
// does.
func (inv *Invoice) check(bill *Bill, pools []RunPool) error {
	var sum capcli.USD
	for p := range pools {
		if !pools[p].Skip {
			sum += inv.ByPool[p].Cost
		}
	}
	if sum != bill.Total.Effective {
		return &simulate.AccountError{Text: fmt.Sprintf("the pools under commitments cost %s, their bill is %s", sum.Decimal(), bill.Total.Effective.Decimal())}
	}
	return nil
}
