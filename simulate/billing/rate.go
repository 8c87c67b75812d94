package billing

import (
	"capcli"
	"capcli/simulate"
)

// Rate is what the GPUs of one pool cost.
type Rate struct {
	// Price is for one GPU for an hour: of all the time for which committed
	// capacity was offered, of the billed time of on-demand and spot capacity.
	// 0 is free.
	Price capcli.Rate
	// OnDemand is what a GPU of the pool's model costs for an hour on demand, to
	// compare with; 0 is not known. For an on-demand pool 0 is its own Price.
	OnDemand capcli.Rate
}

// list is the on-demand price that usage of a pool is compared with, 0 when it
// is not known.
func (r Rate) list(t simulate.Terms) capcli.Rate {
	if r.OnDemand == 0 && t == simulate.OnDemand {
		return r.Price
	}
	return r.OnDemand
}

// Tier is how a GPU-hour was paid for.
type Tier uint8

// The tiers.
const (
	Committed Tier = iota // owned and reserved: paid whether held or not
	OnDemand              // paid while held
	Spot                  // paid while held, may be lost
)

var tierNames = [...]string{"committed", "on_demand", "spot"}

// String gives the tier as results write it.
func (t Tier) String() string { return tierNames[t] }

// TierOf is the tier that terms belong to.
func TierOf(t simulate.Terms) Tier {
	switch t {
	case simulate.OnDemand:
		return OnDemand
	case simulate.Spot:
		return Spot
	case simulate.Owned, simulate.Reserved:
	}
	return Committed
}
