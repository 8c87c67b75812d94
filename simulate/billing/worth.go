package billing

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
)

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
