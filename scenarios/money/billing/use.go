package billing

import "capcli"

// SKU identifies what was used, as a price list names it. A field that the provider does not
// have is empty.
type SKU struct {
	Provider string // aws, azure, gcp, or any other name
	Region   string
	Zone     string
	Family   string // instance family: p5, m3
	Size     string // instance size within the family: 48xlarge
	GPUModel string
	Service  string // service in the plan's rate table: ec2, fargate, lambda
	OS       string // "" means linux
}

// UseKind is the way in which use was bought.
type UseKind uint8

// The kinds of use. Discounts apply to on-demand use. Spot use has a price of its own. Reserved
// use ran in the capacity of the commitment that UseLine.Capacity names.
const (
	UseOnDemand UseKind = iota
	UseSpot
	UseReserved
)

var useKindNames = [...]string{"on_demand", "spot", "reserved"}

// String returns the kind as files write it.
func (k UseKind) String() string { return useKindNames[k] }

// Ending says who ended a stretch of use.
type Ending uint8

// The endings.
const (
	EndedByUser     Ending = iota // also use that still ran when the record ended
	EndedByProvider               // a spot interruption
)

// UseLine is one stretch of metered use: equal units held from Start for Seconds. A unit is
// what the price is for: a GPU, an instance, a vCPU.
type UseLine struct {
	Start   capcli.Time
	Seconds capcli.Seconds
	Units   int64          // thousandths of a unit
	Minimum capcli.Seconds // minimum billing time; 0 means none
	SKU     SKU
	Kind    UseKind

	// Price is the public on-demand price of a unit for an hour.
	Price capcli.Rate
	// Contracted is the negotiated on-demand price; 0 means Price.
	Contracted capcli.Rate
	// Spot is the spot price at Start where the record has no series for the SKU.
	// It is never billed above Price.
	Spot  capcli.Rate
	Ended Ending

	// Capacity names the commitment or the capacity reservation that the use ran in. Reserved
	// use must name one; on-demand use may name a capacity reservation.
	Capacity string

	Account string // account that is billed; scopes and owners of commitments refer to it
	Tenant  string // tenant that used it; chargeback refers to it
	Job     string
	Tags    *capcli.Tags // what UseOptions.By named

	inside bool // ran in the capacity reservation that Capacity names
}

// SpotPrice is one step of a spot price series: Price is the price of a unit-hour of the SKU
// from At on.
type SpotPrice struct {
	SKU   SKU
	At    capcli.Time
	Price capcli.Rate
}

// UseRecord is metered use over a window of time: everything that a bill needs except the
// portfolio of commitments. The order of lines does not matter.
type UseRecord struct {
	From, To   capcli.Time // the window, which must contain all lines; both 0 mean the clock hours around the lines
	Currency   string      // "" means USD
	Lines      []UseLine
	SpotPrices []SpotPrice // in any order
}
