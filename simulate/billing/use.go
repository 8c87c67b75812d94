package billing

import "capcli"

// SKU is what was used, as a price list names it. A field that the provider
// does not have stays empty.
type SKU struct {
	Provider string // aws, azure, gcp, or any other name
	Region   string
	Zone     string
	Family   string // instance family: p5, m3
	Size     string // instance size within the family: 48xlarge
	GPUModel string
	Service  string // what the plan's rate table sorts by: ec2, fargate, lambda
	OS       string // "" and linux are Linux
}

// UseKind is how a stretch of use was had.
type UseKind uint8

// The kinds of use. On-demand use is what discounts apply to; spot use has a
// price of its own; reserved use ran in capacity that a commitment brought,
// named by UseLine.Capacity.
const (
	UseOnDemand UseKind = iota
	UseSpot
	UseReserved
)

var useKindNames = [...]string{"on_demand", "spot", "reserved"}

// String gives the kind as files write it.
func (k UseKind) String() string { return useKindNames[k] }

// Ending says who ended a stretch of use.
type Ending uint8

// The endings.
const (
	EndedByUser     Ending = iota // or it still ran when the record ended
	EndedByProvider               // a spot interruption
)

// UseLine is one stretch of metered use: equal units held from Start for
// Seconds. A unit is what the price is for: a GPU, an instance, a vCPU.
type UseLine struct {
	Start   capcli.Time
	Seconds capcli.Seconds
	Units   int64          // thousandths of a unit
	Minimum capcli.Seconds // least time billed; 0 is none
	SKU     SKU
	Kind    UseKind

	// Price is the public on-demand price of a unit for an hour.
	Price capcli.Rate
	// Contracted is the negotiated on-demand price; 0 is Price.
	Contracted capcli.Rate
	// Spot is the spot price at Start where the record has no series for the SKU.
	// It is never billed above Price.
	Spot  capcli.Rate
	Ended Ending

	// Capacity names the commitment or the capacity reservation that the use ran
	// in. For reserved use it must; on-demand use may name a capacity reservation.
	Capacity string

	Account string // who is billed: what scopes and owners of commitments name
	Tenant  string // who used it: what chargeback names
	Job     string

	inside bool // runs in the capacity reservation that Capacity names
}

// SpotPrice is one step of a spot price series: from At on, a unit of the SKU
// costs Price for an hour.
type SpotPrice struct {
	SKU   SKU
	At    capcli.Time
	Price capcli.Rate
}

// UseRecord is metered use over a window of time: all that a bill needs beside
// the portfolio of commitments. The order of lines does not matter.
type UseRecord struct {
	From, To   capcli.Time // the window; no line may leave it
	Currency   string      // "" is USD
	Lines      []UseLine
	SpotPrices []SpotPrice // in order of At for each SKU
}
