package joint

import (
	"context"
	"math"

	"capcli/simulate/plan/linear"
)

// master is the linear program over purchases: least cost of what is bought plus,
// for each period, what the cuts say that the rest costs at least. It is solved in
// its dual, where a new cut is a new variable: maximise Σ at·y - Σ most·w with
// Σ y = 1 over the cuts of each period and, for each purchase, what its periods'
// cuts save no more than it costs (plus w). Its prices are the purchases.
//
// Purchases are scaled by the most that there is use for, and money by the cost of
// all on demand, so that everything is near 1.
type master struct {
	p      *problem
	scale  float64 // of money
	size   []float64
	cost   []float64 // by column, scaled
	cuts   []cut     // scaled money
	active [][]int   // columns by period
	lp     *linear.Program
}

const (
	// maxJointRounds and maxPivots bound the search; the bound holds wherever it ends.
	maxJointRounds = 400
	maxPivots      = 20_000
)

// newMaster makes the program with one cut for each period, which are its first basis.
// Its first variables are what each purchase costs more than its cuts save: below 0 all
// of the purchase is made.
func newMaster(p *problem, scale float64, cuts []cut) *master {
	n, t := len(p.columns), len(p.periods)
	m := &master{p: p, scale: scale, active: make([][]int, t)}
	right, basis := make([]float64, t, t+n), make([]int, 0, t+n)
	variables := make([]linear.Variable, n, n+t)
	for j := range p.columns {
		k := &p.columns[j]
		size := min(float64(k.most), max(p.top[k.dim], 1))
		m.size, m.cost = append(m.size, size), append(m.cost, float64(k.cost)*size/scale)
		for i := k.from; i < k.to; i++ {
			m.active[i] = append(m.active[i], j)
		}
		variables[j] = linear.Variable{Rows: []int{t + j}, Breaks: []float64{0}, Slopes: []float64{-float64(k.most) / size, 0}}
	}
	for i, c := range cuts {
		variables = append(variables, m.variable(c))
		right[i], basis = 1, append(basis, n+i)
	}
	for j := range p.columns {
		right, basis = append(right, m.cost[j]), append(basis, j)
	}
	m.lp = linear.NewProgram(right, variables, basis, nil)
	return m
}

// variable keeps a cut, in millionths of a dollar, and returns its variable.
func (m *master) variable(c cut) linear.Variable {
	c.at /= m.scale
	for d := range c.slope {
		c.slope[d] /= m.scale
	}
	m.cuts = append(m.cuts, c)
	rows, saves := []int{c.period}, []float64{1}
	for _, j := range m.active[c.period] {
		rows, saves = append(rows, len(m.p.periods)+j), append(saves, m.saves(&c, j))
	}
	return linear.Bounded(rows, saves, -c.at, 0, math.Inf(1))
}

// saves is what a cut says that all of column j saves in the cut's period.
func (m *master) saves(c *cut, j int) float64 { return -c.slope[m.p.columns[j].dim] * m.size[j] }

// solve solves the program, and gives the purchases.
func (m *master) solve(ctx context.Context) ([]float64, error) {
	m.lp.Solve(ctx, maxPivots)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	x := make([]float64, len(m.p.columns))
	for j := range x {
		x[j] = min(max(-m.lp.Prices[len(m.p.periods)+j], 0)*m.size[j], float64(m.p.columns[j].most))
	}
	return x, nil
}

// bound is what no choice of purchases can cost less than, in millionths of a
// dollar: the weights of the cuts, made to sum to 1 in each period, give a function
// that is nowhere above the cost, and its least value over all purchases is read
// off column by column. It holds for any weights, so errors of rounding in the
// search can lower it and not make it wrong; a billionth is taken off for those of
// its own sum.
func (m *master) bound() float64 {
	weight, all := make([]float64, len(m.cuts)), make([]float64, len(m.p.periods))
	for i := range weight {
		weight[i] = max(m.lp.Values[len(m.p.columns)+i], 0)
		all[m.cuts[i].period] += weight[i]
	}
	sum, size := 0.0, 0.0
	saved := make([]float64, len(m.p.columns))
	for i, w := range weight {
		if w == 0 {
			continue
		}
		c := &m.cuts[i]
		w /= all[c.period]
		sum += w * c.at
		size += math.Abs(w * c.at)
		for _, j := range m.active[c.period] {
			saved[j] += w * m.saves(c, j)
		}
	}
	for j, s := range saved {
		if over := m.cost[j] - s; over < 0 {
			most := over * float64(m.p.columns[j].most) / m.size[j]
			sum += most
			size -= most
		}
	}
	return (sum - 1e-9*size) * m.scale
}

// relax finds the best fractional purchases and the bound.
func (p *problem) relax(ctx context.Context) (x []float64, bound float64, err error) {
	o := p.newCoverage()
	none := make([]float64, len(p.top))
	scale := 1.0
	for t := range p.periods {
		scale += p.uncovered(t, none, o)
	}
	first := make([]cut, len(p.periods))
	for t := range first {
		first[t] = p.cutAt(t, none, o)
	}
	m := newMaster(p, scale, first)
	for t := range p.periods { // nothing costs less than 0
		m.lp.Add(m.variable(cut{period: t, slope: make([]float64, len(p.top))}))
	}
	best, bestCost := make([]float64, len(p.columns)), math.Inf(1)
	for rounds := 1; ; rounds++ {
		if x, err = m.solve(ctx); err != nil {
			return nil, 0, err
		}
		bound = max(bound, m.bound())
		cost := 0.0
		for j, n := range x {
			cost += n * float64(p.columns[j].cost)
		}
		added := 0
		for t, levels := range p.levelsOf(x) {
			now := p.uncovered(t, levels, o)
			cost += now
			c := p.cutAt(t, levels, o)
			if now > m.highestCut(t, levels)*scale+1e-10*scale {
				m.lp.Add(m.variable(c))
				added++
			}
		}
		if cost < bestCost {
			best, bestCost = x, cost
		}
		if added == 0 || rounds >= maxJointRounds || bestCost-bound <= 1e-7*bestCost {
			return best, bound, nil
		}
	}
}

// highestCut is the highest of a period's cuts at levels, in the master's money.
func (m *master) highestCut(period int, levels []float64) float64 {
	most := 0.0
	for i := range m.cuts {
		c := &m.cuts[i]
		if c.period != period {
			continue
		}
		v := c.at
		for d, s := range c.slope {
			v += s * levels[d]
		}
		most = max(most, v)
	}
	return most
}
