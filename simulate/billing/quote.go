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
	due    []capcli.USD // by commitment: what fell due of a promise to spend
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
	due, err := q.settle()
	if err != nil {
		return Quote{}, err
	}
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
	if out.Billed, err = add(out.Billed, due); err != nil {
		return Quote{}, err
	}
	if out.Effective, err = add(out.Effective, due); err != nil {
		return Quote{}, err
	}
	return out, q.fees(&out, covered, eligible)
}

// settle settles all hours and sums what was covered, and what promises to spend
// came to.
func (q *Quoter) settle() (due capcli.USD, err error) {
	x := &q.x
	clear(q.cover)
	q.used, q.bought = sized(q.used, len(x.commits)), sized(q.bought, len(x.commits))
	clear(q.used)
	clear(q.bought)
	q.due = sized(q.due, len(x.commits))
	clear(q.due)
	if len(x.commits) == 0 {
		return 0, nil
	}
	for i := range q.h.n {
		if err := x.settle(i); err != nil {
			return 0, err
		}
		for k := range x.draws {
			if due, err = add(due, x.due[k]); err != nil {
				return 0, err
			}
			q.due[k] += x.due[k]
		}
		for k := range x.pairs {
			q.cover[x.pairs[k].bucket] += x.took[k]
		}
		for k := range x.commits {
			q.used[k] += float64(x.have[k] - x.rest[k])
			q.bought[k] += float64(x.bought[k])
		}
	}
	for _, d := range x.draws {
		if d == nil {
			continue
		}
		spent, err := d.micros()
		if err == nil {
			due, err = add(due, spent)
		}
		if err != nil {
			return 0, err
		}
	}
	return due, nil
}

// fees adds what the commitments cost.
func (q *Quoter) fees(out *Quote, covered, eligible float64) error {
	var used, bought float64
	for k, c := range q.x.commits {
		if q.x.draws != nil && q.x.draws[k] != nil { // was summed when it was settled
			spent, err := q.x.draws[k].micros()
			if err != nil {
				return err
			}
			bought += float64(spent + q.due[k])
			used += float64(spent)
			continue
		}
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
		loss := c.lossIn(q.h.from, q.h.to)
		bought += float64(loss)
		if q.bought[k] > 0 {
			bought += float64(part - loss)
			used += float64(part-loss) * (q.used[k] / q.bought[k])
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
