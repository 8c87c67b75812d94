// Package flow covers levels of demand along a time line at the least cost, and proves the optimum.
//
// An offer covers an unbroken run of periods, so the matrix of the program has the consecutive-ones
// property and is totally unimodular (Fulkerson and Gross 1965). The program is a flow on the time
// line, whose optimum in whole numbers is the optimum. Solve finds it by successive shortest paths,
// and proves it with prices that give the same amount as a lower bound (Program.Prove).
package flow

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"capcli/simulate/exact"

	"capcli"
)

// Program is the choice of offers that covers levels of demand in periods at the least cost. The
// cost is the sum of the purchases, units times cost of each offer, and of the levels that no offer
// covers. Costs are whole numbers in any unit.
type Program struct {
	Periods []Levels
	Offers  []Offer
}

// Levels are the levels of demand in one period from the lowest up, with the cost of each if
// uncovered: never more than that of the level below.
type Levels []Segment

// Segment is a number of consecutive levels with one cost each.
type Segment struct {
	Units int64
	Cost  int64
}

// Offer covers one level in the periods From, From+1, … To-1 for each unit bought.
type Offer struct {
	From, To int
	Cost     int64
	Max      int64 // most units; 0 is no limit
	Tie      int64 // of choices that cost the same, Solve takes one with the least sum of units times Tie
}

// LimitCost is the largest cost, so that every sum of costs along the time line fits an int64.
const LimitCost = math.MaxInt64 / 8

// Check returns an error where levels or offers are invalid or their costs too large.
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
			if most > LimitCost-levels[0].Cost {
				return capcli.ErrOverflow
			}
			most += levels[0].Cost
		}
	}
	for i, o := range p.Offers {
		if o.From < 0 || o.From >= o.To || o.To > len(p.Periods) || o.Cost < 0 || o.Max < 0 || o.Tie < 0 {
			return fmt.Errorf("offer %d: covers periods %d to %d of %d at a cost of %d", i, o.From, o.To, len(p.Periods), o.Cost)
		}
		if o.Cost > LimitCost {
			return capcli.ErrOverflow
		}
	}
	return nil
}

// height returns the number of levels of the highest period.
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
	// Price is the shadow price of a level in each period, from the proof. No offer costs less than
	// the sum of the prices of its periods, except one bought up to its Max. Bound, the lower bound
	// on every choice that these prices prove, equals Cost.
	Price []int64
	Cost  *big.Int
	Bound *big.Int

	residual *flow
}

// Uncovered returns the cost of the levels above level.
func (l Levels) Uncovered(level int64) *big.Int {
	var sum exact.Sum
	l.addUncovered(&sum, level)
	return sum.Int()
}

// addUncovered adds the cost of the levels above level to a sum.
func (l Levels) addUncovered(sum *exact.Sum, level int64) {
	for _, s := range l {
		if level >= s.Units {
			level -= s.Units
			continue
		}
		sum.Add(s.Units-level, s.Cost)
		level = 0
	}
}

// Use is a demand over a span of time: its work in thousandths of GPU-seconds, its duration in
// seconds, and its on-demand rate.
type Use struct{ Work, Duration, Rate int64 }

// Stack returns the levels of the uses of a period, in lots of the given thousandths of a GPU. The
// k-th level costs what the part of the demand between k-1 and k lots costs. unit divides the cost
// of a lot through each use.
func Stack(uses []Use, lot, unit int64) (Levels, error) {
	type share struct{ lots, whole, rest int64 } // whole lots, cost of each, and cost of the part of a lot above them
	var shares []share
	var each int64 // cost of a lot that all uses want
	for _, u := range uses {
		if u.Work == 0 || u.Rate == 0 {
			continue
		}
		size := lot * u.Duration
		whole, err := exact.Times(u.Rate, size/unit)
		if err != nil || each > LimitCost-whole {
			return nil, capcli.ErrOverflow
		}
		each += whole
		shares = append(shares, share{u.Work / size, whole, u.Rate * (u.Work % size / unit)})
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.lots, b.lots) })
	var out Levels
	var done int64
	for i := 0; i < len(shares); {
		lots := shares[i].lots
		out = out.Add(lots-done, each)
		part := int64(0)
		for ; i < len(shares) && shares[i].lots == lots; i++ {
			each -= shares[i].whole
			part += shares[i].rest
		}
		out = out.Add(1, each+part)
		done = lots + 1
	}
	return out, nil
}

// Add returns l with more levels on top, of one cost each.
func (l Levels) Add(units, cost int64) Levels {
	switch {
	case units <= 0 || cost == 0:
		return l
	case len(l) > 0 && l[len(l)-1].Cost == cost:
		l[len(l)-1].Units += units
		return l
	}
	return append(l, Segment{units, cost})
}
