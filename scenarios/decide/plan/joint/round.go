package joint

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// tally is purchases in whole units, with the uncovered cost of each period.
type tally struct {
	p      *problem
	units  []int64
	levels [][]float64
	rest   []float64 // by period: cost of the uncovered use
	cuts   []cut     // by period: a lower bound on rest at other levels; 0 where nothing may move
	open   *coverage
}

func (p *problem) tally(units []int64) *tally {
	x := capcli.Map(units, func(n int64) float64 { return float64(n) })
	t := &tally{p: p, units: units, levels: p.levelsOf(x), open: p.newCoverage(), rest: make([]float64, len(p.periods)), cuts: make([]cut, len(p.periods))}
	for i := range t.rest {
		t.look(i)
	}
	return t
}

// look computes the cost of a period's uncovered use at the present levels. Where work moves, it
// also computes the cut there, which costs less than the splits that it spares.
func (t *tally) look(i int) {
	t.rest[i] = t.p.uncovered(i, t.levels[i], t.open)
	if len(t.p.Moves) > 0 {
		t.cuts[i] = t.p.cutAt(i, t.levels[i], t.open)
	}
}

// move is a change in the units of one column.
type move struct {
	column int
	by     int64
}

// gain returns the saving of some moves in millionths of a dollar, or where there is none a number
// that is not above 0: -Inf where one leaves the limits of its column.
func (t *tally) gain(moves ...move) float64 {
	sum := 0.0
	from, to := len(t.rest), 0
	for _, m := range moves {
		k := &t.p.columns[m.column]
		if n := t.units[m.column] + m.by; n < 0 || n > k.most {
			return math.Inf(-1)
		}
		sum -= float64(m.by) * float64(k.cost)
		from, to = min(from, k.from), max(to, k.to)
	}
	t.shift(1, moves)
	defer t.shift(-1, moves)
	for i := from; i < to; i++ { // the most that the cuts leave possible
		sum += t.rest[i] - max(0, t.cuts[i].value(t.levels[i]))
	}
	for i := from; i < to && sum > 0; i++ {
		sum -= t.p.uncovered(i, t.levels[i], t.open) - max(0, t.cuts[i].value(t.levels[i]))
	}
	return sum
}

// shift adds moves to the levels, times times.
func (t *tally) shift(times float64, moves []move) {
	for _, m := range moves {
		k := &t.p.columns[m.column]
		for i := k.from; i < k.to; i++ {
			t.levels[i][k.dim] += times * float64(m.by)
		}
	}
}

func (t *tally) apply(moves ...move) {
	t.shift(1, moves)
	for _, m := range moves {
		t.units[m.column] += m.by
		k := &t.p.columns[m.column]
		for i := k.from; i < k.to; i++ {
			t.look(i)
		}
	}
}

// maxPolish is the most passes over all columns.
const maxPolish = 50

// round rounds fractional purchases to whole units. It then improves them by changes of one column,
// in steps that halve, and by swaps between two columns that share a period, as long as one saves
// over a millionth of a dollar.
func (p *problem) round(ctx context.Context, x []float64) ([]int64, error) {
	units := make([]int64, len(x))
	for i, v := range x {
		units[i] = min(int64(math.Round(v)), p.columns[i].most)
	}
	t := p.tally(units)
	for range maxPolish {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		moved := t.single()
		if t.swaps() {
			moved = true
		}
		if !moved {
			break
		}
	}
	return t.units, nil
}

// single tries changes of each column; it reports whether one helped.
func (t *tally) single() bool {
	any := false
	for j := range t.units {
		for step := max(t.units[j]/2, 1); step > 0; step /= 2 {
			for _, by := range []int64{step, -step} {
				for t.gain(move{j, by}) > 1 {
					t.apply(move{j, by})
					any = true
				}
			}
		}
	}
	return any
}

// swaps tries to exchange units of a column that is bought for units of another; it reports whether
// one helped.
func (t *tally) swaps() bool {
	any := false
	for i := range t.units {
		if t.units[i] == 0 {
			continue
		}
		a := &t.p.columns[i]
		for j := range t.units {
			b := &t.p.columns[j]
			if i == j || b.to <= a.from || b.from >= a.to || t.units[i] == 0 {
				continue
			}
			for _, n := range t.p.exchanges(a.dim, b.dim) {
				for t.gain(move{i, -min(n[0], t.units[i])}, move{j, n[1]}) > 1 {
					t.apply(move{i, -min(n[0], t.units[i])}, move{j, n[1]})
					any = true
				}
			}
		}
	}
	return any
}

// exchanges returns how many units of one dimension are tried for how many of another.
func (p *problem) exchanges(a, b int) [][2]int64 {
	if a >= len(p.GPUs) || b >= len(p.GPUs) { // money has small units
		return [][2]int64{{1000, 1000}, {100, 100}, {10, 10}, {1, 1}}
	}
	out := [][2]int64{{1, 1}}
	for _, x := range p.Moves { // as many as do the same work
		each := float64(x.Speed) / 1000 * float64(p.lots[x.To]) / float64(p.lots[x.From]) // lots of From
		n := [2]int64{max(1, int64(math.Round(each))), max(1, int64(math.Round(1/each)))}
		switch {
		case x.From == a && x.To == b:
			out = append(out, n)
		case x.From == b && x.To == a:
			out = append(out, [2]int64{n[1], n[0]})
		}
	}
	return out
}

// solution returns purchases in GPUs and dollars.
func (p *problem) solution(units []int64) (*solution, error) {
	out := &solution{
		units: units, moved: p.spansOfMoves(units), wanted: make([]capcli.GPUTime, len(p.GPUs)), reserved: make([]capcli.GPUTime, len(p.GPUs)), planned: make([]capcli.GPUTime, len(p.GPUs)),
	}
	x := make([]float64, len(units))
	spent := new(big.Int)
	for i, n := range units {
		if n == 0 {
			continue
		}
		k := &p.columns[i]
		x[i] = float64(n)
		cost := exact.Product(n, k.cost)
		spent.Add(spent, cost)
		if !cost.IsInt64() {
			return nil, capcli.ErrOverflow
		}
		out.purchases = append(out.purchases, purchase{
			offer: k.offer, from: p.edges[k.from], to: k.end, milli: n * p.unitSize(k.dim), cost: capcli.USD(cost.Int64()), left: k.left, extended: k.extended,
		})
	}
	slices.SortFunc(out.purchases, func(a, b purchase) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.offer, b.offer), cmp.Compare(a.to, b.to))
	})
	rest, all := new(big.Int), new(big.Int)
	o := p.newCoverage()
	for t, levels := range p.levelsOf(x) {
		for i := range p.periods[t] {
			s := &p.periods[t][i]
			p.serve(s, levels, o)
			for m, w := range s.work {
				left := capcli.GPUTime(math.Round(o.left[m]))
				planned := min(capcli.GPUTime(math.Round(o.planned[m])), capcli.GPUTime(o.use[m])-left)
				all.Add(all, exact.Product(w, p.list[m]))
				rest.Add(rest, exact.Product(int64(left), p.list[m]))
				out.wanted[m] += capcli.GPUTime(w)
				out.planned[m] += planned
				out.reserved[m] += capcli.GPUTime(o.use[m]) - left - planned
			}
			out.addMoved(p, t, s, o)
		}
	}
	for _, v := range []struct {
		to  *capcli.USD
		big *big.Int
		per int64
	}{{&out.commitments, spent, 1}, {&out.onDemand, rest, perHour}, {&out.allOnDemand, all, perHour}} {
		q := new(big.Int).Add(v.big, big.NewInt(v.per/2))
		if q.Quo(q, big.NewInt(v.per)); !q.IsInt64() || q.Int64() > flow.LimitCost {
			return nil, capcli.ErrOverflow
		}
		*v.to = capcli.USD(q.Int64())
	}
	out.cost = out.commitments + out.onDemand
	return out, nil
}

// separate solves each model by itself: without plans nothing links them.
func (p *problem) separate(ctx context.Context) (*solution, error) {
	units := make([]int64, len(p.columns))
	for m := range p.GPUs {
		if err := p.model(ctx, m, units); err != nil {
			return nil, err
		}
	}
	out, err := p.solution(units)
	if err != nil {
		return nil, err
	}
	out.bound = out.cost
	return out, nil
}

// model solves one model as a minimum-cost flow, in the largest unit of money in which every cost
// is whole. It fills in the units of the model's columns.
func (p *problem) model(ctx context.Context, m int, units []int64) error {
	unit := int64(perHour)
	for _, segs := range p.periods {
		for i := range segs {
			size := p.lots[m] * segs[i].dur
			unit = exact.GCD(exact.GCD(unit, size), segs[i].work[m]%size)
		}
	}
	prog := &flow.Program{}
	for _, segs := range p.periods {
		uses := capcli.Map(segs, func(x segment) flow.Use { return flow.Use{Work: x.work[m], Duration: x.dur, Rate: p.list[m]} })
		levels, err := flow.Stack(uses, p.lots[m], unit)
		if err != nil {
			return err
		}
		prog.Periods = append(prog.Periods, levels)
	}
	var which []int
	for i := range p.columns {
		k := &p.columns[i]
		if k.dim != m {
			continue
		}
		cost, err := exact.Times(k.cost, perHour/unit)
		if err != nil {
			return err
		}
		which = append(which, i)
		prog.Offers = append(prog.Offers, flow.Offer{From: k.from, To: k.to, Cost: cost, Max: k.most})
	}
	s, err := flow.Solve(ctx, prog)
	if err != nil {
		return err
	}
	for i, n := range s.Bought {
		units[which[i]] = n
	}
	return nil
}
