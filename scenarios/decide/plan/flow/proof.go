package flow

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"capcli/simulate/exact"
)

// ErrNotProven means that an optimum failed its own proof. That is a bug, and no answer may be
// given.
var ErrNotProven = errors.New("the optimum could not be proven")

// Prove checks from s alone that it is the optimum of p: the purchases give the levels and the
// cost, and the prices give the same amount as a lower bound. The rest is weak duality: for any
// prices λ ≥ 0 and any choice,
//
//	cost ≥ Σ over periods and levels min(λ, cost of the level) − Σ over offers Max·max(0, Σλ − cost),
//
// where an offer without a Max must not cost less than its Σλ.
func (p *Program) Prove(s *Solution) error {
	cost, err := p.price(s)
	if err != nil {
		return err
	}
	bound, err := p.Bound(s.Price)
	if err != nil {
		return err
	}
	if cost.Cmp(s.Cost) != 0 || bound.Cmp(s.Bound) != 0 || cost.Cmp(bound) != 0 {
		return fmt.Errorf("%w: it costs %v (said %v), and the prices prove %v (said %v)", ErrNotProven, cost, s.Cost, bound, s.Bound)
	}
	return nil
}

// price recomputes the cost of the purchases of s.
func (p *Program) price(s *Solution) (*big.Int, error) {
	cost, levels, err := p.sum(s.Bought)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(levels, s.Level) {
		return nil, fmt.Errorf("%w: the periods are covered by %d, said %d", ErrNotProven, levels, s.Level)
	}
	return cost, nil
}

// Cost returns the cost of these units of each offer, with that of the uncovered levels.
func (p *Program) Cost(bought []int64) (*big.Int, error) {
	cost, _, err := p.sum(bought)
	return cost, err
}

// sum returns the cost of purchases, and the levels that they cover.
func (p *Program) sum(bought []int64) (*big.Int, []int64, error) {
	if len(bought) != len(p.Offers) {
		return nil, nil, fmt.Errorf("%w: %d purchases of %d offers", ErrNotProven, len(bought), len(p.Offers))
	}
	var sum exact.Sum
	change := make([]int64, len(p.Periods)+1)
	for i, o := range p.Offers {
		n := bought[i]
		if n < 0 || o.Max > 0 && n > o.Max {
			return nil, nil, fmt.Errorf("%w: %d of offer %d bought, at most %d", ErrNotProven, n, i, o.Max)
		}
		change[o.From] += n
		change[o.To] -= n
		sum.Add(n, o.Cost)
	}
	var level int64
	covered := make([]int64, len(p.Periods))
	for m, levels := range p.Periods {
		level += change[m]
		covered[m] = level
		levels.addUncovered(&sum, level)
	}
	return sum.Int(), covered, nil
}

// Bound returns the lower bound on the cost of every choice that prices of the periods prove. It
// fails with ErrNotProven where prices prove nothing: negative ones, or prices above the cost of an
// offer without a limit.
func (p *Program) Bound(prices []int64) (*big.Int, error) {
	if len(prices) != len(p.Periods) {
		return nil, fmt.Errorf("%w: %d prices of %d periods", ErrNotProven, len(prices), len(p.Periods))
	}
	var worth exact.Sum
	upTo := make([]int64, len(prices)+1)
	for m, levels := range p.Periods {
		if prices[m] < 0 || prices[m] > LimitCost || upTo[m] > LimitCost-prices[m] {
			return nil, fmt.Errorf("%w: the price of period %d is %d", ErrNotProven, m, prices[m])
		}
		upTo[m+1] = upTo[m] + prices[m]
		for _, seg := range levels {
			worth.Add(seg.Units, min(seg.Cost, prices[m]))
		}
	}
	sum := worth.Int()
	for i, o := range p.Offers {
		over := upTo[o.To] - upTo[o.From] - o.Cost
		switch {
		case over <= 0:
		case o.Max == 0:
			return nil, fmt.Errorf("%w: offer %d costs %d less than its periods are worth", ErrNotProven, i, over)
		default:
			sum.Sub(sum, exact.Product(o.Max, over))
		}
	}
	return sum, nil
}
