package billing

import (
	"capcli"
)

// Quote is what use costs under a portfolio, in total: the same as the total of
// its Bill, without the rows.
type Quote struct {
	Costs
	Equivalent  capcli.USD // the use alone at public on-demand prices, without unused reservations
	Covered     float64    // share of eligible use, by list cost, that commitments covered; -1 where none is eligible
	Utilisation float64    // share of what the commitments cost in the window that was used; -1 where they cost nothing
}

// Quoter prices portfolios over hours, one after another, and reuses its
// memory. It is for one goroutine.
type Quoter struct {
	h      *Hours
	x      pricing
	base   Costs // what no portfolio changes
	same   capcli.USD
	cover  []capcli.GPUTime
	used   []float64 // by commitment, in its own unit
	bought []float64
}

// Quoter gives a new quoter. It fails with capcli.ErrOverflow where the use
// alone costs more than can be counted.
func (h *Hours) Quoter() (*Quoter, error) {
	q := &Quoter{h: h}
	for b := range h.buckets {
		k := &h.buckets[b]
		list, err := cost(k.list, h.total[b])
		if err == nil {
			q.base.List, err = add(q.base.List, list)
		}
		if err != nil {
			return nil, err
		}
		deal, err := cost(k.deal, h.total[b])
		if err == nil {
			q.base.Contracted, err = add(q.base.Contracted, deal)
		}
		if err != nil {
			return nil, err
		}
		if !k.idle {
			q.same += list
		}
		if b < h.open {
			continue
		}
		paid, err := cost(k.paid, h.total[b])
		if err == nil {
			q.base.Billed, err = add(q.base.Billed, paid)
		}
		if err != nil {
			return nil, err
		}
	}
	q.base.Effective = q.base.Billed
	q.cover = make([]capcli.GPUTime, h.open)
	return q, nil
}

// Quote prices a portfolio. It fails with a *PortfolioError, and with
// capcli.ErrOverflow.
func (q *Quoter) Quote(p *Portfolio) (Quote, error) {
	if err := p.Check(); err != nil {
		return Quote{}, err
	}
	if p.reserves() {
		h, err := q.h.reserve(p)
		if err != nil {
			return Quote{}, err
		}
		other, err := h.Quoter()
		if err != nil {
			return Quote{}, err
		}
		return other.price(p)
	}
	return q.price(p)
}

// price prices a portfolio whose capacity reservations the hours know.
func (q *Quoter) price(p *Portfolio) (Quote, error) {
	if err := q.x.lay(q.h, p); err != nil {
		return Quote{}, err
	}
	q.settle()
	out := Quote{Costs: q.base, Equivalent: q.same}
	var covered, eligible float64
	for b := range q.h.buckets[:q.h.open] {
		k := &q.h.buckets[b]
		paid, err := cost(k.paid, q.h.total[b]-q.cover[b])
		if err == nil {
			out.Billed, err = add(out.Billed, paid)
		}
		if err == nil {
			out.Effective, err = add(out.Effective, paid)
		}
		if err != nil {
			return Quote{}, err
		}
		if k.kind == UseOnDemand && !k.idle {
			covered += float64(k.list) * float64(q.cover[b])
			eligible += float64(k.list) * float64(q.h.total[b])
		}
	}
	return out, q.fees(&out, covered, eligible)
}

// settle settles all hours and sums what was covered.
func (q *Quoter) settle() {
	x := &q.x
	clear(q.cover)
	q.used, q.bought = sized(q.used, len(x.commits)), sized(q.bought, len(x.commits))
	clear(q.used)
	clear(q.bought)
	if len(x.commits) == 0 {
		return
	}
	for i := range q.h.n {
		x.settle(i)
		for k := range x.pairs {
			q.cover[x.pairs[k].bucket] += x.took[k]
		}
		for k := range x.commits {
			q.used[k] += float64(x.have[k] - x.rest[k])
			q.bought[k] += float64(x.bought[k])
		}
	}
}

// fees adds what the commitments cost.
func (q *Quoter) fees(out *Quote, covered, eligible float64) error {
	var used, bought float64
	for k, c := range q.x.commits {
		total, err := c.Total()
		if err != nil {
			return err
		}
		part := c.amortised(total, q.h.to) - c.amortised(total, q.h.from)
		billed, err := c.billed(q.h.from, q.h.to)
		if err != nil {
			return err
		}
		extra := c.windDown(q.h.from, q.h.to)
		if out.Effective, err = add(out.Effective, part+extra); err != nil {
			return err
		}
		out.Billed += billed + extra
		if out.Billed > 1<<62 {
			return capcli.ErrOverflow
		}
		if q.bought[k] > 0 {
			bought += float64(part)
			used += float64(part) * (q.used[k] / q.bought[k])
		}
	}
	out.Covered, out.Utilisation = -1, -1
	if eligible > 0 {
		out.Covered = covered / eligible
	}
	if bought > 0 {
		out.Utilisation = used / bought
	}
	return nil
}
