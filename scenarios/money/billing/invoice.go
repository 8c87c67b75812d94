package billing

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate"
)

// Line is the cost of some capacity over some time, by what became of it. Lines can be summed.
type Line struct {
	Cost capcli.USD // Direct + Idle + Blocked + Down

	Direct  capcli.USD // for time that jobs held, with minimum billing times
	Idle    capcli.USD // for committed time, or time of bought nodes, that nobody held or waited for
	Blocked capcli.USD // for such time that nobody held while a job waited that could not start
	Down    capcli.USD // for such time in which the capacity was not available

	Equivalent capcli.USD     // billed time at on-demand prices, where these are known
	Unlisted   capcli.GPUTime // billed time whose on-demand price is not known

	Time   simulate.Span
	Billed capcli.GPUTime // Time.Used plus what minimum billing times and whole machines add
	Spare  capcli.GPUTime // part of Billed: what rounding up to whole machines adds

	Moved capcli.USD // part of Direct: for data that moved between places, and copies that stayed
}

// Slot is what became of GPU time that was paid for.
type Slot int

// The slots, in the order of the glossary.
const (
	SlotHeld Slot = iota
	SlotIdle
	SlotBlocked
	SlotDown
)

// String returns the name of the slot: held, idle, blocked or down.
func (s Slot) String() string { return [...]string{"held", "idle", "blocked", "down"}[s] }

// InSlot returns the cost and the GPU time of the line in a slot. The time that minimum billing
// times add to on-demand and spot use is idle time, but its cost counts as held.
func (l *Line) InSlot(s Slot) (capcli.USD, capcli.GPUTime) {
	switch s {
	case SlotHeld:
		return l.Direct, l.Time.Used
	case SlotIdle:
		return l.Idle, l.Time.Idle
	case SlotBlocked:
		return l.Blocked, l.Time.Blocked
	case SlotDown:
	}
	return l.Down, l.Time.Down
}

// Stranded returns the cost of committed capacity and of bought nodes that nobody held.
func (l *Line) Stranded() capcli.USD { return l.Idle + l.Blocked + l.Down }

// UnitCost returns the cost of a GPU-hour used, rounded half up to the millionth; false where
// none was used.
func (l *Line) UnitCost() (capcli.Rate, bool) {
	return perUnit(l.Cost, 1000*uint64(capcli.Hour), uint64(l.Time.Used))
}

// SavingsRate returns the effective savings rate, 1 - cost / on-demand equivalent (FinOps
// Foundation). It is false where no time was billed, or the on-demand price of some billed time
// is not known. It is negative where the mix costs more than on demand alone.
func (l *Line) SavingsRate() (float64, bool) {
	if l.Unlisted > 0 {
		return 0, false
	}
	return savingsRate(l.Cost, l.Equivalent)
}

// add adds o to l. Price has checked that no sum overflows.
func (l *Line) add(o *Line) {
	l.Cost += o.Cost
	l.Direct += o.Direct
	l.Idle += o.Idle
	l.Blocked += o.Blocked
	l.Down += o.Down
	l.Equivalent += o.Equivalent
	l.Unlisted += o.Unlisted
	l.Time.Add(o.Time)
	l.Billed += o.Billed
	l.Spare += o.Spare
	l.Moved += o.Moved
}

// Invoice is the cost of a run under some rates. Each table adds up to Total, to the millionth
// of a dollar and the thousandth of a GPU-second.
type Invoice struct {
	Total       Line
	ByTier      [3]Line // by Tier
	ByTerms     [4]Line // by simulate.Terms
	ByPool      []Line  // in order of the record's pools
	ByMonth     []Month
	ByTenant    []Tenant         // in order of the record's tenants
	Unallocated capcli.USD       // cost that no tenant can bear, because nobody used anything
	Rounding    capcli.USD       // part of Total.Cost: what rounding use up to whole machines adds to it, commitments considered
	Commitments []CommitmentBill // commitments beside the terms of the pools: see PriceUnder

	settled [][]*settled      // by month and pool; nil where the pool is priced at its rate
	covered map[string][]Line // see CoveredBy
	cash    capcli.USD        // paid in the run for the settled pools and their commitments

	moved    []Part     // for data that moved
	told     func(Part) // receives each part of the invoice: see Parts
	bill     *Bill      // bill of the settled pools
	deal     *Deal      // the deal of PriceUnder; nil without one
	rates    []Rate     // by pool
	unlisted []string   // pools with billed time and no known on-demand price
}

// TenantUse returns the GPU time that each tenant held, in order of the record's tenants.
func (inv *Invoice) TenantUse() []capcli.GPUTime {
	out := make([]capcli.GPUTime, len(inv.ByTenant))
	for i := range inv.ByTenant {
		out[i] = inv.ByTenant[i].Used
	}
	return out
}

// Month is one calendar month (UTC) of an invoice, or a part of a month between changes of
// price.
type Month struct {
	Start  capcli.Time
	Line   Line
	ByTier [3]capcli.USD
	ByPool []Line
}

// Price prices a record with one rate for each of its pools, in their order. It fails with
// capcli.ErrOverflow when an amount does not fit, and where there are too few or too many rates
// or a rate is not valid.
func Price(rec *simulate.Record, rates []Rate) (*Invoice, error) {
	if len(rates) != len(rec.Pools) {
		return nil, fmt.Errorf("price a run: got %d rates for %d pools", len(rates), len(rec.Pools))
	}
	inv := &Invoice{ByPool: make([]Line, len(rec.Pools))}
	if err := inv.price(rec, rates); err != nil {
		return nil, err
	}
	return inv, nil
}

// price fills the tables.
func (inv *Invoice) price(rec *simulate.Record, rates []Rate) error {
	inv.rates = rates
	for p := range rec.Pools {
		if err := rates[p].check(rec); err != nil {
			return fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
		}
	}
	for m := range rec.Months {
		if err := inv.month(rec, rates, m); err != nil {
			return err
		}
	}
	if err := inv.addMoved(rec); err != nil {
		return err
	}
	for p := range rec.Pools {
		if inv.ByPool[p].Unlisted > 0 {
			inv.unlisted = append(inv.unlisted, rec.Pools[p].Name)
		}
	}
	inv.chargeBack(rec)
	return nil
}

// month prices the cells of one month and adds them to every table except that of the tenants.
func (inv *Invoice) month(rec *simulate.Record, rates []Rate, m int) error {
	month := Month{Start: rec.Months[m].Start, ByPool: make([]Line, len(rec.Pools))}
	for p := range rec.Pools {
		terms := rec.Pools[p].Terms
		var t tally
		l := t.cell(rates[p].At(rec.Months[m].Since), &rec.Pools[p], &rec.Months[m].Pools[p], rec.Months[m].Use[p])
		var part Line // what commitments beside the pool's terms paid for
		if s := inv.settledAt(m, p); s != nil && t.err == nil {
			part = s.lay(&l)
		} else if l.Spare > 0 {
			inv.Rounding += l.Direct - t.cost(rates[p].At(rec.Months[m].Since).Price, l.Billed-l.Spare)
		}
		sum := inv.Total
		t.add(&sum.Cost, l.Cost)
		if t.add(&sum.Equivalent, l.Equivalent); t.err != nil {
			return fmt.Errorf("price pool %s in the month from %s: %w", rec.Pools[p].Name, month.Start, t.err)
		}
		month.ByPool[p] = l
		rest := l.subtract(&part)
		month.ByTier[TierOf(terms)] += rest.Cost
		month.ByTier[Committed] += part.Cost
		inv.ByTier[TierOf(terms)].add(&rest)
		inv.ByTier[Committed].add(&part)
		for _, sum := range []*Line{&month.Line, &inv.Total, &inv.ByTerms[terms], &inv.ByPool[p]} {
			sum.add(&l)
		}
	}
	inv.ByMonth = append(inv.ByMonth, month)
	return nil
}

// settledAt returns the settlement of pool p in month m; nil where the pool is priced at its
// rate.
func (inv *Invoice) settledAt(m, p int) *settled {
	if inv.settled == nil {
		return nil
	}
	return inv.settled[m][p]
}

// cell prices one pool in one month. Owned and reserved capacity is paid for from delivery to
// the end of its term, up or down, held or not, and so are bought nodes for as long as they are
// billed. Other on-demand and spot capacity is paid for while
// it is held, plus what a minimum billing time adds, which the holder pays. The cost of the
// unused part is divided among idle, blocked and down in proportion to their time.
func (t *tally) cell(r Rate, pool *simulate.Pool, s *simulate.Span, use []simulate.Use) Line {
	l := Line{Time: *s}
	for _, u := range use {
		l.Billed += u.Billed
		l.Spare += u.Spare
	}
	l.Direct = t.cost(r.Price, l.Billed)
	var unused capcli.USD
	if pool.PaidWhole() {
		unused = t.cost(r.Price, s.Offered) - l.Direct // rounding keeps order: never below 0
	}
	l.Cost = l.Direct
	t.add(&l.Cost, unused)
	parts := capcli.Split(unused, []int64{int64(s.Idle), int64(s.Blocked), int64(s.Down)})
	l.Idle, l.Blocked, l.Down = parts[0], parts[1], parts[2]
	if list := r.list(pool.Terms); list > 0 {
		l.Equivalent = t.cost(list, l.Billed)
	} else {
		l.Unlisted = l.Billed
	}
	return l
}

// Utilisation returns the used share of what was committed, 0 to 1 (AWS Cost Explorer's commitment
// utilisation): capacity that was held, and use that commitments covered. It is false where nothing
// was committed. Commitments to money count with what they covered alone.
func (inv *Invoice) Utilisation() (float64, bool) {
	t := &inv.ByTier[Committed].Time
	return ratio(float64(t.Used), float64(t.Offered+inv.Uncovered()))
}

// Coverage returns the share of all GPU time used that was used on committed capacity, 0 to 1;
// false where none was used.
func (inv *Invoice) Coverage() (float64, bool) {
	return ratio(float64(inv.ByTier[Committed].Time.Used), float64(inv.Total.Time.Used))
}

// WhyNoSavings returns why Total has no effective savings rate; "" where it has one.
func (inv *Invoice) WhyNoSavings() string {
	switch _, known := inv.Total.SavingsRate(); {
	case known:
		return ""
	case len(inv.unlisted) > 0:
		return "no on-demand price is known for " + strings.Join(inv.unlisted, ", ")
	}
	return "no GPU time was billed"
}

// Tenant is what one tenant pays (chargeback).
type Tenant struct {
	Name   string
	Direct capcli.USD       // for what it held
	Share  capcli.USD       // its share of what was paid for and nobody held
	Moved  capcli.USD       // part of Direct: for data that moved for its jobs
	Total  capcli.USD       // Direct + Share
	ByTier [3]capcli.USD    // Total by Tier
	Used   capcli.GPUTime   // GPU time held
	Billed capcli.GPUTime   // Used plus what minimum billing times add
	Lost   capcli.GPUTime   // part of Used: repeated work, checkpoints, restarts
	use    []capcli.GPUTime // by pool
}

// chargeBack divides every cell among the tenants. Each tenant pays for what was billed to it.
// What nobody held is shared in proportion to the GPU time that each tenant used of that pool
// in that month. Where nobody used the pool in the month, the use of the pool over the whole
// run decides, and failing that the use of all pools. Shares are divided by largest remainder,
// so they add up to the cell exactly.
func (inv *Invoice) chargeBack(rec *simulate.Record) {
	inv.ByTenant = make([]Tenant, len(rec.Tenants))
	for t := range inv.ByTenant {
		inv.ByTenant[t] = Tenant{Name: rec.Tenants[t], use: make([]capcli.GPUTime, len(rec.Pools))}
	}
	for m := range rec.Months {
		for p, uses := range rec.Months[m].Use {
			for t, u := range uses {
				b := &inv.ByTenant[t]
				b.Used += u.Used
				b.Billed += u.Billed
				b.Lost += u.Lost
				b.use[p] += u.Used
			}
		}
	}
	var c split
	for m := range rec.Months {
		for p, uses := range rec.Months[m].Use {
			l, tier := &inv.ByMonth[m].ByPool[p], TierOf(rec.Pools[p].Terms)
			rest := inv.chargeHeld(&c, m, p, uses, tier)
			inv.weighUnused(&c, uses, p)
			var spare capcli.USD // unused part of commitments beside the pool's own terms
			if s := inv.settledAt(m, p); s != nil {
				spare = s.spare
			}
			for _, x := range []struct {
				amount capcli.USD
				tier   Tier
			}{{l.Stranded() - spare, tier}, {spare, Committed}} {
				rest += x.amount - c.lay(x.amount, func(t int, part capcli.USD) {
					inv.book(Part{Month: m, Pool: p, Tenant: t, Tier: x.tier, Unused: true, Cost: part})
				})
			}
			inv.book(Part{Month: m, Pool: p, Tenant: -1, Tier: tier, Unused: true, Cost: rest})
		}
	}
	for _, x := range inv.moved {
		inv.book(x)
	}
	for t := range inv.ByTenant {
		b := &inv.ByTenant[t]
		b.Total, b.use = b.Direct+b.Share, nil
	}
}

// chargeHeld divides the held cost of a cell among its holders. It returns the cost that no
// tenant bears.
func (inv *Invoice) chargeHeld(c *split, m, p int, uses []simulate.Use, tier Tier) capcli.USD {
	l := &inv.ByMonth[m].ByPool[p]
	if s := inv.settledAt(m, p); s != nil {
		for t := range s.direct {
			inv.book(Part{Month: m, Pool: p, Tenant: t, Tier: tier, Cost: s.direct[t] - s.covered[t]})
			inv.book(Part{Month: m, Pool: p, Tenant: t, Tier: Committed, Cost: s.covered[t]})
		}
		return 0
	}
	c.clear()
	for t, u := range uses {
		c.weigh(t, u.Billed)
	}
	return l.Direct - c.lay(l.Direct, func(t int, part capcli.USD) {
		inv.book(Part{Month: m, Pool: p, Tenant: t, Tier: tier, Cost: part})
	})
}

// Part is what one tenant pays of one pool's cost in one month.
type Part struct {
	Month, Pool int // indices into the record's months and pools
	Tenant      int // index into the record's tenants; -1 where no tenant can bear it
	Tier        Tier
	Unused      bool // a share of what was paid for and nobody held
	Moved       bool // for data that moved to or from the pool, or stayed there
	Cost        capcli.USD
}

// book adds a part to its tenant and passes it to told, where that is set.
func (inv *Invoice) book(x Part) {
	switch {
	case x.Cost == 0:
		return
	case x.Tenant < 0:
		inv.Unallocated += x.Cost
	default:
		b := &inv.ByTenant[x.Tenant]
		if x.Moved {
			b.Moved += x.Cost
		}
		if b.ByTier[x.Tier] += x.Cost; x.Unused {
			b.Share += x.Cost
		} else {
			b.Direct += x.Cost
		}
	}
	if inv.told != nil {
		inv.told(x)
	}
}

// Parts passes every part of the invoice to to, month by month and pool by pool. The parts add
// up to Total. rec is the record that was priced.
func (inv *Invoice) Parts(rec *simulate.Record, to func(Part)) {
	again := *inv
	again.Unallocated, again.told = 0, to
	again.chargeBack(rec)
}

// weighUnused sets the weights by which the unused part of a cell of pool p is shared.
func (inv *Invoice) weighUnused(c *split, uses []simulate.Use, p int) {
	c.clear()
	for t, u := range uses {
		c.weigh(t, u.Used)
	}
	if len(c.who) == 0 {
		for t := range inv.ByTenant {
			c.weigh(t, inv.ByTenant[t].use[p])
		}
	}
	if len(c.who) == 0 {
		for t := range inv.ByTenant {
			c.weigh(t, inv.ByTenant[t].Used)
		}
	}
}

// split divides amounts among the tenants that have a weight.
type split struct {
	who     []int
	weights []int64
}

// clear removes all tenants.
func (c *split) clear() { c.who, c.weights = c.who[:0], c.weights[:0] }

// weigh adds tenant t with a weight above 0; others are ignored.
func (c *split) weigh(t int, w capcli.GPUTime) {
	if w > 0 {
		c.who = append(c.who, t)
		c.weights = append(c.weights, int64(w))
	}
}

// lay divides an amount among the tenants. It returns the amount, or 0 where no tenant has a
// weight.
func (c *split) lay(amount capcli.USD, to func(t int, part capcli.USD)) capcli.USD {
	if len(c.who) == 0 {
		return 0
	}
	for i, part := range capcli.Split(amount, c.weights) {
		to(c.who[i], part)
	}
	return amount
}
