package plan

import (
	"context"
	"math"
	"math/big"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// program makes the program in which each future counts with its weight. Where the amounts are too
// large for that, they are divided by div and rounded down. The optimum times div is then a lower
// bound and not an answer.
func (f *Field) program(weights []int64) (p *flow.Program, div int64) {
	var whole int64
	for _, w := range weights {
		whole += w
	}
	div = 1
	if need := float64(f.top) * float64(whole) / (1 << 59); need > 1 {
		div = int64(math.Ceil(need))
	}
	p = &flow.Program{Periods: make([]flow.Levels, len(f.held))}
	for m := range p.Periods {
		p.Periods[m] = f.pool(m, weights, div)
	}
	for i, x := range f.deal.options {
		p.Offers = append(p.Offers, x.offer(mulDivDown(f.cost[i], whole, div)))
	}
	return p, div
}

// pool returns the levels of one period, summed over the futures by their weights.
func (f *Field) pool(m int, weights []int64, div int64) flow.Levels {
	breaks := f.breaks[m]
	whole, rest := make([]int64, len(breaks)), make([]int64, len(breaks))
	var each int64
	for s, w := range weights {
		if w == 0 {
			continue
		}
		for _, c := range f.cells[s][m] {
			v := mulDivDown(c.whole, w, div)
			whole[c.at] += v
			rest[c.at] += mulDivDown(c.rest, w, div)
			each += v
		}
	}
	var out flow.Levels
	done := f.held[m]
	for i, lots := range breaks {
		if whole[i] == 0 && rest[i] == 0 {
			continue
		}
		out = out.Add(lots-done, each)
		done = max(done, lots)
		each -= whole[i]
		if done == lots { // the part of a lot above the whole ones is not covered yet
			out = out.Add(1, each+rest[i])
			done++
		}
	}
	return out
}

// mulDivDown returns a·b/c, rounded down; the result must fit.
func mulDivDown(a, b, c int64) int64 {
	if c == 1 {
		return a * b
	}
	return exact.Portion(a, b, c)
}

// solve returns the best choice for weighted futures, and a lower bound on the cost of every
// choice. The bound is the cost of the choice unless amounts were rounded down. within are the choices that
// count; nil is all.
func (f *Field) solve(ctx context.Context, weights []int64, within *box) (bought []int64, least *big.Int, err error) {
	p, div := f.program(weights)
	least = new(big.Int)
	if within != nil {
		if bought, least, err = within.solve(ctx, p); err != nil {
			return nil, nil, err
		}
	} else {
		s, err := flow.Solve(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		bought = s.Bought
		least.Set(s.Cost)
	}
	least.Mul(least, big.NewInt(div))
	for s, w := range weights {
		if f.base != nil {
			least.Add(least, exact.Product(w, f.base[s]))
		}
	}
	return bought, least, nil
}

// usd returns an amount of the field in dollars, rounded half up to the millionth.
func (f *Field) usd(v *big.Rat) (capcli.USD, error) { return f.deal.usd(v) }
