package billing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/money/focus"
)

// Category is the kind of charge of a row (FOCUS ChargeCategory).
type Category uint8

// The categories: use, and the purchase of a commitment.
const (
	Usage Category = iota
	Purchase
)

// String returns the category as FOCUS writes it.
func (c Category) String() string { return [...]string{"Usage", "Purchase"}[c] }

// Pricing is the kind of price of a row (FOCUS PricingCategory).
type Pricing uint8

// The kinds of price: on demand, under a commitment, spot.
const (
	standard Pricing = iota
	committedRate
	dynamic
)

// String returns the kind of price as FOCUS writes it.
func (p Pricing) String() string { return [...]string{"Standard", "Committed", "Dynamic"}[p] }

// Status separates the used part of a commitment or reservation from the unused part (FOCUS
// CommitmentDiscountStatus, CapacityReservationStatus).
type Status uint8

// The statuses. A row without a commitment or reservation has NoStatus.
const (
	NoStatus Status = iota
	Used
	Unused
)

// String returns the status as FOCUS writes it.
func (s Status) String() string { return [...]string{"", "Used", "Unused"}[s] }

// Row is one line of a bill, over one charge period, in the terms of FOCUS 1.2. A purchase has
// a billed cost and no effective cost. Use that a commitment covers has an effective cost and
// no billed cost. So has the unused part of a commitment, which has no tenant and only the SKU
// of the commitment's scope.
type Row struct {
	Start, End capcli.Time
	Category   Category
	Pricing    Pricing
	Kind       UseKind

	Commitment string // ID of the commitment; "" for none
	Product    string // name of the commitment's product
	Status     Status // of the commitment

	Reservation       string // ID of the capacity reservation; "" for none
	ReservationStatus Status
	Free              bool // the part of bought nodes, named by Capacity, that nobody held

	SKU             SKU
	Account, Tenant string
	Capacity        string // UseLine.Capacity: the commitment or reservation that the use ran in
	Job             string // set only where the bill is by job

	Quantity   capcli.GPUTime // unit time used; of an unused part, unit time left where the product counts units
	Discount   focus.Amount   // FOCUS CommitmentDiscountQuantity: hours of the commitment's own unit, or money
	ListUnit   capcli.Rate    // public on-demand price of a unit-hour
	Contracted capcli.Rate    // negotiated on-demand price of a unit-hour

	ListCost       capcli.USD
	ContractedCost capcli.USD
	BilledCost     capcli.USD
	EffectiveCost  capcli.USD

	of *Commitment // the commitment of the row; nil for none
}

// Costs are sums of the four costs that FOCUS defines.
type Costs struct {
	List       capcli.USD // use at public on-demand prices
	Contracted capcli.USD // use at negotiated on-demand prices
	Billed     capcli.USD // invoiced in the window: the cash view
	Effective  capcli.USD // used up in the window: the amortised view
}

// Bill is the cost of a record of use under a portfolio. Rows are in a total order. Every sum
// below is a sum of rows, exact to the millionth of a dollar.
type Bill struct {
	From, To capcli.Time
	Currency string
	Rows     []Row
	Total    Costs
	// Equivalent is the cost of the use at public on-demand prices. It leaves out the unused
	// part of capacity reservations.
	Equivalent  capcli.USD
	Commitments []CommitmentBill // in order of start, then ID

	eligible, covered float64 // list cost of the use that commitments may cover, and of the part they covered
}

// CommitmentBill is the result of one commitment in the window.
type CommitmentBill struct {
	ID      string      `json:"id"`
	Product string      `json:"product"`
	Start   capcli.Time `json:"start"` // start of its term; the steps of a ramp share one ID
	End     capcli.Time `json:"end"`
	Billed  capcli.USD  `json:"billed_usd"` // sum of its purchase rows
	Used    capcli.USD  `json:"used_usd"`   // effective cost of its Used rows
	Unused  capcli.USD  `json:"unused_usd"` // effective cost of its Unused rows
	// Share is the used part of what was bought in the window, 0 to 1, in the commitment's own
	// unit; for a minimum spend it is by cost. It is nil where nothing was bought in the
	// window, and for a capacity reservation.
	Share     *float64    `json:"utilisation"`
	Total     capcli.USD  `json:"term_cost_usd"`
	Worth     *capcli.USD `json:"term_present_value_usd,omitempty"` // value of the term at its start; nil without a discount rate
	Unexpired capcli.USD  `json:"lock_in_usd"`                      // cost of the time after the window
	Unpaid    capcli.USD  `json:"lock_in_unpaid_usd"`               // part of the cost not yet paid at that time
}

// Grain is the length of the charge periods of a bill's rows.
type Grain uint8

// The grains: calendar months, days and clock hours (all UTC), and the whole window.
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
	Unused     capcli.USD     `json:"unused_usd"`               // effective cost of unused commitments and reservations
	Used       capcli.GPUTime `json:"used_unit_hours"`
	Unexpired  capcli.USD     `json:"lock_in_usd"`        // at the end of the month: cost of the time to come
	Unpaid     capcli.USD     `json:"lock_in_unpaid_usd"` // at the end of the month: part of the cost not yet paid
}

// Months returns the sums of the rows by the calendar month in which they begin, with the
// lock-in of the portfolio at the end of each month or of the window. It fails with
// capcli.ErrOverflow.
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
		idle := r.isUnused()
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

// monthOf returns the start of the calendar month (UTC) of t.
func monthOf(t capcli.Time) capcli.Time {
	s := t.Std()
	return capcli.TimeOf(s.AddDate(0, 0, 1-s.Day())) / capcli.Time(capcli.Day) * capcli.Time(capcli.Day)
}

// UnusedCost returns the effective cost of the unused part of commitments and reservations.
func (b *Bill) UnusedCost() capcli.USD {
	var sum capcli.USD
	for i := range b.Rows {
		if r := &b.Rows[i]; r.isUnused() {
			sum += r.EffectiveCost
		}
	}
	return sum
}

// UsedTime returns the unit time of the billed use, without unused parts.
func (b *Bill) UsedTime() capcli.GPUTime {
	var sum capcli.GPUTime
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Category == Usage && !r.isUnused() {
			sum += r.Quantity
		}
	}
	return sum
}

// PresentValue returns the value of a commitment's fees over its whole term, at its start, in
// dollars. rate is the yearly discount rate: the value is the sum of payment /
// (1+rate)^(months/12). Hourly fees count as paid at the start of each month of the term; in a
// term of whole months all months are equal. It fails where rate is -1 or less, or not finite.
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

// PresentValue returns the value of the invoices of the bill at the start of its window, in
// dollars. rate is the yearly discount rate: the value is the sum of billed cost /
// (1+rate)^(months/12), with months counted by the calendar. It fails where rate is -1 or less,
// or not finite.
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

// isUnused reports whether the row is the unused part of a commitment, a reservation or bought nodes.
func (r *Row) isUnused() bool { return r.Status == Unused || r.ReservationStatus == Unused || r.Free }
