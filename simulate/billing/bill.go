package billing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/billing/focus"
)

// Category is what a row of a bill charges for (FOCUS ChargeCategory).
type Category uint8

// The categories: use, and the purchase of a commitment.
const (
	Usage Category = iota
	Purchase
)

// String gives the category as FOCUS writes it.
func (c Category) String() string { return [...]string{"Usage", "Purchase"}[c] }

// Pricing is the kind of price of a row (FOCUS PricingCategory).
type Pricing uint8

// The kinds of price: on demand, under a commitment, spot.
const (
	standard Pricing = iota
	committedRate
	dynamic
)

// String gives the kind of price as FOCUS writes it.
func (p Pricing) String() string { return [...]string{"Standard", "Committed", "Dynamic"}[p] }

// Status tells use of what was bought from what went unused (FOCUS
// CommitmentDiscountStatus, CapacityReservationStatus).
type Status uint8

// The statuses; NoStatus is that of a row without a commitment or reservation.
const (
	NoStatus Status = iota
	Used
	Unused
)

// String gives the status as FOCUS writes it.
func (s Status) String() string { return [...]string{"", "Used", "Unused"}[s] }

// Row is one line of a bill, over one charge period. FOCUS 1.2 has the same
// words. A purchase has a billed cost and no effective cost; use that a
// commitment covers has an effective cost and no billed cost, as does the unused
// part, which has no SKU but that of the scope and no tenant.
type Row struct {
	Start, End capcli.Time
	Category   Category
	Pricing    Pricing
	Kind       UseKind

	Commitment string // its ID; "" for none
	Product    string // its product's name
	Status     Status // of the commitment

	Reservation       string // capacity reservation: its ID
	ReservationStatus Status

	SKU             SKU
	Account, Tenant string
	Capacity        string // what its lines say they ran in
	Job             string // where the bill is by job

	Quantity   capcli.GPUTime // unit time: used, or unused where the product counts units
	Discount   focus.Amount   // of the commitment: hours of its own unit, or money where it commits to money
	ListUnit   capcli.Rate    // public on-demand price of a unit-hour
	Contracted capcli.Rate    // negotiated on-demand price of a unit-hour

	ListCost       capcli.USD
	ContractedCost capcli.USD
	BilledCost     capcli.USD
	EffectiveCost  capcli.USD

	of *Commitment // nil for none
}

// Costs are the four costs that FOCUS knows, summed.
type Costs struct {
	List       capcli.USD // use at public on-demand prices
	Contracted capcli.USD // use at negotiated on-demand prices
	Billed     capcli.USD // what is invoiced in the window: the cash view
	Effective  capcli.USD // what the window used up: the amortised view
}

// Bill is what a record of use costs under a portfolio. Rows are in a total
// order, and every sum below is the sum of rows, to the millionth of a dollar.
type Bill struct {
	From, To capcli.Time
	Currency string
	Rows     []Row
	Total    Costs
	// Equivalent is the use at public on-demand prices, without the unused part of
	// capacity reservations.
	Equivalent  capcli.USD
	Commitments []CommitmentBill // in order of start, then ID

	eligible, covered float64 // list cost of use that commitments may cover, and of what they did
}

// CommitmentBill is what became of one commitment in the window.
type CommitmentBill struct {
	ID      string      `json:"id"`
	Product string      `json:"product"`
	Start   capcli.Time `json:"start"` // of its term: the steps of a ramp have one ID
	End     capcli.Time `json:"end"`
	Billed  capcli.USD  `json:"billed_usd"` // its purchase rows
	Used    capcli.USD  `json:"used_usd"`   // effective cost of its Used rows
	Unused  capcli.USD  `json:"unused_usd"` // and of its Unused rows
	// Share is how much of what was bought was used, 0 to 1, in the commitment's
	// own unit; nil where nothing of its term is in the window.
	Share     *float64    `json:"utilisation"`
	Total     capcli.USD  `json:"term_cost_usd"`
	Worth     *capcli.USD `json:"term_present_value_usd,omitempty"` // of the term at its start; nil without a discount rate
	Unexpired capcli.USD  `json:"lock_in_usd"`                      // cost of time after the window
	Unpaid    capcli.USD  `json:"lock_in_unpaid_usd"`               // and what of it is yet to be paid
}

// Grain is how long the charge periods of a bill's rows are.
type Grain uint8

// The grains: clock hours, days and calendar months (UTC), and the whole window.
const (
	ByMonth Grain = iota
	ByDay
	ByHour
	InAll
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
