package plan

import (
	"context"
	"math"
	"math/big"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"
)

// box is the choices within limits on the lots of each option.
type box struct {
	lo, hi []int64 // by option; a hi below 0 is no limit
}

func (f *Field) wholeBox() *box {
	b := &box{lo: make([]int64, len(f.deal.options)), hi: make([]int64, len(f.deal.options))}
	for i := range b.hi {
		if b.hi[i] = f.deal.options[i].most; b.hi[i] == 0 {
			b.hi[i] = -1
		}
	}
	return b
}

func (b *box) clamp(bought []int64) []int64 {
	for i, n := range bought {
		if bought[i] = max(n, b.lo[i]); b.hi[i] >= 0 {
			bought[i] = min(bought[i], b.hi[i])
		}
	}
	return bought
}

// split returns the two halves of the box, with at most and with more than so many lots of an option.
func (b *box) split(option int, most int64) (down, up *box) {
	down, up = &box{b.lo, slices.Clone(b.hi)}, &box{slices.Clone(b.lo), b.hi}
	down.hi[option], up.lo[option] = most, most+1
	return down, up
}

// solve returns the cheapest choice of the box in a program, and its cost. Lots that must be bought
// cover the lowest levels of their periods.
func (b *box) solve(ctx context.Context, p *flow.Program) (bought []int64, cost *big.Int, err error) {
	within := &flow.Program{Periods: make([]flow.Levels, len(p.Periods))}
	change := make([]int64, len(p.Periods)+1)
	cost = new(big.Int)
	var open []int // options of the offers
	for i, o := range p.Offers {
		change[o.From] += b.lo[i]
		change[o.To] -= b.lo[i]
		cost.Add(cost, exact.Product(b.lo[i], o.Cost))
		if room := b.hi[i] - b.lo[i]; b.hi[i] < 0 || room > 0 {
			o.Max = max(0, room)
			if b.hi[i] < 0 {
				o.Max = 0
			}
			within.Offers, open = append(within.Offers, o), append(open, i)
		}
	}
	var level int64
	for m, levels := range p.Periods {
		level += change[m]
		within.Periods[m] = levelsAbove(levels, level)
	}
	s, err := flow.Solve(ctx, within)
	if err != nil {
		return nil, nil, err
	}
	bought = slices.Clone(b.lo)
	for k, i := range open {
		bought[i] += s.Bought[k]
	}
	return bought, cost.Add(cost, s.Cost), nil
}

// levelsAbove returns levels without the lowest n.
func levelsAbove(levels flow.Levels, n int64) flow.Levels {
	for n > 0 && len(levels) > 0 {
		first := levels[0]
		if first.Units > n {
			rest := slices.Clone(levels)
			rest[0].Units -= n
			return rest
		}
		n, levels = n-first.Units, levels[1:]
	}
	return levels
}

// The effort of a branch and bound: exactWork is the most flows times options and periods, subsetsMost the most
// sets of futures of a quantile.
const (
	exactWork   = 60_000_000
	subsetsMost = 2000
)

// ChooseExactly is Choose, and then closes the gap between a choice and its bound by branch and bound (Land and
// Doig 1960) as far as a fixed effort goes: a CVaR and a quantile of whole purchases are integer programs. The
// bound of a node is that of the game between weights and purchases within limits on each purchase; the node
// is divided at a purchase that the game mixes. A quantile is the least, over the sets of futures that have a
// share Level of the weight, of the highest cost in the set.
func (f *Field) ChooseExactly(ctx context.Context, risk Risk) (*Choice, error) {
	c, err := f.Choose(ctx, risk)
	if err != nil || c.Exact() || risk.Kind == Mean {
		return c, err
	}
	b := &branching{f: f, risk: risk, best: c, effort: exactWork / int64(len(f.held)+len(f.deal.options)+16)}
	if risk.Kind == CVaR {
		limits, whole := risk.limits(f.Count(), f.weights)
		least, err := b.search(ctx, allOf(f.Count()), limits, whole)
		if err != nil {
			return nil, err
		}
		b.close(least)
		return b.best, nil
	}
	return b.quantile(ctx)
}

// branching is a branch and bound in progress.
type branching struct {
	f      *Field
	risk   Risk
	best   *Choice
	effort int64 // flows that are left
}

// close raises the bound of the best choice to a bound on all others; nil is none that is lower than the best.
func (b *branching) close(least *big.Rat) {
	if least == nil || least.Cmp(b.best.Value) > 0 {
		least = b.best.Value
	}
	if least.Cmp(b.best.Bound) > 0 {
		b.best.Bound = least
	}
}

// keep makes a choice the best where its risk is lower.
func (b *branching) keep(c *Choice) {
	if value := b.risk.MeasureWeighted(c.Costs, b.f.weights); value.Cmp(b.best.Value) < 0 {
		b.best = &Choice{Costs: c.Costs, Value: value, Bound: b.best.Bound, Rounds: b.best.Rounds, bought: c.bought}
	}
}

// isClosed reports whether nothing with this bound can be cheaper than the best by as much as a millionth of a dollar,
// or by more than closeEnough of its cost: the weights of a game are of a finite grid.
func (b *branching) isClosed(bound *big.Rat) bool {
	short := new(big.Rat).Sub(b.best.Value, bound)
	if short.Sign() <= 0 {
		return true
	}
	if share, _ := new(big.Rat).Quo(short, b.best.Value).Float64(); share <= closeEnough { // a cost above a bound is over 0
		return true
	}
	usd := short.Mul(short, new(big.Rat).SetFrac64(b.f.deal.unit, 1000*3600*b.f.deal.scale))
	return usd.Cmp(big.NewRat(1, 1)) < 0
}

// search goes through the choices for some futures under limits on their weights. It returns the lowest bound
// of what was not searched to its end; nil where all was.
func (b *branching) search(ctx context.Context, in []int, limits []int64, whole int64) (*big.Rat, error) {
	open := []*box{b.f.wholeBox()}
	var least *big.Rat
	for len(open) > 0 {
		node := open[len(open)-1]
		open = open[:len(open)-1]
		h := &hunt{f: b.f, risk: b.risk, in: in, within: node}
		h.refineWeights(limits, whole, 1<<30)
		if err := h.run(ctx); err != nil {
			return nil, err
		}
		b.effort -= int64(h.rounds)
		b.keep(h.best)
		if b.isClosed(h.bound) {
			continue
		}
		pick, far := -1, 1e-6
		for i, v := range h.mixed {
			if d := math.Abs(v - math.Round(v)); d > far+1e-9 {
				pick, far = i, d
			}
		}
		if pick < 0 || b.effort <= 0 {
			if least == nil || h.bound.Cmp(least) < 0 {
				least = h.bound
			}
			continue
		}
		down, up := node.split(pick, int64(math.Floor(h.mixed[pick])))
		open = append(open, down, up)
	}
	return least, nil
}

// quantile goes through the sets of futures that have enough weight, and no more futures than that takes.
func (b *branching) quantile(ctx context.Context) (*Choice, error) {
	alone, err := b.f.OptimumOfEach(ctx)
	if err != nil {
		return nil, err
	}
	sets := b.sets(alone)
	if sets == nil {
		return b.best, nil
	}
	var least *big.Rat
	for _, in := range sets {
		bound := new(big.Rat)
		for _, s := range in {
			if own := alone[s].Bound; own.Cmp(bound) > 0 {
				bound = own
			}
		}
		if b.isClosed(bound) {
			continue
		}
		limits := make([]int64, len(in))
		for i := range limits {
			limits[i] = 1
		}
		rest, err := b.search(ctx, in, limits, 1)
		if err != nil {
			return nil, err
		}
		if rest != nil && (least == nil || rest.Cmp(least) < 0) {
			least = rest
		}
	}
	b.close(least)
	return b.best, nil
}

// sets returns the sets of futures that have a share Level of the weight and would not without any one of them,
// of those that can be cheaper than the best; nil where they are too many.
func (b *branching) sets(alone []*Choice) [][]int {
	n := b.f.Count()
	order := allOf(n) // the dearest first: they are the first to be left out
	slices.SortStableFunc(order, func(x, y int) int { return alone[y].Bound.Cmp(alone[x].Bound) })
	var out [][]int
	left := make([]bool, n)
	kept := func() []int {
		var in []int
		for i := range n {
			if !left[i] {
				in = append(in, i)
			}
		}
		return in
	}
	tries := 0
	var grow func(at int) bool
	grow = func(at int) bool {
		if tries++; tries > 100*subsetsMost || len(out) > subsetsMost {
			return false
		}
		minimal := true
		for k, i := range order {
			if left[i] {
				continue
			}
			left[i] = true
			if b.risk.isEnough(kept(), n, b.f.weights) {
				minimal = false
				if k >= at && !grow(k+1) {
					return false
				}
			}
			left[i] = false
		}
		if minimal {
			out = append(out, kept())
		}
		return true
	}
	if !grow(0) {
		return nil
	}
	return out
}

// isEnough reports whether some of n futures have a share Level of the weight.
func (r Risk) isEnough(in []int, n int, of []int64) bool {
	all, sum := new(big.Int), new(big.Int)
	for i := range n {
		all.Add(all, exact.Product(r.Level, weightOf(of, i)))
	}
	for _, i := range in {
		sum.Add(sum, exact.Product(one, weightOf(of, i)))
	}
	return len(in) > 0 && sum.Cmp(all) >= 0
}
