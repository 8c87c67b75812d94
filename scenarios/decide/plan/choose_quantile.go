package plan

import (
	"context"
	"math/big"
	"slices"

	"capcli"
)

// OptimumOfEach returns the optimum of each future by itself, as if it were known.
func (f *Field) OptimumOfEach(ctx context.Context) ([]*Choice, error) {
	return capcli.MapParallel(ctx, allOf(f.Count()), nil, f.chooseAlone)
}

func (f *Field) chooseAlone(ctx context.Context, s int) (*Choice, error) {
	weights := make([]int64, f.Count())
	weights[s] = 1
	bought, least, err := f.solve(ctx, weights, nil)
	if err != nil {
		return nil, err
	}
	costs, err := f.costs(bought)
	if err != nil {
		return nil, err
	}
	return &Choice{Costs: costs, Value: new(big.Rat).SetInt64(costs[s]), Bound: new(big.Rat).SetInt(least), Rounds: 1, bought: bought}, nil
}

// quantile returns the choice with the least quantile of its costs that it finds.
func (f *Field) quantile(ctx context.Context, risk Risk) (*Choice, error) {
	alone, err := f.OptimumOfEach(ctx)
	if err != nil {
		return nil, err
	}
	return f.quantileFrom(ctx, risk, alone)
}

func (f *Field) quantileFrom(ctx context.Context, risk Risk, alone []*Choice) (*Choice, error) {
	own := make([]int64, len(alone))
	for s, c := range alone {
		own[s] = c.Costs[s]
	}
	bound := risk.MeasureWeighted(own, f.weights)
	var best *Choice
	keep := func(c *Choice) bool {
		value := risk.MeasureWeighted(c.Costs, f.weights)
		if best != nil && value.Cmp(best.Value) >= 0 {
			return false
		}
		best = &Choice{Costs: c.Costs, Value: value, Bound: bound, bought: c.bought}
		return true
	}
	for _, c := range alone {
		keep(c)
	}
	rounds := len(alone)
	for _, start := range []Risk{{}, {Kind: CVaR, Level: one / 2}, {Kind: CVaR, Level: risk.Level}} {
		c, err := f.Choose(ctx, start)
		if err != nil {
			return nil, err
		}
		rounds += c.Rounds
		for range 6 {
			keep(c)
			h := &hunt{f: f, risk: risk, in: risk.cheapest(c.Costs, f.weights)}
			h.evenLimits()
			if err := h.run(ctx); err != nil {
				return nil, err
			}
			rounds += h.rounds
			if same := slices.Equal(risk.cheapest(h.best.Costs, f.weights), h.in); !keep(h.best) || same {
				break
			}
			c = h.best
		}
	}
	best.Rounds = rounds
	return best, nil
}
