package billing

import (
	"capcli"
)

// Quote is the total cost of use under a portfolio: the total of its Bill, without the rows.
type Quote struct {
	Costs
	Equivalent  capcli.USD // the use at public on-demand prices, without unused reservations
	Covered     float64    // covered share of eligible use, by list cost, 0 to 1; -1 where no use is eligible
	Utilisation float64    // used share of the commitments' cost in the window, 0 to 1; -1 where they cost nothing
}

// Quoter prices portfolios over hours, one after another, and reuses its memory. It must not be
// used by two goroutines at once.
type Quoter struct {
	h      *Hours
	x      pricing
	base   Costs        // costs that no portfolio changes
	same   capcli.USD   // on-demand equivalent, which no portfolio changes
	cover  []portion    // by open bucket: time that commitments covered
	used   []float64    // by commitment, in its own unit
	bought []float64    // by commitment, in its own unit
	due    []capcli.USD // by commitment: shortfalls of a minimum spend
}

// Quoter returns a new quoter. It fails with capcli.ErrOverflow where the cost of the use alone
// does not fit.
func (h *Hours) Quoter() (*Quoter, error) {
	q := &Quoter{h: h, cover: make([]portion, h.open)}
	var t tally
	for b := range h.buckets {
		k, time := &h.buckets[b], h.total[b]
		list := t.cost(k.list, time)
		t.add(&q.base.List, list)
		t.add(&q.base.Contracted, t.cost(k.deal, time))
		if !k.idle {
			q.same += list
		}
		if b >= h.open {
			t.add(&q.base.Billed, t.cost(k.paid, time))
		}
	}
	q.base.Effective = q.base.Billed
	return q, t.err
}

// Quote prices a portfolio. It fails with a *PortfolioError, and with capcli.ErrOverflow.
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

// price prices a portfolio whose capacity reservations have been applied to the hours.
func (q *Quoter) price(p *Portfolio) (Quote, error) {
	if err := q.x.lay(q.h, p); err != nil {
		return Quote{}, err
	}
	t := tally{}
	due := q.settle(&t)
	out := Quote{Costs: q.base, Equivalent: q.same}
	var covered, eligible float64
	for b := range q.h.buckets[:q.h.open] {
		k := &q.h.buckets[b]
		paid := t.take(costOf(k.paid, portion{whole: int64(q.h.total[b])}.minus(q.cover[b])))
		t.add(&out.Billed, paid)
		t.add(&out.Effective, paid)
		if k.kind == UseOnDemand && !k.idle {
			covered += float64(k.list) * q.cover[b].float()
			eligible += float64(k.list) * float64(q.h.total[b])
		}
	}
	t.add(&out.Billed, due)
	t.add(&out.Effective, due)
	if t.err != nil {
		return Quote{}, t.err
	}
	return out, q.fees(&out, covered, eligible)
}

// settle settles all hours and sums what was covered. It returns the cost of the promises to
// spend.
func (q *Quoter) settle(t *tally) (due capcli.USD) {
	x := &q.x
	n := len(x.commits)
	q.used, q.bought, q.due = sized(q.used, n), sized(q.bought, n), sized(q.due, n)
	clear(q.cover)
	clear(q.used)
	clear(q.bought)
	clear(q.due)
	if n == 0 {
		return 0
	}
	for i := range q.h.n {
		if t.err = x.settle(i); t.err != nil {
			return 0
		}
		for k := range x.draws {
			t.add(&due, x.due[k])
			q.due[k] += x.due[k]
		}
		for k := range x.pairs {
			cover := &q.cover[x.pairs[k].bucket]
			*cover = cover.plus(x.took[k])
		}
		for k := range x.commits {
			q.used[k] += float64(x.have[k]) - x.rest[k].float()
			q.bought[k] += float64(x.bought[k])
		}
	}
	for _, d := range x.draws {
		if d != nil {
			t.add(&due, t.take(d.micros()))
		}
	}
	return due
}

// fees adds the cost of the commitments and sets the ratios. covered and eligible are list
// costs.
func (q *Quoter) fees(out *Quote, covered, eligible float64) error {
	var used, bought float64
	var t tally
	for k, c := range q.x.commits {
		if q.x.draws != nil && q.x.draws[k] != nil { // settle has added its cost
			spent := t.take(q.x.draws[k].micros())
			bought += float64(spent + q.due[k])
			used += float64(spent)
			continue
		}
		part := t.take(c.UsedUp(q.h.from, q.h.to))
		extra := c.windDown(q.h.from, q.h.to)
		t.add(&out.Effective, part+extra)
		out.Billed += t.take(c.AmountPaid(q.h.from, q.h.to)) + extra
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
	return t.err
}
