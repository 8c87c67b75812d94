package flow

import "slices"

// withTies returns p with its costs in parts of a unit, so fine that the ties of the offers decide
// between choices of equal cost and never between others; parts is the number of parts. It returns
// 1 where no offer has a Tie, or where amounts leave no room.
//
// A shortest path takes each offer once, so its ties sum to at most the sum S of all ties. The
// potential of an instant is the sum of three path costs at most. So it lies within 3S parts of a
// whole number of units, and with 16 (S + 1) parts that number is the nearest one.
func (p *Program) withTies() (fine *Program, parts int64) {
	var sum int64
	for i := range p.Offers {
		if sum += p.Offers[i].Tie; sum > LimitCost/64 {
			return p, 1
		}
	}
	if sum == 0 {
		return p, 1
	}
	parts = 16 * (sum + 1)
	fine = &Program{Periods: make([]Levels, len(p.Periods)), Offers: slices.Clone(p.Offers)}
	for m, levels := range p.Periods {
		fine.Periods[m] = slices.Clone(levels)
		for k := range levels {
			if levels[k].Cost > LimitCost/parts {
				return p, 1
			}
			fine.Periods[m][k].Cost *= parts
		}
	}
	for i := range fine.Offers {
		o := &fine.Offers[i]
		if o.Cost > LimitCost/parts-1 {
			return p, 1
		}
		o.Cost = o.Cost*parts + o.Tie
	}
	if fine.Check() != nil {
		return p, 1
	}
	return fine, parts
}

// units returns an amount in parts as the nearest whole number of units.
func (f *flow) units(v int64) int64 {
	if f.parts == 1 {
		return v
	}
	half := f.parts / 2
	if v < 0 {
		return -((half - v) / f.parts)
	}
	return (v + half) / f.parts
}
