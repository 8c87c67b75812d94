package plan

import (
	"fmt"
	"math"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// Field is futures under one market. It computes the exact cost of any choice of purchases in each
// future, and finds the best choice for all of them together.
//
// Demands are rounded to the thousandth of a GPU, so that costs are whole numbers in a unit that
// leaves room for weighted sums of futures without rounding.
type Field struct {
	all    []int // the numbers of the futures
	sunk   []Held
	deal   *deal          // the time line, the same in all futures
	held   []int64        // lots that are committed already, by period
	breaks [][]int64      // by period: numbers of lots at which the cost of one more lot changes in some future
	cells  [][][]cell     // by future, then period
	cost   []int64        // cost of one lot of each option
	top    int64          // the highest on-demand cost of the first lot through all periods in any future, or the highest cost of an option
	curves []*Curve       // demand of each future
	pieces [][][]flow.Use // by future, then period

	weights []int64 // of the futures; nil is all alike
	base    []int64 // by future: a cost that is paid whatever is bought; nil is none
	uses    []Metered
	wanted  [][]int64 // by future, then period: GPU time wanted before the period
}

// cell is the steps of a period in which a future wants at least some lots and less than one more.
type cell struct {
	wanted      int64 // these lots
	at          int   // their index in the breaks of the period
	whole, rest int64 // on-demand cost, in these steps, of one whole lot and of the part of a lot above the whole ones

	wholes, lots int64 // sums over this and all later cells: of whole, and of whole·lots + rest
}

// Held is GPUs that are committed already, in thousandths. From and To are seconds from the start
// of the futures. Their cost is sunk.
type Held struct {
	From, To capcli.Seconds
	Milli    int64
}

// NewField returns the field of futures in a market. Held GPUs are part of every plan, and cost
// nothing.
func NewField(f *Futures, m *Market, held ...Held) (*Field, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	var curves []*Curve
	for i, path := range f.Paths {
		milli := capcli.Map(path, func(v float64) float64 { return math.Round(v*1000) / 1000 })
		c, err := NewCurve(f.Grid.Origin, f.Grid.Step, milli)
		if err != nil {
			return nil, fmt.Errorf("future %d: %w", i, err)
		}
		c.exact(milli)
		curves = append(curves, c)
	}
	return fieldOf(curves, m, held)
}

// fieldOf returns the field of demands on the same steps in a market.
func fieldOf(curves []*Curve, m *Market, held []Held) (*Field, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m = m.AfterHeld(held)
	out := &Field{all: allOf(len(curves)), sunk: held}
	for _, c := range curves {
		c, err := m.Extend(c)
		if err != nil {
			return nil, err
		}
		out.curves = append(out.curves, c)
	}
	var cuts []capcli.Seconds
	for _, h := range held {
		cuts = append(cuts, h.From, h.To)
	}
	deals := make([]*deal, len(out.curves))
	var err error
	if deals[0], err = layOut(out.curves[0], m, cuts...); err != nil {
		return nil, err
	}
	out.deal = deals[0]
	for i := 1; i < len(deals); i++ {
		d := *out.deal
		d.c = out.curves[i]
		if err := d.cut(); err != nil {
			return nil, err
		}
		deals[i] = &d
	}
	for _, d := range deals {
		out.pieces = append(out.pieces, d.pieces)
	}
	if err := out.hold(held); err != nil {
		return nil, err
	}
	if err := out.fill(deals); err != nil {
		return nil, err
	}
	out.wanted = out.sumWanted()
	return out, nil
}

// exact sets the work of each step to a whole number of thousandths of a GPU, where binary
// fractions missed it.
func (c *Curve) exact(gpus []float64) {
	for i, v := range gpus {
		c.Work[i] = capcli.GPUTime(int64(math.Round(v*1000)) * int64(c.StepStart(i+1)-c.StepStart(i)))
	}
}

// hold sums the held lots by period; a part of a lot does not count.
func (f *Field) hold(held []Held) error {
	f.held = make([]int64, len(f.deal.edges)-1)
	milli := make([]int64, len(f.held))
	for _, h := range held {
		if h.Milli < 0 || h.To <= h.From || h.Milli > 1e15 {
			return fmt.Errorf("held: expected GPUs from one instant to a later one, found %d thousandths from %d to %d", h.Milli, h.From, h.To)
		}
		for m := range milli {
			if h.From <= f.deal.edges[m] && f.deal.edges[m+1] <= h.To {
				milli[m] += h.Milli
			}
		}
	}
	for m, v := range milli {
		f.held[m] = v / f.deal.m.lot()
	}
	return nil
}

// fill computes the unit and the cells.
func (f *Field) fill(deals []*deal) error {
	if err := f.measure(deals); err != nil {
		return err
	}
	f.breaks = make([][]int64, len(f.held))
	f.cells = make([][][]cell, len(deals))
	for s := range deals {
		f.cells[s] = make([][]cell, len(f.held))
	}
	tops := make([]int64, len(deals))
	var l layer
	for m := range f.held {
		l.stack(deals, m)
		f.breaks[m] = l.breaks
		for s := range deals {
			cells, err := f.cellsOf(&l, s)
			if err != nil {
				return err
			}
			if len(cells) > 0 {
				tops[s] += cells[0].wholes + cells[0].rest
			}
			if tops[s] > flow.LimitCost || tops[s] < 0 {
				return capcli.ErrOverflow
			}
			f.cells[s][m] = cells
		}
	}
	f.top = max(f.top, slices.Max(tops))
	for _, c := range f.cost {
		f.top = max(f.top, c)
	}
	f.top = max(f.top, 1)
	return nil
}

// measure finds the largest unit in which every cost is whole, and the cost of a lot of each option
// in it.
func (f *Field) measure(deals []*deal) error {
	lot := f.deal.m.lot()
	var unit, rates int64
	for _, d := range deals {
		for _, ps := range d.pieces {
			for _, p := range ps {
				size := lot * p.Duration
				if rest := p.Work % size; unit == 0 || size%unit != 0 || rest%unit != 0 {
					unit = exact.GCD(exact.GCD(unit, size), rest)
				}
				if rates == 0 || p.Rate%rates != 0 {
					rates = exact.GCD(rates, p.Rate)
				}
			}
		}
	}
	for _, x := range f.deal.options {
		unit, rates = exact.GCD(unit, lot*int64(x.until-x.from)), exact.GCD(rates, x.rate)
	}
	unit, rates = max(unit, 1), max(rates, 1)
	if f.base != nil { // a millionth of a dollar is whole too
		unit = exact.GCD(unit, 1000*int64(capcli.Hour))
		rates = exact.GCD(rates, 1000*int64(capcli.Hour)/unit)
	}
	whole, err := exact.Times(unit, rates)
	if err != nil {
		return err
	}
	f.deal.unit = whole // the factor of usd
	f.deal.parts = [2]int64{unit, rates}
	for _, x := range f.deal.options {
		cost, err := exact.Times(x.rate/rates, lot*int64(x.until-x.from)/unit)
		if err != nil {
			return err
		}
		if cost > flow.LimitCost {
			return capcli.ErrOverflow
		}
		f.cost = append(f.cost, cost)
	}
	return nil
}

// Count returns the number of futures.
func (f *Field) Count() int { return len(f.cells) }

// levels returns the lots that are covered in each period by a choice and by held GPUs.
func (f *Field) levels(bought []int64) []int64 {
	change := make([]int64, len(f.held)+1)
	for i, n := range bought {
		if n != 0 {
			change[f.deal.options[i].first] += n
			change[f.deal.options[i].last] -= n
		}
	}
	out := make([]int64, len(f.held))
	var level int64
	for m := range out {
		level += change[m]
		out[m] = level + f.held[m]
	}
	return out
}

// costs returns the cost of a choice in each of the futures in; in all futures where none is named.
func (f *Field) costs(bought []int64, in ...int) ([]int64, error) {
	levels := f.levels(bought)
	var fixed int64
	for i, n := range bought {
		cost, err := exact.Times(n, f.cost[i])
		if err != nil || fixed > math.MaxInt64/2-cost {
			return nil, capcli.ErrOverflow
		}
		fixed += cost
	}
	if in == nil {
		in = f.all
	}
	out := make([]int64, len(in))
	for i, s := range in {
		sum := fixed
		if f.base != nil {
			sum += f.base[s]
		}
		for m, level := range levels {
			more := f.uncovered(s, m, level)
			if sum > math.MaxInt64-more {
				return nil, capcli.ErrOverflow
			}
			sum += more
		}
		out[i] = sum
	}
	return out, nil
}

// uncovered returns the on-demand cost of the demand above a level in one period of a future.
func (f *Field) uncovered(s, m int, level int64) int64 {
	cells := f.cells[s][m]
	lo, hi := 0, len(cells)
	for lo < hi { // the first cell at or above the level
		if mid := int(uint(lo+hi) / 2); cells[mid].wanted < level {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(cells) {
		return 0
	}
	return cells[lo].lots - level*cells[lo].wholes
}
