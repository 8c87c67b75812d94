package billing

import (
	"cmp"

	"capcli"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
)

// FocusRows passes the invoice of a run in FOCUS 1.2 to to, by month, pool, tenant and the tags of
// the jobs, which are in Tags. A
// committed pool has a purchase each month; what tenants held of it is Used and the rest is
// Unused. On-demand use is Standard and spot use Dynamic. Use that was settled with commitments
// is billed by the day, as in Bill.FocusRows. rec is the record that was priced, until is the
// end of the run, and contracts are the pools with an upfront payment.
func (inv *Invoice) FocusRows(rec *simulate.Record, until capcli.Time, account string, contracts []PoolContract, to func(*focus.Row)) {
	paid, payers := inv.amountsPaid(rec, until, contracts), newTagSplit(rec)
	cells := inv.runCells(rec, payers)
	for m := range rec.Months {
		w := runMonth{inv: inv, rec: rec, payers: payers, m: m, account: account, start: rec.Months[m].Start, end: until}
		if m+1 < len(rec.Months) {
			w.end = rec.Months[m+1].Start
		}
		w.end = max(w.end, w.start+1)
		for p := range rec.Pools {
			var c runCell
			if cells[m] != nil {
				c = cells[m][p]
			}
			if w.inv.settledAt(m, p) == nil {
				w.billed = paid[p][m]
				w.pool(p, &c, to)
			}
			for i, cost := range c.moved {
				if cost != 0 {
					f := w.transfer(p, i, cost)
					to(&f)
				}
			}
		}
	}
	for i := range contracts {
		if f, begun := contracts[i].upfrontRow(rec, until, account); begun {
			to(&f)
		}
	}
	if inv.bill != nil {
		inv.bill.FocusRows(account, to)
	}
}

// runCells returns what tenants held and what was not used, by month and pool.
func (inv *Invoice) runCells(rec *simulate.Record, payers *tagSplit) [][]runCell {
	cells := make([][]runCell, len(rec.Months))
	inv.Parts(rec, func(x Part) {
		if cells[x.Month] == nil {
			cells[x.Month] = make([]runCell, len(rec.Pools))
		}
		c := &cells[x.Month][x.Pool]
		if x.Unused || x.Tenant < 0 {
			c.unused += x.Cost
			return
		}
		to := &c.direct
		if x.Moved {
			to = &c.moved
		}
		if *to == nil {
			*to = make([]capcli.USD, len(payers.costs))
		}
		payers.divide(&x, func(i int, cost capcli.USD) { (*to)[i] += cost })
	})
	return cells
}

// PoolContract says how a committed pool is paid: Upfront at the start of its term, and Paid
// within the run, which includes Upfront where the term begins in the run.
type PoolContract struct {
	Pool          string
	Term          focus.Period
	Upfront, Paid capcli.USD
}

// amountsPaid returns the recurring payments by pool and month. Each is the cost of the pool in
// the month; under a contract it is the rest of Paid, divided among the months in proportion to
// their cost.
func (inv *Invoice) amountsPaid(rec *simulate.Record, until capcli.Time, contracts []PoolContract) [][]capcli.USD {
	out := make([][]capcli.USD, len(rec.Pools))
	for p := range out {
		weights := make([]int64, len(rec.Months))
		for m := range rec.Months {
			out[p] = append(out[p], inv.ByMonth[m].ByPool[p].Cost)
			weights[m] = int64(out[p][m])
		}
		for i := range contracts {
			c := &contracts[i]
			if c.Pool != rec.Pools[p].Name || c.Upfront == 0 {
				continue
			}
			rest := c.Paid
			if c.begins(rec, until) {
				rest -= c.Upfront
			}
			if len(weights) > 0 {
				out[p] = capcli.Split(rest, weights)
			}
		}
	}
	return out
}

// begins reports whether the contract has an upfront payment and its term begins in the run.
func (c *PoolContract) begins(rec *simulate.Record, until capcli.Time) bool {
	return c.Upfront != 0 && c.Term.From >= rec.Start && c.Term.From < until
}

// upfrontRow returns the row of the upfront payment; false where it does not fall into the run.
func (c *PoolContract) upfrontRow(rec *simulate.Record, until capcli.Time, account string) (focus.Row, bool) {
	for p := range rec.Pools {
		pool := &rec.Pools[p]
		if pool.Name != c.Pool || !c.begins(rec, until) {
			continue
		}
		w := runMonth{account: account, start: c.Term.From, end: c.Term.Until}
		f := w.purchase(pool, c.Upfront, "upfront")
		f.ChargeFrequency = "One-Time"
		f.BillingPeriodEnd = addMonths(f.BillingPeriodStart, 1)
		f.CommitmentDiscountQuantity = focus.NumberOf(hoursAmount(capcli.GPUTime(1000*int64(pool.Capacity())) * capcli.GPUTime(c.Term.Until-c.Term.From)))
		return f, true
	}
	return focus.Row{}, false
}

func (w *runMonth) purchase(pool *simulate.Pool, cost capcli.USD, payment string) focus.Row {
	f := w.row(pool)
	f.ChargeCategory, f.ChargeFrequency, f.PricingCategory = focus.Purchase, "Recurring", focus.Standard
	f.ChargeDescription, f.ResourceID = "Purchase of "+pool.Name, pool.Name
	f.SkuPriceID = f.SkuID + "/" + pool.Terms.String() + "/" + payment
	f.SetCosts(cost, 0)
	f.SetPaid(cost)
	setDiscount(&f, pool, "", focus.Amount{})
	return f
}

// runCell is the cost of a pool in a month.
type runCell struct {
	direct []capcli.USD // by payer, as in tagSplit: cost of what its jobs held
	unused capcli.USD   // cost of what nobody held
	moved  []capcli.USD // by payer: cost of the data that moved for its jobs
}

// runMonth writes the rows of one month.
type runMonth struct {
	inv        *Invoice
	rec        *simulate.Record
	payers     *tagSplit
	m          int // index of the month
	start, end capcli.Time
	billed     capcli.USD // payment for the current committed pool in the month
	account    string
}

func (w *runMonth) pool(p int, c *runCell, to func(*focus.Row)) {
	l, pool := &w.inv.ByMonth[w.m].ByPool[p], &w.rec.Pools[p]
	price := w.rate(p).Price
	committed := pool.Terms.Committed()
	if committed && (w.billed != 0 || l.Time.Offered > 0) {
		f := w.purchase(pool, w.billed, "recurring")
		hours := hoursAmount(l.Time.Offered)
		f.CommitmentDiscountQuantity = focus.NumberOf(hours)
		if all, err := Cost(price, l.Time.Offered); err == nil && all == w.billed {
			f.SetPrice(hours, "Hours", price, price)
		}
		to(&f)
	}
	w.payers.load(w.m, p)
	for _, elements := range w.payers.of {
		for _, i := range elements {
			var cost capcli.USD
			if c.direct != nil {
				cost = c.direct[i]
			}
			if billed := w.payers.use[i].Billed; billed != 0 || cost != 0 {
				f := w.used(p, i, billed, cost)
				to(&f)
			}
		}
	}
	if pool.Buy != nil && c.unused != 0 {
		f := w.freeNodes(p, c.unused)
		to(&f)
	}
	if !committed || c.unused == 0 && l.Time.Used == l.Time.Offered {
		return
	}
	f := w.row(pool)
	f.ChargeCategory, f.ChargeFrequency, f.PricingCategory = focus.Usage, "Usage-Based", focus.Committed
	f.ChargeDescription, f.ResourceID = "Unused part of "+pool.Name, pool.Name
	f.SetCosts(0, c.unused)
	f.SetPrice(focus.Amount{}, "Hours", price, price)
	f.SkuPriceID = f.SkuID + "/" + pool.Terms.String() + "/recurring"
	setDiscount(&f, pool, focus.Unused, hoursAmount(l.Time.Idle+l.Time.Blocked+l.Time.Down))
	to(&f)
}

// used returns the row of what the jobs of payer i held of pool p.
func (w *runMonth) used(p, i int, billed capcli.GPUTime, cost capcli.USD) focus.Row {
	pool, tenant := &w.rec.Pools[p], w.rec.Tenants[w.payers.tenantOf(i)]
	f := w.row(pool)
	f.ChargeCategory, f.ChargeFrequency, f.ChargeDescription = focus.Usage, "Usage-Based", "GPU time on "+pool.Name
	f.Tags = jobTags(tenant, w.payers.tagsOf(i))
	f.ResourceID, f.ResourceType = pool.Name+"/"+tenant, "GPU"
	hours := hoursAmount(billed)
	f.ConsumedQuantity, f.ConsumedUnit = focus.NumberOf(hours), "Hours"
	f.SetCosts(cost, cost)
	list := w.rate(p).list(pool.Terms)
	if list == 0 { // without an on-demand price, the pool's own price is the list price
		list = w.rate(p).Price
	}
	f.SetPrice(hours, "Hours", list, list)
	switch {
	case pool.Terms.Committed():
		f.SetCosts(0, cost)
		f.PricingCategory = focus.Committed
		setDiscount(&f, pool, focus.Used, hours)
	case pool.Terms == simulate.Spot:
		f.PricingCategory = focus.Dynamic
	default:
		f.PricingCategory = focus.Standard
	}
	return f
}

// freeNodes returns the row of what nobody held of the nodes of a pool of bought nodes.
func (w *runMonth) freeNodes(p int, cost capcli.USD) focus.Row {
	l, pool := &w.inv.ByMonth[w.m].ByPool[p], &w.rec.Pools[p]
	f := w.row(pool)
	f.ChargeCategory, f.ChargeFrequency, f.PricingCategory = focus.Usage, "Usage-Based", focus.Standard
	if pool.Terms == simulate.Spot {
		f.PricingCategory = focus.Dynamic
	}
	f.ChargeDescription, f.ResourceID, f.ResourceType = "Unused part of nodes of "+pool.Name, pool.Name, "Virtual machine"
	hours := hoursAmount(l.Time.Offered - l.Time.Used)
	f.ConsumedQuantity, f.ConsumedUnit = focus.NumberOf(hours), "Hours"
	f.SetCosts(cost, cost)
	list := w.rate(p).list(pool.Terms)
	list = cmp.Or(list, w.rate(p).Price)
	f.SetPrice(hours, "Hours", list, list)
	return f
}

func (w *runMonth) rate(p int) Rate { return w.inv.rates[p].At(w.rec.Months[w.m].Since) }

// row returns a row with the fields that all rows of a pool share.
func (w *runMonth) row(pool *simulate.Pool) focus.Row {
	f := focus.NewRow()
	f.ChargePeriodStart, f.ChargePeriodEnd = w.start, w.end
	f.BillingPeriodStart, f.BillingPeriodEnd = monthOf(w.start), addMonths(monthOf(w.end-1), 1)
	f.SetBiller("", w.account, "USD")
	f.ServiceCategory, f.ServiceName, f.ServiceSubcategory = "Compute", "GPU", "Virtual Machines"
	f.SkuID = cmp.Or(pool.GPUModel, pool.Name)
	f.SkuPriceID = f.SkuID + "/" + pool.Terms.String()
	f.SkuPriceDetails = skuDetails(&SKU{GPUModel: pool.GPUModel})
	return f
}

// setDiscount sets the commitment fields of a row of a committed pool.
func setDiscount(f *focus.Row, pool *simulate.Pool, status string, quantity focus.Amount) {
	f.CommitmentDiscountID, f.CommitmentDiscountName, f.CommitmentDiscountType = pool.Name, pool.Name, pool.Terms.String()
	f.CommitmentDiscountCategory, f.CommitmentDiscountUnit, f.CommitmentDiscountStatus = focus.Usage, "Hours", status
	f.CommitmentDiscountQuantity = focus.NumberOf(quantity)
}
