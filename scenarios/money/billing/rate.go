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

// Rate is the price of the GPUs of one pool.
type Rate struct {
	// Price is for one GPU for one hour: of all the offered time of committed capacity, and of
	// the billed time of on-demand and spot capacity. 0 means free.
	Price capcli.Rate
	// OnDemand is the on-demand price of a GPU-hour of the pool's model, for comparison; 0
	// means not known. For an on-demand pool 0 means its own Price.
	OnDemand capcli.Rate
	// Path and OnDemandPath are the later values of Price and OnDemand, in order of time. Each
	// holds from its time until the next; Price and OnDemand hold before the first.
	Path, OnDemandPath []Step
	// Transfers are the prices of moved data; nil is free. All pools of a record have the same.
	Transfers *Transfers
}

// Step is a price that holds from an instant on.
type Step struct {
	From  capcli.Time
	Price capcli.Rate
}

// At returns the rate at an instant, without its paths. At capcli.NoTime it is the first rate.
func (r Rate) At(at capcli.Time) Rate {
	return Rate{Price: stepAt(r.Price, r.Path, at), OnDemand: stepAt(r.OnDemand, r.OnDemandPath, at)}
}

// stepAt returns the last price of the path at or before an instant; price before the first.
func stepAt(price capcli.Rate, path []Step, at capcli.Time) capcli.Rate {
	for _, s := range path {
		if s.From > at {
			break
		}
		price = s.Price
	}
	return price
}

// check fails for a negative price, prices not in order of time, and a step at which the record
// is not cut.
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

// Cuts returns the instants at which prices change, in order, for simulate.Config.
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

// list returns the on-demand price with which usage of a pool is compared; 0 where it is not
// known.
func (r Rate) list(t simulate.Terms) capcli.Rate {
	if r.OnDemand == 0 && t == simulate.OnDemand {
		return r.Price
	}
	return r.OnDemand
}

// Tier is the way in which a GPU-hour was paid for.
type Tier uint8

// The tiers.
const (
	Committed Tier = iota // owned and reserved: paid whether held or not
	OnDemand              // paid while held
	Spot                  // paid while held, may be lost
)

var tierNames = [...]string{"committed", "on_demand", "spot"}

// String returns the tier as results write it.
func (t Tier) String() string { return tierNames[t] }

// TierOf returns the tier of terms.
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

// JobCost returns the direct cost of a job: the billed time of each hold at the rate of its
// pool, before commitments that make on-demand use cheaper. It has no share of unused capacity.
// The costs of all jobs add up to the direct cost of an invoice except for rounding: each hold
// is rounded by itself, by half a millionth of a dollar at most. It fails with
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

// Worth is the on-demand cost of the work that a run left undone.
type Worth struct {
	Unserved capcli.USD // cost of simulate.Served.Unserved
	LeftOver capcli.USD // cost of simulate.Served.LeftOver
}

// Worth prices the work that a run of rec left undone at the on-demand prices of an instant,
// the end of the run. The work is what the jobs asked for. Its price is that of the first
// on-demand pool that the jobs may use, else the lowest known list price of the pools that they
// may use, else the lowest of the pools with their GPU model. It returns false where no price
// is known for some of the work, and where an amount does not fit.
func (inv *Invoice) Worth(rec *simulate.Record, left []simulate.ServedClass, at capcli.Time) (Worth, bool) {
	var out Worth
	var t tally
	if len(inv.rates) != len(rec.Pools) {
		return out, false // the invoice was made without rates
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

// onDemandOf returns the on-demand price for a class of jobs; 0 where it is not known.
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

// leastList returns the lowest known list price of some pools; 0 where none is known.
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
