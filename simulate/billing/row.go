package billing

import "capcli"

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
	Discount   Amount         // of the commitment: hours of its own unit, or money where it commits to money
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
