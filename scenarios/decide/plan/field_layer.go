package plan

import (
	"math"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// layer is one period of all futures while a Field is laid out. Its memory serves one period after the other.
type layer struct {
	pieces [][]flow.Use // by future
	lots   [][]int64    // by future, then piece: the whole lots that it wants; -1 where it costs nothing
	breaks []int64      // numbers of lots that some piece wants, rising
	least  int64        // the first of the breaks
	place  []int32      // by lots above least: index in breaks; nil where the breaks lie far apart

	cells   []cell // by index in breaks: sums of one future
	touched []int  // indexes that the future has
}

// stack fills in a period of some demands.
func (l *layer) stack(deals []*deal, m int) {
	l.pieces, l.lots = slices.Grow(l.pieces[:0], len(deals))[:len(deals)], slices.Grow(l.lots[:0], len(deals))[:len(deals)]
	count, least, most := 0, int64(math.MaxInt64), int64(-1)
	for s, d := range deals {
		lot := d.m.lot()
		l.pieces[s] = d.pieces[m]
		lots := l.lots[s][:0]
		for _, p := range d.pieces[m] {
			n := int64(-1)
			if p.Work > 0 && p.Rate > 0 {
				n = p.Work / (lot * p.Duration)
				count, least, most = count+1, min(least, n), max(most, n)
			}
			lots = append(lots, n)
		}
		l.lots[s] = lots
	}
	l.least, l.breaks, l.place = least, nil, l.place[:0]
	if span := most - least; count > 0 && span < 4*int64(count) {
		l.mark(int(span) + 1)
	} else {
		l.sort(count)
	}
	l.cells = slices.Grow(l.cells[:0], len(l.breaks))[:len(l.breaks)]
	clear(l.cells)
}

// mark finds the breaks by a table of all numbers of lots between the first and the last.
func (l *layer) mark(span int) {
	l.place = slices.Grow(l.place, span)[:span]
	clear(l.place)
	for _, lots := range l.lots {
		for _, n := range lots {
			if n >= 0 {
				l.place[n-l.least] = 1
			}
		}
	}
	for i, there := range l.place {
		if there > 0 {
			l.place[i] = int32(len(l.breaks))
			l.breaks = append(l.breaks, l.least+int64(i))
		}
	}
}

func (l *layer) sort(count int) {
	l.breaks = make([]int64, 0, count)
	for _, lots := range l.lots {
		for _, n := range lots {
			if n >= 0 {
				l.breaks = append(l.breaks, n)
			}
		}
	}
	slices.Sort(l.breaks)
	l.breaks = slices.Compact(l.breaks)
}

func (l *layer) indexOf(lots int64) int {
	if len(l.place) > 0 {
		return int(l.place[lots-l.least])
	}
	i, _ := slices.BinarySearch(l.breaks, lots)
	return i
}

// cellsOf groups the steps of a future in a layer by the number of lots that they want.
func (f *Field) cellsOf(l *layer, s int) ([]cell, error) {
	lot, unit, rates := f.deal.m.lot(), f.deal.parts[0], f.deal.parts[1]
	l.touched = l.touched[:0]
	var last flow.Use // the piece before, and what a lot of it costs
	var whole, each int64
	for i, p := range l.pieces[s] {
		n := l.lots[s][i]
		if n < 0 {
			continue
		}
		size := lot * p.Duration
		if p.Rate != last.Rate || p.Duration != last.Duration {
			var err error
			if whole, err = exact.Times(p.Rate/rates, size/unit); err != nil {
				return nil, err
			}
			last, each = p, p.Rate/rates
		}
		at := l.indexOf(n)
		c := &l.cells[at]
		if c.whole == 0 {
			l.touched = append(l.touched, at)
		}
		c.whole += whole
		c.rest += each * ((p.Work - n*size) / unit)
	}
	slices.Sort(l.touched)
	cells := make([]cell, len(l.touched))
	var wholes, lots int64
	for i := len(cells) - 1; i >= 0; i-- {
		at := l.touched[i]
		c := &cells[i]
		*c = cell{wanted: l.breaks[at], at: at, whole: l.cells[at].whole, rest: l.cells[at].rest}
		l.cells[at] = cell{}
		over, err := exact.Times(c.whole, c.wanted)
		if err != nil || over > math.MaxInt64/2-c.rest || lots > math.MaxInt64/2-over-c.rest {
			return nil, capcli.ErrOverflow
		}
		wholes, lots = wholes+c.whole, lots+over+c.rest
		c.wholes, c.lots = wholes, lots
	}
	return cells, nil
}
