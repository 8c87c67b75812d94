package billing

import (
	"capcli"
)

// Bill prices the use under a portfolio, row by row. Each price is multiplied
// once with all its time in the window, and rows are cut from that by largest
// remainder; what a commitment costs in an hour is cut the same way among what
// it covered in that hour and what it did not. So all rows sum to the total, to
// the millionth of a dollar. It fails with a *PortfolioError, and with
// capcli.ErrOverflow.
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
	totals []capcli.USD // by commitment: its whole term
	next   []int        // by bucket: the first cell that is yet to come
	period int32
	until  capcli.Time // the present period ends then
	starts []capcli.Time
	shares []CommitmentBill
	used   []float64
	bought []float64
	drawn  []capcli.USD          // by commitment: what was billed so far of a promise to spend, without what fell due
	spent  map[rowKey]capcli.USD // and what of it in a period, by the key of its purchase
	cut    cutter
}

// rowKey is what makes a row: all charges that agree in it are one row.
type rowKey struct {
	period   int32
	category Category
	pricing  Pricing
	commit   int32 // -1 for none
	status   Status
	bucket   int32 // -1 for none
	who      int32 // -1 for nobody
}

// draft is a row in the making.
type draft struct {
	rowKey
	quantity  capcli.GPUTime
	weight    wide // of the commitment's cost in the period, in its own unit
	billed    capcli.USD
	effective capcli.USD
}

func (w *writer) row(k rowKey) *draft {
	i, ok := w.index[k]
	if !ok {
		i = len(w.rows)
		w.index[k] = i
		w.rows = append(w.rows, draft{rowKey: k})
	}
	return &w.rows[i]
}

// open prepares the tables.
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

// turn begins the period that holds instant at.
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

// hour writes clock hour i.
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
		if x.due[k] > 0 { // what of a promise was not spent
			w.row(rowKey{w.period, Purchase, committedRate, int32(k), NoStatus, -1, -1}).billed += x.due[k]
			w.row(rowKey{w.period, Usage, committedRate, int32(k), Unused, -1, -1}).effective += x.due[k]
			w.shares[k].Billed += x.due[k]
			w.shares[k].Unused += x.due[k]
		}
	}
	for b := range h.buckets {
		w.cut.rest(b, func(who int32, t capcli.GPUTime) {
			key := rowKey{w.period, Usage, standard, -1, NoStatus, int32(b), who}
			if h.buckets[b].kind == UseSpot {
				key.pricing = dynamic
			}
			w.row(key).quantity += t
		})
	}
	if i == h.n-1 {
		return w.purchases()
	}
	return nil
}

// covered writes what a pair settled in the hour.
func (w *writer) covered(p int) {
	t := w.x.took[p]
	if t == 0 {
		return
	}
	k, lost := &w.x.pairs[p], w.x.lost[p]
	w.cut.take(k.bucket, t, func(who int32, t capcli.GPUTime) {
		r := w.row(rowKey{w.period, Usage, committedRate, int32(k.commit), Used, int32(k.bucket), who})
		r.quantity += t
		r.weight.add(k.weight, int64(t))
		r.weight.add(1, lost)
		lost = 0
	})
}

// spare writes what a commitment did not cover in the hour.
func (w *writer) spare(k int) {
	x := &w.x
	used := x.have[k] - x.rest[k]
	w.used[k] += float64(used)
	w.bought[k] += float64(x.bought[k])
	if unused := x.bought[k] - used; unused > 0 {
		r := w.row(rowKey{w.period, Usage, committedRate, int32(k), Unused, -1, -1})
		r.weight.add(1, unused)
		r.quantity += x.unitsOf(k, unused)
	}
}

// unitsOf is unit time of a commitment's own scope, 0 where it counts money.
func (x *pricing) unitsOf(k int, own int64) capcli.GPUTime {
	c := x.commits[k]
	units := c.Product.units()
	if units == 0 {
		return 0
	}
	return capcli.GPUTime(own / (c.Product.power(c) / units))
}

// purchases writes what is paid in the present period.
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

// spends writes what was spent in the present period of a promise to spend.
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
