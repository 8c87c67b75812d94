package billing

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate"
)

// Invoice is what a run cost under some rates. Each table sums to Total, to the
// millionth of a dollar and the thousandth of a GPU-second.
type Invoice struct {
	Total       Line
	ByTier      [3]Line // by Tier
	ByTerms     [4]Line // by simulate.Terms
	ByPool      []Line  // in order of the record's pools
	ByMonth     []Month
	ByTenant    []Tenant         // in order of the record's tenants
	Unallocated capcli.USD       // cost that no tenant can bear, for nobody used anything
	Commitments []CommitmentBill // beside the pools' own terms: see PriceUnder

	settled [][]*settled // by month and pool; nil where a pool is at its rate
	cash    capcli.USD   // paid in the run for what was settled

	told     func(Part) // see Parts
	bill     *Bill      // of what was settled
	deal     *Deal
	rates    []Rate
	unlisted []string // pools whose time was billed and whose on-demand price is not known
}

// Month is one calendar month (UTC) of an invoice, or the part of one between
// changes of price.
type Month struct {
	Start  capcli.Time
	Line   Line
	ByTier [3]capcli.USD
	ByPool []Line
}

// Price prices a record, with one rate for each of its pools in their order.
// It fails with capcli.ErrOverflow when an amount does not fit, and when rates
// are too few, too many or negative.
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
	for p := range rec.Pools {
		if inv.ByPool[p].Unlisted > 0 {
			inv.unlisted = append(inv.unlisted, rec.Pools[p].Name)
		}
	}
	inv.chargeBack(rec)
	return nil
}

// month prices the cells of one month and adds them to every table but that of
// the tenants.
func (inv *Invoice) month(rec *simulate.Record, rates []Rate, m int) error {
	month := Month{Start: rec.Months[m].Start, ByPool: make([]Line, len(rec.Pools))}
	for p := range rec.Pools {
		terms := rec.Pools[p].Terms
		var t tally
		l := t.cell(rates[p].At(rec.Months[m].Since), terms, &rec.Months[m].Pools[p], rec.Months[m].Use[p])
		var part Line // paid for by commitments beside the pool's terms
		if s := inv.settledAt(m, p); s != nil && t.err == nil {
			part = s.lay(&l)
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

// settledAt is what commitments made of a cell; nil where they are not for it.
func (inv *Invoice) settledAt(m, p int) *settled {
	if inv.settled == nil {
		return nil
	}
	return inv.settled[m][p]
}

// cell prices one pool in one month. Owned and reserved capacity is paid for from
// delivery to the end of its term, down or up, held or not. On-demand and spot
// capacity is paid for while held, with what a minimum billing time adds, which is part
// of the holder's bill. What the unused part cost is shared among idle, blocked and down
// by their time.
func (t *tally) cell(r Rate, terms simulate.Terms, s *simulate.Span, use []simulate.Use) Line {
	l := Line{Time: *s}
	for _, u := range use {
		l.Billed += u.Billed
	}
	l.Direct = t.cost(r.Price, l.Billed)
	var unused capcli.USD
	if terms.Committed() {
		unused = t.cost(r.Price, s.Offered) - l.Direct // rounding keeps order, so held is never over all
	}
	l.Cost = l.Direct
	t.add(&l.Cost, unused)
	parts := capcli.Split(unused, []int64{int64(s.Idle), int64(s.Blocked), int64(s.Down)})
	l.Idle, l.Blocked, l.Down = parts[0], parts[1], parts[2]
	if list := r.list(terms); list > 0 {
		l.Equivalent = t.cost(list, l.Billed)
	} else {
		l.Unlisted = l.Billed
	}
	return l
}

// Utilisation is how much of the committed capacity was held, 0 to 1 (AWS Cost
// Explorer's commitment utilisation); false where none was offered.
func (inv *Invoice) Utilisation() (float64, bool) {
	t := &inv.ByTier[Committed].Time
	if t.Offered == 0 {
		return 0, false
	}
	return float64(t.Used) / float64(t.Offered), true
}

// Coverage is how much of all GPU time used was used on committed capacity, 0
// to 1; false where none was used.
func (inv *Invoice) Coverage() (float64, bool) {
	if inv.Total.Time.Used == 0 {
		return 0, false
	}
	return float64(inv.ByTier[Committed].Time.Used) / float64(inv.Total.Time.Used), true
}

// WhyNoSavings says why Total has no effective savings rate; "" when it has.
func (inv *Invoice) WhyNoSavings() string {
	switch _, known := inv.Total.SavingsRate(); {
	case known:
		return ""
	case len(inv.unlisted) > 0:
		return "no on-demand price is known for " + strings.Join(inv.unlisted, ", ")
	}
	return "no GPU time was billed"
}
