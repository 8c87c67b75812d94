package plan

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"capcli/simulate/plan/flow"

	"capcli"
)

// Change is one thing that turns out otherwise than planned, all else as it was.
type Change struct {
	What   string     `json:"what"`             // "demand", "on_demand" or the name of a term
	Share  float64    `json:"share"`            // by how much: -0.2 is a fifth less
	Kept   capcli.USD `json:"cost_usd"`         // what the purchases cost then
	Best   capcli.USD `json:"optimum_cost_usd"` // what the best purchases cost then
	Regret capcli.USD `json:"regret_usd"`       // what is paid for having planned for something else
}

// Sensitivity is what becomes of a plan when the demand, the price on demand or
// that of one term is lower or higher by a share, each by itself: what the
// purchases cost then, and what the best would. Prices that change are those of
// all purchases, for the question is what was assumed.
func (m *Market) Sensitivity(ctx context.Context, c *Curve, purchases []Purchase, share float64) ([]Change, error) {
	if !(share > 0 && share < 1) {
		return nil, fmt.Errorf("a sensitivity wants a share between 0%% and 100%%, found %g%%", 100*share)
	}
	var out []Change
	for what := -2; what < len(m.Terms); what++ {
		for _, by := range []float64{-share, share} {
			x, market, curve := Change{Share: by}, *m, c
			switch what {
			case -2:
				x.What, curve = "demand", c.times(1+by)
			case -1:
				x.What, market.OnDemand = "on_demand", m.OnDemand.Fall(math.MinInt64, -by)
			default:
				x.What = m.Terms[what].Name
				market.Terms = append([]Term(nil), m.Terms...)
				market.Terms[what].Rate = m.Terms[what].Rate.Fall(math.MinInt64, -by)
			}
			best, err := market.Solve(ctx, curve)
			if err != nil {
				return nil, err
			}
			if x.Kept, err = market.Price(curve, purchases); err != nil {
				return nil, err
			}
			if x.Best = best.Cost; x.Kept < x.Best-1 {
				return nil, fmt.Errorf("%w: it costs %s, and other purchases %s", flow.ErrNotProven, x.Best.Decimal(), x.Kept.Decimal())
			}
			x.Kept = max(x.Kept, x.Best)
			x.Regret = x.Kept - x.Best
			out = append(out, x)
		}
	}
	return out, nil
}

// times is c with so many times the demand, to the thousandth of a GPU-second.
func (c *Curve) times(factor float64) *Curve {
	out := *c
	out.Work = make([]capcli.GPUTime, len(c.Work))
	for i, w := range c.Work {
		out.Work[i] = capcli.GPUTime(math.Round(float64(w) * factor))
	}
	return &out
}

// Price is what given purchases and the rest of the demand on demand cost.
func (m *Market) Price(c *Curve, purchases []Purchase) (capcli.USD, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if err := c.Check(); err != nil {
		return 0, err
	}
	d, err := newDeal(c, m)
	if err != nil {
		return 0, err
	}
	type key struct {
		term int
		from capcli.Seconds
	}
	at := map[key]int{}
	for i, x := range d.options {
		at[key{x.term, x.from}] = i
	}
	bought := make([]int64, len(d.options))
	for _, p := range purchases {
		i, ok := at[key{p.Term, p.From}]
		if !ok || p.Milli < 0 || p.Milli%m.lot() != 0 {
			return 0, fmt.Errorf("%d thousandths of a GPU cannot be bought on term %d, %d s after the start", p.Milli, p.Term, p.From)
		}
		bought[i] += p.Milli / m.lot()
	}
	cost, err := d.program.Cost(bought)
	if err != nil {
		return 0, err
	}
	return d.usd(new(big.Rat).SetInt(cost))
}
