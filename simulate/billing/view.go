package billing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
)

// BillMonth is one calendar month (UTC) of a bill.
type BillMonth struct {
	Start      capcli.Time    `json:"-"`
	Month      string         `json:"month"` // 2027-01
	Billed     capcli.USD     `json:"billed_usd"`
	Effective  capcli.USD     `json:"effective_usd"`
	Equivalent capcli.USD     `json:"on_demand_equivalent_usd"` // use at public on-demand prices
	Unused     capcli.USD     `json:"unused_usd"`               // effective cost of what nobody used
	Used       capcli.GPUTime `json:"used_unit_hours"`
	Unexpired  capcli.USD     `json:"lock_in_usd"`        // at the month's end: cost of time that is yet to come
	Unpaid     capcli.USD     `json:"lock_in_unpaid_usd"` // and what is yet to be paid
}

// Months sums the rows by the calendar month in which they begin, and says how
// far the portfolio is locked in at the end of each month or of the window.
func (b *Bill) Months(p *Portfolio) ([]BillMonth, error) {
	out := []BillMonth{}
	for at := monthOf(b.From); at < b.To; at = addMonths(at, 1) {
		m := BillMonth{Start: at, Month: at.Std().Format("2006-01")}
		var err error
		if m.Unexpired, m.Unpaid, err = p.LockIn(min(addMonths(at, 1), b.To)); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		at, _ := slices.BinarySearchFunc(out, monthOf(r.Start), func(m BillMonth, t capcli.Time) int { return int(m.Start - t) })
		m := &out[at]
		m.Billed += r.BilledCost
		m.Effective += r.EffectiveCost
		idle := r.Status == Unused || r.ReservationStatus == Unused
		switch {
		case r.Category != Usage:
		case idle:
			m.Unused += r.EffectiveCost
		default:
			m.Equivalent += r.ListCost
			m.Used += r.Quantity
		}
	}
	return out, nil
}

// monthOf is the start of the calendar month that t is in.
func monthOf(t capcli.Time) capcli.Time {
	s := t.Std()
	return capcli.TimeOf(s.AddDate(0, 0, 1-s.Day())) / capcli.Time(capcli.Day) * capcli.Time(capcli.Day)
}

// UnusedCost is the effective cost of what commitments and reservations brought
// and nobody used.
func (b *Bill) UnusedCost() capcli.USD {
	var sum capcli.USD
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Status == Unused || r.ReservationStatus == Unused {
			sum += r.EffectiveCost
		}
	}
	return sum
}

// UsedTime is the unit time of the use that was billed.
func (b *Bill) UsedTime() capcli.GPUTime {
	var sum capcli.GPUTime
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Category == Usage && r.Status != Unused && r.ReservationStatus != Unused {
			sum += r.Quantity
		}
	}
	return sum
}

// PresentValue is what the payments of a commitment over its whole term are
// worth at its start, at a yearly discount rate: the sum of payment /
// (1+rate)^(months/12). What is paid by the hour is paid at the start of each
// month of the term, all months of a term of whole months being equal.
func (c *Commitment) PresentValue(rate float64) (float64, error) {
	if rate <= -1 || math.IsNaN(rate) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("a discount rate of %v: want more than -100%%", rate)
	}
	hourly, err := c.hourly(c.End)
	if err != nil {
		return 0, err
	}
	n := c.months()
	whole := c.payday(n) == c.End
	worth := c.Fees.Upfront.Float()
	for k := range n {
		part := 1 / float64(n)
		if !whole {
			part = float64(min(c.payday(k+1), c.End)-c.payday(k)) / float64(c.End-c.Start)
		}
		worth += (c.Fees.Monthly.Float() + hourly.Float()*part) * math.Pow(1+rate, -float64(k)/12)
	}
	length := float64(n)
	if !whole {
		length = float64(c.End-c.Start) / (365.25 / 12 * 86400)
	}
	return worth - c.Fees.Residual.Float()*math.Pow(1+rate, -length/12), nil
}

// PresentValue is what the invoices of the bill are worth at the start of its
// window, at a yearly discount rate: billed cost / (1+rate)^(months/12), by
// calendar month.
func (b *Bill) PresentValue(rate float64) (float64, error) {
	if rate <= -1 || math.IsNaN(rate) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("a discount rate of %v: want more than -100%%", rate)
	}
	from, worth := b.From.Std(), 0.0
	for i := range b.Rows {
		at := b.Rows[i].Start.Std()
		months := (at.Year()-from.Year())*12 + int(at.Month()) - int(from.Month())
		worth += b.Rows[i].BilledCost.Float() * math.Pow(1+rate, -float64(months)/12)
	}
	return worth, nil
}
