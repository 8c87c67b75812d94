package plan

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"capcli/scenarios/decide/plan/flow"

	"capcli"
)

// Change is one deviation from the plan's assumptions, all else unchanged.
type Change struct {
	What   string     `json:"what"`             // "demand", "on_demand" or the name of a term
	Share  float64    `json:"share"`            // the change as a share: -0.2 is a fifth less
	Kept   capcli.USD `json:"cost_usd"`         // cost of the plan's purchases then
	Best   capcli.USD `json:"optimum_cost_usd"` // cost of the best purchases then
	Regret capcli.USD `json:"regret_usd"`       // Kept less Best: the cost of having planned for something else
}

// Sensitivity returns the effect of a demand, on-demand price or price of a term that is lower or
// higher by a share, each by itself: the cost of the purchases, and of the best purchases. A
// changed price applies to all purchases, for the question is what was assumed.
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

// times returns c with its demand multiplied by a factor, to the thousandth of a GPU-second.
func (c *Curve) times(factor float64) *Curve {
	out := *c
	out.Work = make([]capcli.GPUTime, len(c.Work))
	for i, w := range c.Work {
		out.Work[i] = capcli.GPUTime(math.Round(float64(w) * factor))
	}
	return &out
}

// Price returns the cost of given purchases, with the rest of the demand on demand.
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
