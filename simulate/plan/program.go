package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"capcli"
)

// Program is the choice of offers that covers levels of demand in periods at
// the least cost: the sum over offers of what is bought times its cost, and
// over periods of what the levels cost that nothing covers. Costs are whole
// numbers in any unit.
type Program struct {
	Periods []Levels
	Offers  []Offer
}

// Levels are the levels of demand in one period from the lowest up, and what
// each costs where it is not covered: never more than the one under it.
type Levels []Segment

// Segment is so many levels, one on the other, of one cost each.
type Segment struct {
	Units int64
	Cost  int64
}

// Offer covers one level in the periods From, From+1, … To-1 for each unit
// bought.
type Offer struct {
	From, To int
	Cost     int64
	Max      int64 // most units; 0 is no limit
}

// limitCost keeps every sum of costs along the time line within an int64.
const limitCost = math.MaxInt64 / 8

// Check tells what is wrong with p.
func (p *Program) Check() error {
	var most int64
	for m, levels := range p.Periods {
		last := int64(math.MaxInt64)
		for _, s := range levels {
			if s.Units <= 0 || s.Cost < 0 || s.Cost > last {
				return fmt.Errorf("period %d: levels want units over 0 and costs that fall, found %d at %d after %d", m, s.Units, s.Cost, last)
			}
			last = s.Cost
		}
		if len(levels) > 0 {
			if most > limitCost-levels[0].Cost {
				return capcli.ErrOverflow
			}
			most += levels[0].Cost
		}
	}
	for i, o := range p.Offers {
		if o.From < 0 || o.From >= o.To || o.To > len(p.Periods) || o.Cost < 0 || o.Max < 0 {
			return fmt.Errorf("offer %d: covers periods %d to %d of %d at a cost of %d", i, o.From, o.To, len(p.Periods), o.Cost)
		}
		if o.Cost > limitCost {
			return capcli.ErrOverflow
		}
	}
	return nil
}

// height is how many levels the highest period has.
func (p *Program) height() (int64, error) {
	var most int64
	for _, levels := range p.Periods {
		var n int64
		for _, s := range levels {
			if n > math.MaxInt64/4-s.Units {
				return 0, errors.New("more than 2^61 levels of demand")
			}
			n += s.Units
		}
		most = max(most, n)
	}
	return most, nil
}

// Solution is the optimum of a Program and its proof.
type Solution struct {
	Bought []int64 // units of each offer
	Level  []int64 // units that cover each period
	// Price is what covering one level is worth in each period, as the proof
	// has it: no offer costs less than the prices of its periods sum to (but for
	// one bought up to its Max), and Bound, what these prices say that no choice
	// can go under, is Cost.
	Price []int64
	Cost  *big.Int
	Bound *big.Int
	Paths int // shortest paths that it took

	residual *flow
}

// uncovered is what the levels over level cost.
func (l Levels) uncovered(level int64) *big.Int {
	sum := new(big.Int)
	for _, s := range l {
		if level >= s.Units {
			level -= s.Units
			continue
		}
		sum.Add(sum, product(s.Units-level, s.Cost))
		level = 0
	}
	return sum
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
