package plan

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sort"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"
	"capcli/simulate/linear"

	"capcli"
)

// cover is a program in which an offer may cover any set of rows, such as the rows of a tree of
// futures, and not only an unbroken run of periods as in flow.Program. The cost of a choice x of
// whole numbers of offers is
//
//	Σ offers: Cost·x  +  Σ rows: cost of the levels that no offer covers.
//
// The matrix is not totally unimodular, so the optimum of the linear program need not be whole.
type cover struct {
	rows   []flow.Levels
	offers []coverOffer
}

// coverOffer covers one level of each of its rows for each unit bought.
type coverOffer struct {
	rows   []int // indexes of rows, rising
	cost   int64
	lo, hi int64 // fewest and most units; a hi below 0 means no limit
}

// covered is a choice and its lower bound.
type covered struct {
	bought []int64
	cost   int64
	bound  *big.Int // lower bound on the cost of every choice
	nodes  int      // linear programs solved
}

// Limits on one branch and bound: linear programs, and multiplications in them.
const (
	maxCoverNodes = 60
	maxCoverWork  = 20_000_000_000
)

// solveCover finds a choice by branch and bound (Land and Doig 1960). The bound of each node is a
// dual solution in whole numbers, which is checked without floating point; the choices come from
// rounding the linear program and from a local search. starts are choices to begin with. Where the
// answer is not proven optimal, its bound limits its distance from the optimum. Where ctx ends,
// solveCover returns its error; where every choice that it saw costs too much for int64,
// capcli.ErrOverflow.
func solveCover(ctx context.Context, c *cover, starts ...[]int64) (*covered, error) {
	s := &coverSearch{c: c, rows: coverRowsOf(c.rows)}
	for _, x := range starts {
		s.keep(c.clamp(x))
	}
	s.keep(c.clamp(make([]int64, len(c.offers))))
	open := []coverNode{{offers: c.offers}}
	var least *big.Int // lowest bound of the nodes that were closed but not beaten
	for len(open) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		node := open[len(open)-1]
		open = open[:len(open)-1]
		if node.bound != nil && s.isBeaten(node.bound) {
			continue
		}
		if s.nodes >= maxCoverNodes || s.work > maxCoverWork {
			least = minInt(least, node.bound)
			continue
		}
		s.nodes++
		children, closed := s.branch(ctx, node)
		open = append(open, children...)
		if closed != nil {
			least = minInt(least, closed)
		}
	}
	if s.best == nil {
		return nil, capcli.ErrOverflow
	}
	out := &covered{bought: s.best, cost: s.cost, nodes: s.nodes, bound: big.NewInt(s.cost)}
	if least != nil && least.Cmp(out.bound) < 0 {
		out.bound = least
	}
	return out, nil
}

// coverNode is a subset of the choices: those within the limits of its offers.
type coverNode struct {
	offers []coverOffer
	bound  *big.Int // of its parent node
}

// coverSearch is a branch and bound in progress.
type coverSearch struct {
	c     *cover
	rows  []coverRow
	best  []int64
	cost  int64
	nodes int
	work  int
}

// isBeaten reports whether nothing with this lower bound can be cheaper than the best.
func (s *coverSearch) isBeaten(bound *big.Int) bool { return bound.Cmp(big.NewInt(s.cost)) >= 0 }

// branch solves the linear program of a node. It returns the two halves of the node to search next,
// or the bound of a node that cannot be divided and is not beaten.
func (s *coverSearch) branch(ctx context.Context, node coverNode) (children []coverNode, closed *big.Int) {
	x, prices := s.relax(ctx, node.offers)
	bound := proveCover(s.c.rows, node.offers, prices)
	if node.bound != nil && node.bound.Cmp(bound) > 0 {
		bound = node.bound
	}
	for _, way := range []func(float64) float64{math.Round, math.Floor, math.Ceil} {
		whole := capcli.Map(x, func(v float64) int64 { return int64(way(v)) })
		s.keep(s.polish(s.c.clamp(whole)))
	}
	if s.isBeaten(bound) {
		return nil, nil
	}
	pick, far := -1, 1e-6
	for j, v := range x {
		if d := math.Abs(v - math.Round(v)); d > far+1e-9 {
			pick, far = j, d
		}
	}
	if pick < 0 {
		return nil, bound
	}
	down, up := slices.Clone(node.offers), slices.Clone(node.offers)
	down[pick].hi = int64(math.Floor(x[pick]))
	up[pick].lo = down[pick].hi + 1
	return []coverNode{{down, bound}, {up, bound}}, nil
}

// relax solves the linear program of some offers. It returns the units of each offer and the value
// of covering one level of each row. Each row has a variable of its own, the level L that covers
// it, with a convex cost; the constraints are Σ offers x - L = 0. It starts from the fewest units
// of each offer.
//
// Breaks are shifted by up to a millionth, differently in each row, so that no two bounds are met
// at once and the simplex cannot cycle.
func (s *coverSearch) relax(ctx context.Context, offers []coverOffer) (x, prices []float64) {
	n, m := len(offers), len(s.rows)
	scale := 1.0
	for _, r := range s.rows {
		for _, c := range r.slope {
			scale = max(scale, float64(c))
		}
	}
	variables, basis := make([]linear.Variable, 0, n+m), make([]int, m)
	for _, o := range offers {
		hi := math.Inf(1)
		if o.hi >= 0 {
			hi = float64(o.hi)
		}
		variables = append(variables, linear.Bounded(o.rows, nil, float64(o.cost)/scale, float64(o.lo), hi))
	}
	for r, row := range s.rows {
		level := linear.Variable{Rows: []int{r}, Coefficients: []float64{-1}}
		for k, end := range row.ends {
			level.Breaks = append(level.Breaks, float64(end)+1e-6*math.Mod(float64(r*7919+k*104729+13)*0.6180339887498949, 1))
			level.Slopes = append(level.Slopes, -float64(row.slope[k])/scale)
		}
		level.Slopes = append(level.Slopes, 0)
		variables, basis[r] = append(variables, level), n+r
	}
	lp := linear.NewProgram(make([]float64, m), variables, basis, nil)
	lp.Solve(ctx, 200+40*(n+m))
	s.work += 2 * lp.Pivots * m * m
	for j, o := range offers {
		v := max(float64(o.lo), lp.Values[j])
		if o.hi >= 0 {
			v = min(v, float64(o.hi))
		}
		x = append(x, v)
	}
	for _, y := range lp.Prices {
		prices = append(prices, y*scale)
	}
	return x, prices
}

// keep makes a choice the best where it costs less.
func (s *coverSearch) keep(x []int64) {
	if cost, ok := s.total(x); ok && (s.best == nil || cost < s.cost) {
		s.best, s.cost = slices.Clone(x), cost
	}
}

// clamp moves a choice into the limits of the offers.
func (c *cover) clamp(x []int64) []int64 {
	for j := range x {
		x[j] = max(x[j], c.offers[j].lo)
		if hi := c.offers[j].hi; hi >= 0 {
			x[j] = min(x[j], hi)
		}
	}
	return x
}

// total returns the cost of a choice; false where it is too large to matter.
func (s *coverSearch) total(x []int64) (int64, bool) {
	var sum int64
	for r, level := range s.levels(x) {
		sum += s.rows[r].uncovered(level)
	}
	for j, n := range x {
		cost := s.c.offers[j].cost
		if float64(n)*float64(cost)+float64(sum) > math.MaxInt64/2 {
			return 0, false
		}
		sum += n * cost
	}
	return sum, true
}

func (s *coverSearch) levels(x []int64) []int64 {
	out := make([]int64, len(s.rows))
	for j, n := range x {
		if n != 0 {
			for _, r := range s.c.offers[j].rows {
				out[r] += n
			}
		}
	}
	return out
}

// maxSweeps is the most passes of the local search.
const maxSweeps = 30

// polish changes single offers by steps that halve, and moves units from one offer to another that
// starts at the same row, as long as the cost falls.
func (s *coverSearch) polish(x []int64) []int64 {
	levels := s.levels(x)
	byFirst := map[int][]int{}
	var top int64 = 1
	for j := range x {
		top = max(top, x[j])
		if rows := s.c.offers[j].rows; len(rows) > 0 {
			byFirst[rows[0]] = append(byFirst[rows[0]], j)
		}
	}
	step := int64(1) << (bits.Len64(uint64(top)) - 1)
	for sweep := 0; sweep < maxSweeps; sweep++ {
		better := false
		for j := range x {
			for _, by := range []int64{step, -step} {
				better = s.move(x, levels, j, -1, by) || better
			}
			for _, k := range s.sameStart(byFirst, j) {
				better = s.move(x, levels, j, k, step) || better
			}
		}
		if !better {
			if step == 1 {
				break
			}
			step = max(1, step/2)
		}
	}
	return x
}

// sameStart returns the offers that start at the row where j starts.
func (s *coverSearch) sameStart(byFirst map[int][]int, j int) []int {
	if rows := s.c.offers[j].rows; len(rows) > 0 {
		return byFirst[rows[0]]
	}
	return nil
}

// move adds units of j to x and removes as many of k, where both stay within their limits and the
// cost falls; k is -1 for none.
func (s *coverSearch) move(x, levels []int64, j, k int, by int64) bool {
	if j == k || !s.mayChange(x, j, by) || k >= 0 && !s.mayChange(x, k, -by) {
		return false
	}
	change := s.shift(levels, j, by)
	if k >= 0 {
		change += s.shift(levels, k, -by)
	}
	if change < 0 {
		x[j] += by
		if k >= 0 {
			x[k] -= by
		}
		return true
	}
	s.shift(levels, j, -by)
	if k >= 0 {
		s.shift(levels, k, by)
	}
	return false
}

func (s *coverSearch) mayChange(x []int64, j int, by int64) bool {
	o := &s.c.offers[j]
	return x[j]+by >= o.lo && (o.hi < 0 || x[j]+by <= o.hi)
}

// shift changes the levels by some units of an offer, and returns the change in cost.
func (s *coverSearch) shift(levels []int64, j int, by int64) int64 {
	o := &s.c.offers[j]
	change := by * o.cost
	for _, r := range o.rows {
		change -= s.rows[r].uncovered(levels[r])
		levels[r] += by
		change += s.rows[r].uncovered(levels[r])
	}
	return change
}

func minInt(a, b *big.Int) *big.Int {
	if a == nil || b != nil && b.Cmp(a) < 0 {
		return b
	}
	return a
}

// coverRow is the levels of a row, laid out for lookup.
type coverRow struct {
	ends  []int64 // number of levels up to the end of each segment
	slope []int64 // cost of one uncovered level in each segment
	tail  []int64 // cost of all segments from this one on, uncovered
}

func coverRowsOf(rows []flow.Levels) []coverRow {
	out := make([]coverRow, len(rows))
	for i, levels := range rows {
		r := coverRow{tail: make([]int64, len(levels)+1)}
		var end int64
		for _, s := range levels {
			end += s.Units
			r.ends, r.slope = append(r.ends, end), append(r.slope, s.Cost)
		}
		for k := len(levels) - 1; k >= 0; k-- {
			r.tail[k] = r.tail[k+1] + levels[k].Units*levels[k].Cost
		}
		out[i] = r
	}
	return out
}

func (r *coverRow) uncovered(level int64) int64 {
	k := sort.Search(len(r.ends), func(k int) bool { return r.ends[k] > level })
	if k == len(r.ends) {
		return 0
	}
	return r.tail[k+1] + (r.ends[k]-level)*r.slope[k]
}

// proveCover returns a lower bound on a cover by weak duality. With a price y for covering one
// level of each row, no choice costs less than
//
//	Σ rows: Σ levels min(cost uncovered, y)  +  Σ offers: min over lo ≤ x ≤ hi of (Cost - Σ y)·x.
//
// Prices are integers in fractions of a unit of cost, as fine as the range of int64 allows. They
// are lowered where an offer without a limit would earn a profit.
func proveCover(rows []flow.Levels, offers []coverOffer, prices []float64) *big.Int {
	var whole float64
	for _, levels := range rows {
		for _, s := range levels {
			whole += float64(s.Units) * float64(s.Cost)
		}
	}
	parts := int64(1)
	for parts < 1<<20 && (whole+1)*float64(parts)*2 < 1<<60 {
		parts *= 2
	}
	y := make([]int64, len(rows))
	for r, v := range prices {
		if len(rows[r]) > 0 {
			y[r] = int64(min(max(0, v), float64(rows[r][0].Cost)) * float64(parts))
		}
	}
	for j := range offers {
		if o := &offers[j]; o.hi < 0 {
			over := -o.cost * parts
			for _, r := range o.rows {
				over += y[r]
			}
			lowerPrices(y, o.rows, over)
		}
	}
	sum := limitedOffers(offers, y, parts)
	for r, levels := range rows {
		for _, s := range levels {
			sum.Add(sum, exact.Product(s.Units, min(s.Cost*parts, y[r])))
		}
	}
	// The cost is whole: round up.
	q, m := new(big.Int).DivMod(sum, big.NewInt(parts), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func limitedOffers(offers []coverOffer, y []int64, parts int64) *big.Int {
	sum := new(big.Int)
	for j := range offers {
		o := &offers[j]
		left := o.cost * parts
		for _, r := range o.rows {
			left -= y[r]
		}
		switch {
		case left >= 0:
			sum.Add(sum, exact.Product(o.lo, left))
		case o.hi >= 0:
			sum.Add(sum, exact.Product(o.hi, left))
		}
	}
	return sum
}

// lowerPrices lowers the prices of some rows by by in all, in equal parts, none below 0.
func lowerPrices(y []int64, rows []int, by int64) {
	for by > 0 {
		var n int64
		for _, r := range rows {
			if y[r] > 0 {
				n++
			}
		}
		if n == 0 {
			return
		}
		each := max(1, by/n)
		for _, r := range rows {
			d := min(each, y[r], by)
			y[r] -= d
			by -= d
		}
	}
}
