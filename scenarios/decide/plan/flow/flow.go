package flow

import (
	"context"
	"errors"
	"math"
	"math/big"

	"capcli/simulate/exact"
)

// flow is the state of the search. Each level of demand is a unit that flows from the first instant
// to the last. It flows along offers, which skip their periods, or through single periods at the
// cost of an uncovered level. A unit may flow backwards through a period free of charge: then more
// is bought than there are levels.
type flow struct {
	p       *Program
	whole   *Program // the program in whole units of cost, of which a unit of p is one part of parts
	parts   int64
	height  int64
	arcs    []arc
	bought  []int64
	out, in [][]int // offers by the instant where they start and where they end
	price   []int64 // potential of each instant

	dist []int64
	from []hop
	heap []entry
}

// arc is a period: the levels that flow through it, the cheapest (highest) first. The first segment
// is the space above the demand, and costs nothing.
type arc struct {
	segs []Segment
	at   int   // segment of the next unit
	used int64 // units used of that segment
}

// hop is the last hop of a shortest path to an instant.
type hop struct {
	offer int // index of the offer; -1 is a period
	back  bool
}

type entry struct {
	dist int64
	node int
}

const unlimited = math.MaxInt64

func newFlow(p *Program) (*flow, error) {
	height, err := p.height()
	if err != nil {
		return nil, err
	}
	n := len(p.Periods) + 1
	f := &flow{
		p: p, height: height, bought: make([]int64, len(p.Offers)), price: make([]int64, n),
		arcs: make([]arc, n-1), out: make([][]int, n), in: make([][]int, n), dist: make([]int64, n), from: make([]hop, n),
	}
	for m, levels := range p.Periods {
		a := &f.arcs[m]
		over := height
		a.segs = append(a.segs, Segment{})
		for i := len(levels) - 1; i >= 0; i-- {
			a.segs = append(a.segs, levels[i])
			over -= levels[i].Units
		}
		a.segs[0].Units = over
		a.settle()
	}
	for i, o := range p.Offers {
		f.out[o.From] = append(f.out[o.From], i)
		f.in[o.To] = append(f.in[o.To], i)
	}
	return f, nil
}

// settle moves on to the segment of the next unit.
func (a *arc) settle() {
	for a.at < len(a.segs)-1 && a.used == a.segs[a.at].Units {
		a.at, a.used = a.at+1, 0
	}
}

// nextUnit returns the cost of the next unit, and how many units cost the same.
func (a *arc) nextUnit() (cost, room int64) {
	return a.segs[a.at].Cost, a.segs[a.at].Units - a.used
}

// lastUnit returns the cost of the last unit, and how many units cost the same.
func (a *arc) lastUnit() (cost, room int64) {
	at, used := a.at, a.used
	if used == 0 && at > 0 {
		at--
		used = a.segs[at].Units
	}
	if at == 0 {
		return 0, unlimited
	}
	return a.segs[at].Cost, used
}

func (a *arc) push(n int64) {
	a.used += n
	a.settle()
}

func (a *arc) pull(n int64) {
	if a.used == 0 && a.at > 0 {
		a.at--
		a.used = a.segs[a.at].Units
	}
	a.used -= n
}

// Solve returns the optimum of p with its proof. It fails with ErrNotProven where the proof fails,
// and with the cause of ctx where that ends.
//
// The method is successive shortest paths (Ahuja, Magnanti and Orlin 1993, chapter 9.7, with the
// convex costs of chapter 14): levels are added from the cheapest up, each group along a shortest
// path. One path costs O(offers + periods·log periods); there are about as many paths as steps at
// which the cost of a level changes.
func Solve(ctx context.Context, p *Program) (*Solution, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if fine, parts := p.withTies(); parts > 1 {
		s, err := fine.solve(ctx, p, parts)
		if err == nil || !errors.Is(err, ErrNotProven) {
			return s, err
		}
	}
	return p.solve(ctx, p, 1)
}

// solve solves p, whose costs are those of another program in parts of a unit, and returns the
// solution of that program with its proof.
func (p *Program) solve(ctx context.Context, whole *Program, parts int64) (*Solution, error) {
	f, err := newFlow(p)
	if err != nil {
		return nil, err
	}
	paths := 0
	for left := f.height; left > 0; paths++ {
		if paths%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.search(0, len(f.arcs))
		f.reprice(len(f.arcs))
		left -= f.augment(left)
	}
	f.whole, f.parts = whole, parts
	s := f.solution()
	return s, whole.Prove(s)
}

// search finds shortest paths from one instant to the others, until it reaches to (Dijkstra 1959,
// on costs reduced by the potentials, which are never negative: Edmonds and Karp 1972).
func (f *flow) search(from, to int) {
	for i := range f.dist {
		f.dist[i] = unlimited
	}
	f.dist[from] = 0
	f.heap = append(f.heap[:0], entry{0, from})
	for len(f.heap) > 0 {
		e := f.pop()
		if e.dist > f.dist[e.node] {
			continue
		}
		if e.node == to {
			return
		}
		f.relax(e)
	}
}

// relax tries every hop that leaves an instant.
func (f *flow) relax(e entry) {
	v := e.node
	base := e.dist + f.price[v]
	if v < len(f.arcs) {
		if cost, room := f.arcs[v].nextUnit(); room > 0 {
			f.reach(v+1, base+cost, hop{-1, false})
		}
	}
	if v > 0 {
		cost, _ := f.arcs[v-1].lastUnit()
		f.reach(v-1, base-cost, hop{-1, true})
	}
	for _, i := range f.out[v] {
		if o := &f.p.Offers[i]; o.Max == 0 || f.bought[i] < o.Max {
			f.reach(o.To, base+o.Cost, hop{i, false})
		}
	}
	for _, i := range f.in[v] {
		if f.bought[i] > 0 {
			f.reach(f.p.Offers[i].From, base-f.p.Offers[i].Cost, hop{i, true})
		}
	}
}

func (f *flow) reach(v int, dist int64, by hop) {
	if d := dist - f.price[v]; d < f.dist[v] {
		f.dist[v], f.from[v] = d, by
		f.put(entry{d, v})
	}
}

// reprice adds the distances of the last search to the potentials.
func (f *flow) reprice(to int) {
	most := f.dist[to]
	for v, d := range f.dist {
		f.price[v] += min(d, most)
	}
}

// augment sends as many units as possible, at most left, along the path of the last search, and
// returns how many.
func (f *flow) augment(left int64) int64 {
	f.walk(len(f.arcs), func(by hop, period int) {
		switch {
		case by.offer < 0 && by.back:
			_, room := f.arcs[period].lastUnit()
			left = min(left, room)
		case by.offer < 0:
			_, room := f.arcs[period].nextUnit()
			left = min(left, room)
		case by.back:
			left = min(left, f.bought[by.offer])
		case f.p.Offers[by.offer].Max > 0:
			left = min(left, f.p.Offers[by.offer].Max-f.bought[by.offer])
		}
	})
	f.walk(len(f.arcs), func(by hop, period int) {
		switch {
		case by.offer < 0 && by.back:
			f.arcs[period].pull(left)
		case by.offer < 0:
			f.arcs[period].push(left)
		case by.back:
			f.bought[by.offer] -= left
		default:
			f.bought[by.offer] += left
		}
	})
	return left
}

// walk calls do for each hop of the path from an instant back to the first.
func (f *flow) walk(v int, do func(by hop, period int)) {
	for v != 0 {
		by := f.from[v]
		switch {
		case by.offer < 0 && by.back:
			do(by, v)
			v++
		case by.offer < 0:
			do(by, v-1)
			v--
		case by.back:
			do(by, 0)
			v = f.p.Offers[by.offer].To
		default:
			do(by, 0)
			v = f.p.Offers[by.offer].From
		}
	}
}

func (f *flow) solution() *Solution {
	s := &Solution{Bought: f.bought, Price: make([]int64, len(f.arcs)), Level: make([]int64, len(f.arcs)), residual: f}
	var cost exact.Sum
	for m := range f.arcs {
		s.Price[m] = f.units(f.price[m+1]) - f.units(f.price[m])
	}
	change := make([]int64, len(f.arcs)+1)
	for i, o := range f.whole.Offers {
		change[o.From] += f.bought[i]
		change[o.To] -= f.bought[i]
		cost.Add(f.bought[i], o.Cost)
	}
	var level int64
	for m := range f.arcs {
		level += change[m]
		s.Level[m] = level
		f.whole.Periods[m].addUncovered(&cost, level)
	}
	s.Cost = cost.Int()
	s.Bound, _ = f.whole.Bound(s.Price) // Prove reports its errors
	if s.Bound == nil {
		s.Bound = new(big.Int)
	}
	return s
}

// Worth returns the saving from one more unit that covers a period free of charge: exactly, not at
// the margin.
func (s *Solution) Worth(period int) int64 {
	f := s.residual
	f.search(period+1, period)
	return f.units(f.price[period+1] - f.price[period] - f.dist[period])
}

// put and pop maintain the heap.
func (f *flow) put(e entry) {
	f.heap = append(f.heap, e)
	i := len(f.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !f.heap[i].precedes(f.heap[up]) {
			break
		}
		f.heap[i], f.heap[up] = f.heap[up], f.heap[i]
		i = up
	}
}

func (f *flow) pop() entry {
	top, last := f.heap[0], len(f.heap)-1
	f.heap[0] = f.heap[last]
	f.heap = f.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && f.heap[down+1].precedes(f.heap[down]) {
			down++
		}
		if !f.heap[down].precedes(f.heap[i]) {
			break
		}
		f.heap[i], f.heap[down] = f.heap[down], f.heap[i]
		i = down
	}
	return top
}

func (e entry) precedes(o entry) bool { return e.dist < o.dist || e.dist == o.dist && e.node < o.node }
