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
	Path       []Step      // the prices that come after Price, each from the first clock hour that begins with it or after
	Contracted capcli.Rate // negotiated on-demand price; 0 is Price
	Spot       capcli.Rate // of spot use
	Capacity   string      // what the pool is called; of reserved use the commitment that brings it
	Account    string
	Skip       bool // this pool is billed elsewhere

	// Reserved is how many thousandths of a GPU the pool keeps from From to Until
	// as a capacity reservation: what nobody holds of it is billed too.
	Reserved    int64
	From, Until capcli.Time
}

// ofRun gathers the use of a run that kept its hours, with minimum billing
// times, over [from, to) in whole seconds of which the run must be a part; pools
// are in the order of the record's. What it sums to is what the record says was
// billed, to the thousandth of a GPU-second.
func ofRun(rec *simulate.Record, pools []RunPool, from, to capcli.Time) (*Hours, error) {
	switch {
	case rec.Hourly == nil:
		return nil, errors.New("the run did not keep its use by hour; commitments are settled hour by hour")
	case len(pools) != len(rec.Pools):
		return nil, fmt.Errorf("price a run: got %d pools, the run has %d", len(pools), len(rec.Pools))
	}
	g, err := gather(from, to, "")
	if err != nil {
		return nil, err
	}
	for p := range pools {
		k := &pools[p]
		var tenants []simulate.HourlyUse
		if p < len(rec.Hourly.Use) {
			tenants = rec.Hourly.Use[p]
		}
		if k.Skip {
			continue
		}
		if err := g.bookIdle(k, tenants, rec.Hourly.First); err != nil {
			return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
		}
		for t := range tenants {
			if err := g.hours(k, user{rec.Tenants[t], ""}, &tenants[t], rec.Hourly.First); err != nil {
				return nil, fmt.Errorf("price pool %s: %w", rec.Pools[p].Name, err)
			}
		}
	}
	return g.Hours()
}

// hours books what one tenant had of a pool.
func (g *gatherer) hours(k *RunPool, u user, use *simulate.HourlyUse, first capcli.Time) error {
	for _, times := range [][]capcli.GPUTime{use.Used, use.Rest} {
		for i, time := range times {
			if time == 0 {
				continue
			}
			at := max(g.h.from, first+capcli.Time(i)*hour)
			if err := g.put(k.bucketAt(at), u, at, time); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucketAt is the bucket of the pool's use in the hour that begins at an
// instant.
func (k *RunPool) bucketAt(at capcli.Time) bucket {
	line := UseLine{SKU: k.SKU, Kind: k.Kind, Price: stepAt(k.Price, k.Path, at), Contracted: k.Contracted, Spot: k.Spot, Capacity: k.Capacity, Account: k.Account, inside: k.Reserved > 0}
	return line.bucket()
}

// bookIdle books what nobody held of a pool that is a capacity reservation.
func (g *gatherer) bookIdle(k *RunPool, tenants []simulate.HourlyUse, first capcli.Time) error {
	if k.Reserved == 0 {
		return nil
	}
	for i := range g.h.n {
		at := g.h.first + capcli.Time(i)*hour
		free := capcli.GPUTime(k.Reserved * g.h.overlap(i, k.From, k.Until))
		for t := range tenants {
			if n := int((at - first) / hour); n >= 0 && n < len(tenants[t].Used) {
				free -= tenants[t].Used[n]
			}
		}
		if free > 0 {
			unused := k.bucketAt(max(at, g.h.from))
			unused.idle = true
			if err := g.put(unused, user{}, max(at, g.h.from), free); err != nil {
				return err
			}
		}
	}
	return nil
}
