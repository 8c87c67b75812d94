package billing

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/scenarios/money/focus"
)

// Bill prices the use under a portfolio, row by row. Each price is multiplied once with all its
// time in the window, and the cost is divided among the rows by largest remainder. The cost of
// a commitment in a period is divided in the same way among the rows that it covered and its
// unused part. So the rows add up to the total, to the millionth of a dollar. It fails with a
// *PortfolioError, and with capcli.ErrOverflow.
func (h *Hours) Bill(p *Portfolio, grain Grain) (*Bill, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.reserves() {
		var err error
		if h, err = h.reserve(p); err != nil {
			return nil, err
		}
	}
	w := &writer{h: h, grain: grain, index: map[rowKey]int{}}
	if err := w.x.lay(h, p); err != nil {
		return nil, err
	}
	if err := w.open(); err != nil {
		return nil, err
	}
	for i := range h.n {
		if err := w.hour(i); err != nil {
			return nil, err
		}
	}
	return w.finish(currencyOf(h.currency))
}

// writer writes the rows of a bill hour by hour.
type writer struct {
	h      *Hours
	x      pricing
	grain  Grain
	index  map[rowKey]int
	rows   []draft
	totals []capcli.USD // by commitment: cost of the whole term
	next   []int        // by bucket: index of the first cell of a later hour
	period int32
	until  capcli.Time   // end of the current period
	starts []capcli.Time // by period: its start
	shares []CommitmentBill
	used   []float64             // by commitment: what was used, in its own unit
	bought []float64             // by commitment: what was bought, in its own unit
	drawn  []capcli.USD          // by commitment: spend of a minimum spend billed so far, without shortfalls
	spent  map[rowKey]capcli.USD // spend of a minimum spend in one period, by the key of its purchase row
	cut    cutter
}

// rowKey identifies a row: all charges with the same key are one row.
type rowKey struct {
	period   int32
	category Category
	pricing  Pricing
	commit   int32 // -1 for none
	status   Status
	bucket   int32 // -1 for none
	who      int32 // -1 for nobody
}

// draft is an unfinished row.
type draft struct {
	rowKey
	quantity  portion
	units     capcli.GPUTime // quantity in whole thousandths: see roundQuantities
	weight    wide           // weight in dividing the commitment's cost of the period, in its own unit
	billed    capcli.USD
	effective capcli.USD
}

// row returns the draft with a key, and adds it where it is new.
func (w *writer) row(k rowKey) *draft {
	i, ok := w.index[k]
	if !ok {
		i = len(w.rows)
		w.index[k] = i
		w.rows = append(w.rows, draft{rowKey: k})
	}
	return &w.rows[i]
}

// open prepares the tables and begins the first period.
func (w *writer) open() error {
	w.next = make([]int, len(w.h.buckets))
	w.drawn, w.spent = make([]capcli.USD, len(w.x.commits)), map[rowKey]capcli.USD{}
	w.used, w.bought = make([]float64, len(w.x.commits)), make([]float64, len(w.x.commits))
	for _, c := range w.x.commits {
		total, err := c.Total()
		if err != nil {
			return err
		}
		w.totals = append(w.totals, total)
		k := CommitmentBill{ID: c.ID, Product: c.Product.Name(), Start: c.Start, End: c.End, Total: total}
		if k.Unexpired, k.Unpaid, err = c.Unexpired(w.h.to); err != nil {
			return err
		}
		w.shares = append(w.shares, k)
	}
	w.turn(w.h.from)
	return nil
}

// turn begins the period that contains the instant at.
func (w *writer) turn(at capcli.Time) {
	s := at.Std()
	var end capcli.Time
	switch w.grain {
	case ByHour:
		end = hourOf(at) + hour
	case ByDay:
		end = hourOf(at) + 24*hour - capcli.Time(s.Hour())*hour
	case ByMonth:
		end = addMonths(hourOf(at)-capcli.Time(s.Hour())*hour-capcli.Time(s.Day()-1)*24*hour, 1)
	case InAll:
		end = w.h.to
	}
	w.until = min(end, w.h.to)
	w.period = int32(len(w.starts))
	w.starts = append(w.starts, at)
}

// hour writes the charges of clock hour i.
func (w *writer) hour(i int) error {
	h, x := w.h, &w.x
	start := max(h.first+capcli.Time(i)*hour, h.from)
	if start >= w.until {
		if err := w.purchases(); err != nil {
			return err
		}
		w.turn(start)
	}
	if err := x.settle(i); err != nil {
		return err
	}
	w.cut.begin(h, w.next, i)
	for p := range x.pairs {
		w.covered(p)
	}
	for k := range x.commits {
		w.spare(k)
	}
	for k := range x.draws {
		if x.due[k] > 0 { // shortfall of a minimum spend
			w.row(rowKey{w.period, Purchase, committedRate, int32(k), NoStatus, -1, -1}).billed += x.due[k]
			w.row(rowKey{w.period, Usage, committedRate, int32(k), Unused, -1, -1}).effective += x.due[k]
			w.shares[k].Billed += x.due[k]
			w.shares[k].Unused += x.due[k]
		}
	}
	for b := range h.buckets {
		w.cut.rest(b, func(who int32, t portion) {
			key := rowKey{w.period, Usage, standard, -1, NoStatus, int32(b), who}
			if h.buckets[b].kind == UseSpot {
				key.pricing = dynamic
			}
			r := w.row(key)
			r.quantity = r.quantity.plus(t)
		})
	}
	if i == h.n-1 {
		return w.purchases()
	}
	return nil
}

// covered writes the use of one pair that a commitment covered in the hour.
func (w *writer) covered(p int) {
	t := w.x.took[p]
	if t.isZero() {
		return
	}
	k, lost := &w.x.pairs[p], w.x.lost[p]
	w.cut.take(k.bucket, t, func(who int32, t portion) {
		r := w.row(rowKey{w.period, Usage, committedRate, int32(k.commit), Used, int32(k.bucket), who})
		r.quantity = r.quantity.plus(t)
		r.weight.addPortion(k.weight, t)
		r.weight.addPart(lost)
		lost = 0
	})
}

// spare writes the part of a commitment that covered nothing in the hour.
func (w *writer) spare(k int) {
	x := &w.x
	unused := x.rest[k].plus(portion{whole: x.bought[k] - x.have[k]})
	w.used[k] += float64(x.bought[k]) - unused.float()
	w.bought[k] += float64(x.bought[k])
	if !unused.isZero() {
		r := w.row(rowKey{w.period, Usage, committedRate, int32(k), Unused, -1, -1})
		r.weight.addPortion(1, unused)
		r.quantity = r.quantity.plus(x.unitsOf(k, unused))
	}
}

// unitsOf converts an amount of a commitment's own unit into unit time of its scope. It returns
// 0 where the commitment is to money.
func (x *pricing) unitsOf(k int, own portion) portion {
	factor := x.unitFactor(k)
	if factor == 0 {
		return portion{}
	}
	q, _ := own.divided(factor)
	return q
}

// unitFactor returns the amount of a commitment's own unit in a unit of its scope; 0 where it
// commits to money.
func (x *pricing) unitFactor(k int) int64 {
	units := x.commits[k].Product.units()
	if units == 0 {
		return 0
	}
	return x.powers[k] / units
}

// purchases writes what falls into the current period as a whole: payments, the loss of leaving
// a commitment early, the spend of a minimum spend, and the charge for cancelling a reservation
// early.
func (w *writer) purchases() error {
	start := w.starts[w.period]
	for k, c := range w.x.commits {
		billed, err := c.AmountPaid(start, w.until)
		if err != nil {
			return err
		}
		if billed != 0 {
			w.row(rowKey{w.period, Purchase, committedRate, int32(k), NoStatus, -1, -1}).billed += billed
			w.shares[k].Billed += billed
		}
		if loss := c.lossIn(start, w.until); loss > 0 {
			w.row(rowKey{w.period, Usage, committedRate, int32(k), Unused, -1, -1}).effective += loss
			w.shares[k].Unused += loss
		}
		if err := w.spends(k); err != nil {
			return err
		}
		if extra := c.windDown(start, w.until); extra > 0 {
			r := w.row(rowKey{w.period, Usage, standard, int32(k), NoStatus, -1, -1})
			r.billed += extra
			r.effective += extra
		}
	}
	return nil
}

// spends writes the spend of commitment k in the current period, where it is a minimum spend.
func (w *writer) spends(k int) error {
	if w.x.draws == nil || w.x.draws[k] == nil {
		return nil
	}
	spent, err := w.x.draws[k].micros()
	if err != nil {
		return err
	}
	if part := spent - w.drawn[k]; part > 0 {
		key := rowKey{w.period, Purchase, committedRate, int32(k), NoStatus, -1, -1}
		w.row(key).billed += part
		w.spent[key] = part
		w.shares[k].Billed += part
	}
	w.drawn[k] = spent
	return nil
}

// finish sorts the rows, prices what no commitment covers, and sums.
func (w *writer) finish(currency string) (*Bill, error) {
	w.roundQuantities()
	slices.SortFunc(w.rows, func(a, b draft) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(b.category, a.category), cmp.Compare(a.commit, b.commit),
			cmp.Compare(a.pricing, b.pricing), cmp.Compare(a.status, b.status), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.who, b.who))
	})
	out := &Bill{From: w.h.from, To: w.h.to, Currency: currency, Commitments: w.shares}
	w.amortise()
	lists, deals, err := w.prices()
	if err != nil {
		return nil, err
	}
	for i := range w.rows {
		r := w.finished(&w.rows[i])
		r.ListCost, r.ContractedCost = lists[i], deals[i]
		if err := out.Total.add(&r); err != nil {
			return nil, err
		}
		out.count(&r, &w.rows[i], w.h)
		out.Rows = append(out.Rows, r)
	}
	for k := range w.shares {
		s := &w.shares[k]
		if s.Share = orNil(ratio(w.used[k], w.bought[k])); w.x.draws != nil && w.x.draws[k] != nil {
			s.Share = orNil(ratio(s.Used.Float(), (s.Used + s.Unused).Float()))
		}
	}
	return out, nil
}

// amortise divides the cost of each commitment in each period among the rows that it covered
// and its unused part. The rows must be in order.
func (w *writer) amortise() {
	for i := 0; i < len(w.rows); {
		d := &w.rows[i]
		j := i + 1
		for j < len(w.rows) && w.rows[j].period == d.period && w.rows[j].commit == d.commit && w.rows[j].category == d.category && w.rows[j].pricing == d.pricing {
			j++
		}
		if d.category == Usage && d.pricing == committedRate {
			w.amortiseRows(w.rows[i:j])
		}
		i = j
	}
}

// amortiseRows divides the cost of one commitment in one period among its rows.
func (w *writer) amortiseRows(rows []draft) {
	k, period := rows[0].commit, rows[0].period
	c := w.x.commits[k]
	weights := capcli.Map(rows, func(x draft) wide { return x.weight })
	amount := c.straight(w.totals[k], w.endOf(period)) - c.straight(w.totals[k], w.starts[period])
	if w.x.draws != nil && w.x.draws[k] != nil {
		amount = w.spent[rowKey{period, Purchase, committedRate, k, NoStatus, -1, -1}]
	}
	for i, part := range splitWide(amount, weights) {
		rows[i].effective += part
		if rows[i].status == Used {
			w.shares[k].Used += part
		} else {
			w.shares[k].Unused += part
		}
	}
}

func (w *writer) endOf(period int32) capcli.Time {
	if int(period)+1 < len(w.starts) {
		return w.starts[period+1]
	}
	return w.h.to
}

// prices sets the cost of rows without a commitment. It returns the list cost and the
// contracted cost of each row. Each price is multiplied once with all its time.
func (w *writer) prices() (lists, deals []capcli.USD, err error) {
	lists, deals = make([]capcli.USD, len(w.rows)), make([]capcli.USD, len(w.rows))
	rows := make([][]int, len(w.h.buckets))
	for i := range w.rows {
		if b := w.rows[i].bucket; b >= 0 {
			rows[b] = append(rows[b], i)
		}
	}
	for b := range w.h.buckets {
		k := &w.h.buckets[b]
		all, open := func(*draft) bool { return true }, func(d *draft) bool { return d.commit < 0 }
		if err := w.spread(rows[b], k.list, all, func(i int, c capcli.USD) { lists[i] = c }); err != nil {
			return nil, nil, err
		}
		if err := w.spread(rows[b], k.deal, all, func(i int, c capcli.USD) { deals[i] = c }); err != nil {
			return nil, nil, err
		}
		err := w.spread(rows[b], k.paid, open, func(i int, c capcli.USD) {
			w.rows[i].billed += c
			w.rows[i].effective += c
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return lists, deals, nil
}

// spread multiplies a price with the time of the rows that in selects, before it is rounded, and
// divides the cost among them.
func (w *writer) spread(rows []int, price capcli.Rate, in func(*draft) bool, to func(i int, c capcli.USD)) error {
	var which []int
	var weights []wide
	var sum portion
	for _, i := range rows {
		if d := &w.rows[i]; in(d) {
			var weight wide
			weight.addPortion(1, d.quantity)
			which, weights, sum = append(which, i), append(weights, weight), sum.plus(d.quantity)
		}
	}
	all, err := costOf(price, sum)
	if err != nil {
		return err
	}
	for n, c := range splitWide(all, weights) {
		to(which[n], c)
	}
	return nil
}

func (w *writer) finished(d *draft) Row {
	r := Row{
		Start: w.starts[d.period], End: w.endOf(d.period), Category: d.category, Pricing: d.pricing, Status: d.status,
		Quantity: d.units, BilledCost: d.billed, EffectiveCost: d.effective,
	}
	if d.commit >= 0 {
		c := w.x.commits[d.commit]
		w.contract(&r, c)
		r.Discount = d.weight.divide(c.ownUnit())
		switch _, drawn := c.Product.(promise); {
		case drawn && r.Status == Unused:
			r.Discount = focus.AmountOf(d.effective)
		case r.Status == Unused && r.Discount.Sign() == 0: // only the capacity given up by leaving early
			r.Discount = c.ahead()
		}
	}
	if d.bucket >= 0 {
		b := &w.h.buckets[d.bucket]
		r.Kind, r.SKU, r.Account, r.Capacity, r.ListUnit, r.Contracted = b.kind, b.sku, b.account, b.capacity, b.list, b.deal
		switch {
		case b.free:
			r.Free = true
		case b.idle:
			r.Reservation, r.ReservationStatus = b.capacity, Unused
		case b.inside:
			r.Reservation, r.ReservationStatus = b.capacity, Used
		}
	}
	if d.who >= 0 {
		r.Tenant, r.Job = w.h.who[d.who].tenant, w.h.who[d.who].job
	}
	return r
}

// contract sets the fields of a row that come from its commitment.
func (w *writer) contract(r *Row, c *Commitment) {
	r.of, r.Commitment, r.Product = c, c.ID, c.Product.Name()
	r.SKU, r.Account = *c.Scope.sku(), c.Owner
	if p, is := c.Product.(marker); is {
		p.mark(c, r)
	}
}

// add adds the costs of a row. It fails with capcli.ErrOverflow.
func (c *Costs) add(r *Row) error {
	var t tally
	t.add(&c.List, r.ListCost)
	t.add(&c.Contracted, r.ContractedCost)
	t.add(&c.Effective, r.EffectiveCost)
	if c.Billed += r.BilledCost; c.Billed > 1<<62 {
		return capcli.ErrOverflow
	}
	return t.err
}

// count adds a row to the sums that the ratios need.
func (b *Bill) count(r *Row, d *draft, h *Hours) {
	if d.bucket < 0 || h.buckets[d.bucket].idle {
		return
	}
	b.Equivalent += r.ListCost
	if r.Kind != UseOnDemand {
		return
	}
	list := float64(r.ListUnit) * d.quantity.float()
	b.eligible += list
	if r.Status == Used {
		b.covered += list
	}
}

// Coverage returns the share of the eligible use that commitments covered, by list cost; false
// where no use is eligible.
func (b *Bill) Coverage() (float64, bool) { return ratio(b.covered, b.eligible) }

// Utilisation returns the used share of what the commitments cost in the window; false where
// they cost nothing.
func (b *Bill) Utilisation() (float64, bool) {
	var used, all capcli.USD
	for i := range b.Commitments {
		used += b.Commitments[i].Used
		all += b.Commitments[i].Used + b.Commitments[i].Unused
	}
	return ratio(used.Float(), all.Float())
}

// SavingsRate returns the effective savings rate, 1 - effective cost / on-demand equivalent of
// the use (FinOps Foundation); false where the use has no list cost.
func (b *Bill) SavingsRate() (float64, bool) { return savingsRate(b.Total.Effective, b.Equivalent) }
