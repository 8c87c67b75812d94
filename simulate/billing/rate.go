package billing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// Path and OnDemandPath are the prices that come after Price and OnDemand,
	// in order of time. What was used before the first is at Price, and what at
	// an instant or later at the last before it.
	Path, OnDemandPath []Step
}

// Step is a price from an instant on.
type Step struct {
	From  capcli.Time
	Price capcli.Rate
}

// At is the rate at an instant, without what comes later; at NoTime it is the
// first. A pool on demand whose list price is not stated is compared with its
// own price of then.
func (r Rate) At(at capcli.Time) Rate {
	return Rate{Price: stepAt(r.Price, r.Path, at), OnDemand: stepAt(r.OnDemand, r.OnDemandPath, at)}
}

func stepAt(price capcli.Rate, path []Step, at capcli.Time) capcli.Rate {
	for _, s := range path {
		if s.From > at {
			break
		}
		price = s.Price
	}
	return price
}

// check refuses rates that are negative or not in order, and steps between
// which the record does not tell.
func (r *Rate) check(rec *simulate.Record) error {
	if r.Price < 0 || r.OnDemand < 0 {
		return errors.New("a price may not be negative")
	}
	for _, path := range [][]Step{r.Path, r.OnDemandPath} {
		for i, s := range path {
			_, known := slices.BinarySearch(rec.Cuts, s.From)
			switch {
			case s.Price < 0:
				return errors.New("a price may not be negative")
			case i > 0 && s.From <= path[i-1].From:
				return fmt.Errorf("its prices are not in order of time at %s", s.From)
			case s.From > rec.Start && !known:
				return fmt.Errorf("its price changes at %s, but the run's record is not cut there (simulate.Config.Cuts)", s.From)
			}
		}
	}
	return nil
}

// Cuts are the instants at which prices change, for simulate.Config, in order.
func Cuts(rates []Rate) []capcli.Time {
	var out []capcli.Time
	for i := range rates {
		for _, path := range [][]Step{rates[i].Path, rates[i].OnDemandPath} {
			for _, s := range path {
				out = append(out, s.From)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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

// JobCost is the direct cost of a job at the prices of its pools, before
// commitments that make on-demand use cheaper: what was billed for the time it held
// GPUs, each pool's at its rate. It has no part in what nobody held. The costs
// of all jobs sum to an invoice's direct cost but for rounding: each hold is
// rounded by itself, half a millionth of a dollar at most. It fails with
// capcli.ErrOverflow when the cost does not fit.
func JobCost(holds []simulate.Hold, rates []Rate) (capcli.USD, error) {
	var t tally
	var sum capcli.USD
	for _, h := range holds {
		t.add(&sum, t.cost(rates[h.Pool].At(h.Since).Price, h.Billed))
	}
	if t.err != nil {
		return 0, fmt.Errorf("price a job: %w", t.err)
	}
	return sum, nil
}

// Worth is what work that a run left undone would cost on demand.
type Worth struct {
	Unserved capcli.USD // of simulate.Served.Unserved
	LeftOver capcli.USD // of simulate.Served.LeftOver
}

// Worth prices what a run of rec left undone, by what the jobs asked for, at the
// on-demand prices of an instant, which is the run's end: that of the first
// on-demand pool that the jobs may use, else the least that is known for a pool
// that they may use, else for a pool of their GPU model. It is false where work
// is left of jobs for which no such price is known, or an amount does not fit.
func (inv *Invoice) Worth(rec *simulate.Record, left []simulate.ServedClass, at capcli.Time) (Worth, bool) {
	var out Worth
	var t tally
	if len(inv.rates) != len(rec.Pools) {
		return out, false // the invoice was made without prices
	}
	for i := range left {
		c := &left[i]
		if c.Unserved() == 0 && c.LeftOver() == 0 {
			continue
		}
		price := inv.onDemandOf(rec, c, at)
		if price == 0 {
			return Worth{}, false
		}
		t.add(&out.Unserved, t.cost(price, c.Unserved()))
		t.add(&out.LeftOver, t.cost(price, c.LeftOver()))
	}
	if t.err != nil {
		return Worth{}, false
	}
	return out, true
}

// onDemandOf is the on-demand price that applies to a class of jobs; 0 is not
// known.
func (inv *Invoice) onDemandOf(rec *simulate.Record, c *simulate.ServedClass, at capcli.Time) capcli.Rate {
	for _, p := range c.Pools {
		if price := inv.rates[p].At(at).Price; rec.Pools[p].Terms == simulate.OnDemand && price > 0 {
			return price
		}
	}
	if price := inv.leastList(rec, c.Pools, at); price > 0 {
		return price
	}
	var alike []int
	for p := range rec.Pools {
		model := rec.Pools[p].GPUModel
		if c.GPUModel == "" || slices.ContainsFunc(strings.Split(c.GPUModel, "|"), func(m string) bool { return strings.EqualFold(m, model) }) {
			alike = append(alike, p)
		}
	}
	return inv.leastList(rec, alike, at)
}

// leastList is the least known list price of some pools; 0 where none is known.
func (inv *Invoice) leastList(rec *simulate.Record, pools []int, at capcli.Time) capcli.Rate {
	var least capcli.Rate
	for _, p := range pools {
		price := inv.rates[p].At(at).list(rec.Pools[p].Terms)
		if price > 0 && price < cmp.Or(least, price+1) {
			least = price
		}
	}
	return least
}
