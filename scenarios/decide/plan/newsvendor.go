package plan

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// oneLevel returns the best constant level of one term, bought at the start and again whenever it
// ends, as long as that fits, and its cost with the rest paid on demand.
func (m *Market) oneLevel(c *Curve, term int) (milli int64, cost capcli.USD, err error) {
	only := *m
	only.Terms = m.Terms[term : term+1]
	d, err := layOut(c, &only)
	if err != nil {
		return 0, 0, err
	}
	var renewals []option
	for _, x := range d.options { // in order of time
		if n := len(renewals); n == 0 || x.from >= renewals[n-1].to {
			renewals = append(renewals, x)
		}
	}
	d.options = renewals
	if err := d.build(); err != nil {
		return 0, 0, err
	}
	return d.level()
}

// level returns the best level, in thousandths of GPUs, to hold through all options, which follow
// each other, and its cost.
func (d *deal) level() (milli int64, cost capcli.USD, err error) {
	var held []flow.Use
	sum, next := exact.Product(0, 0), 0
	for i, ps := range d.pieces {
		for next < len(d.options) && d.options[next].to <= d.edges[i] {
			next++
		}
		if next < len(d.options) && d.options[next].from <= d.edges[i] {
			held = append(held, ps...)
			continue
		}
		sum.Add(sum, d.program.Periods[i].Uncovered(0))
	}
	levels, err := flow.Stack(held, d.m.lot(), d.unit)
	if err != nil {
		return 0, 0, err
	}
	price, most := int64(0), int64(math.MaxInt64)
	for _, o := range d.program.Offers {
		if price > flow.LimitCost-o.Cost {
			return 0, 0, capcli.ErrOverflow
		}
		price += o.Cost
		if o.Max > 0 {
			most = min(most, o.Max)
		}
	}
	k := int64(0)
	for _, s := range levels {
		if s.Cost <= price {
			break
		}
		k += min(s.Units, most-k)
	}
	sum.Add(sum, exact.Product(k, price))
	sum.Add(sum, levels.Uncovered(k))
	cost, err = d.usd(new(big.Rat).SetInt(sum))
	return k * d.m.lot(), cost, err
}

// Baseline is a plan that people make without an optimum: nothing, the best use of one term alone,
// or one constant level of one term.
type Baseline struct {
	Term  int   // index in the market's terms; -1 buys nothing
	Flat  bool  // one level, bought again whenever it ends
	Milli int64 // the level where Flat, in thousandths of GPUs
	Cost  capcli.USD
}

// Baselines prices the baselines of a market. It fails with flow.ErrNotProven where one is cheaper
// than best, for then best is no optimum.
func (m *Market) Baselines(ctx context.Context, c *Curve, best *Optimum) ([]Baseline, error) {
	c, err := m.Extend(c) // the same time for every baseline
	if err != nil {
		return nil, err
	}
	out := []Baseline{{Term: -1, Cost: best.AllOnDemand}}
	for i := range m.Terms {
		only := *m
		only.Terms = m.Terms[i : i+1]
		o, err := only.Solve(ctx, c)
		if err != nil {
			return nil, err
		}
		milli, cost, err := m.oneLevel(c, i)
		if err != nil {
			return nil, err
		}
		out = append(out, Baseline{Term: i, Cost: o.Cost}, Baseline{Term: i, Flat: true, Milli: milli, Cost: cost})
	}
	for _, b := range out {
		if b.Cost < best.Cost-1 { // each cost is rounded
			return nil, fmt.Errorf("%w: it costs %s, and a baseline %s", flow.ErrNotProven, best.Cost.Decimal(), b.Cost.Decimal())
		}
	}
	return out, nil
}
