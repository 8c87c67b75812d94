package billing

import (
	"errors"
	"fmt"

	"capcli"
	"capcli/simulate"
)

// RunPool says how the use of one pool of a run is billed.
type RunPool struct {
	SKU        SKU
	Kind       UseKind     // on-demand use is what commitments may cover
	Price      capcli.Rate // public on-demand price of a GPU-hour
	Contracted capcli.Rate // negotiated on-demand price; 0 is Price
	Spot       capcli.Rate // of spot use
	Capacity   string      // of reserved use: the commitment that brings the pool
	Account    string
	Skip       bool // this pool is billed elsewhere
}

// OfRun gathers the use of a run that kept its hours, with minimum billing
// times, over [from, to) in whole seconds of which the run must be a part; pools
// are in the order of the record's. What it sums to is what the record says was
// billed, to the thousandth of a GPU-second.
func OfRun(rec *simulate.Record, pools []RunPool, from, to capcli.Time) (*Hours, error) {
	switch {
	case rec.Hourly == nil:
		return nil, errors.New("the run did not keep its use by hour; commitments are settled hour by hour")
	case len(pools) != len(rec.Pools):
		return nil, fmt.Errorf("price a run: got %d pools, the run has %d", len(pools), len(rec.Pools))
	}
	g, err := Gather(from, to, "")
	if err != nil {
		return nil, err
	}
	for p, tenants := range rec.Hourly.Use {
		k := &pools[p]
		if k.Skip {
			continue
		}
		line := UseLine{SKU: k.SKU, Kind: k.Kind, Price: k.Price, Contracted: k.Contracted, Spot: k.Spot, Capacity: k.Capacity, Account: k.Account}
		b := line.bucket()
		for t := range tenants {
			u := user{rec.Tenants[t], ""}
			for _, times := range [][]capcli.GPUTime{tenants[t].Used, tenants[t].Rest} {
				for i, time := range times {
					at := max(from, rec.Hourly.First+capcli.Time(i)*hour)
					if err := g.put(b, u, at, time); err != nil {
						return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
					}
				}
			}
		}
	}
	return g.Hours()
}
