package billing

import (
	"capcli"
	"capcli/simulate"
)

// Tenant is what one tenant has to pay (chargeback).
type Tenant struct {
	Name   string
	Direct capcli.USD       // for what it held
	Share  capcli.USD       // of what was paid for and nobody held
	Total  capcli.USD       // Direct + Share
	ByTier [3]capcli.USD    // Total by Tier
	Used   capcli.GPUTime   // GPU time held
	Billed capcli.GPUTime   // and with minimum billing times
	Lost   capcli.GPUTime   // of Used: work done again, checkpoints, restarts
	use    []capcli.GPUTime // by pool
}

// chargeBack lays every cell on the tenants. Each pays for what was billed to
// it; what nobody held is shared in proportion to the GPU time that each used
// of that pool in that month. Of a pool that nobody used in the month, the use
// of the pool over the whole run decides, and after that the use of all pools.
// Shares are cut by largest remainder, so they sum to the cell exactly.
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
			var spare capcli.USD // of commitments beside the pool's own terms
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
	for t := range inv.ByTenant {
		b := &inv.ByTenant[t]
		b.Total, b.use = b.Direct+b.Share, nil
	}
}

// chargeHeld lays what was held in a cell on those who held it, and gives what
// found no bearer.
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

// Part is what one tenant has to pay of one pool's cost in one month.
type Part struct {
	Month, Pool int
	Tenant      int // -1: nobody can bear it
	Tier        Tier
	Unused      bool // a share of what was paid for and nobody held
	Cost        capcli.USD
}

// book adds a part to its tenant, and tells it to whom Parts has promised it.
func (inv *Invoice) book(x Part) {
	switch {
	case x.Cost == 0:
		return
	case x.Tenant < 0:
		inv.Unallocated += x.Cost
	default:
		b := &inv.ByTenant[x.Tenant]
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

// Parts gives every part of the invoice, month by month and pool by pool: they
// sum to Total. rec is the record that was priced.
func (inv *Invoice) Parts(rec *simulate.Record, to func(Part)) {
	again := *inv
	again.Unallocated, again.told = 0, to
	again.chargeBack(rec)
}

// weighUnused sets by what the unused part of a cell of pool p is shared.
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

// split is a sharing among the tenants that have a weight in it.
type split struct {
	who     []int
	weights []int64
}

func (c *split) clear() { c.who, c.weights = c.who[:0], c.weights[:0] }

func (c *split) weigh(t int, w capcli.GPUTime) {
	if w > 0 {
		c.who = append(c.who, t)
		c.weights = append(c.weights, int64(w))
	}
}

// lay shares an amount and gives what found a bearer: all or, where nobody has
// a weight, nothing.
func (c *split) lay(amount capcli.USD, to func(t int, part capcli.USD)) capcli.USD {
	if len(c.who) == 0 {
		return 0
	}
	for i, part := range capcli.Split(amount, c.weights) {
		to(c.who[i], part)
	}
	return amount
}
