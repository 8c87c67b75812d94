package joint

import (
	"context"
	"math"

	"capcli/simulate/linear"
)

// master is the linear program of the purchases: the least cost of what is bought, plus the lower
// bound that the cuts give for the rest in each period. It is solved in its dual, where a new cut
// is a new variable: maximise Σ at·y - Σ most·w, where Σ y = 1 over the cuts of each period, and
// for each purchase the cuts of its periods save no more than it costs (plus w). The prices of the
// dual are the purchases.
//
// Purchases are scaled by the most units that are of use, and money by the cost of all demand on
// demand, so that all values are near 1.
type master struct {
	p      *problem
	scale  float64   // divisor of money
	size   []float64 // divisor of the units of each column
	cost   []float64 // by column, scaled
	cuts   []cut     // in scaled money
	active [][]int   // columns by period
	lp     *linear.Program
}

const (
	// maxJointRounds and maxPivots limit the search; the bound holds wherever it ends.
	maxJointRounds = 400
	maxPivots      = 20_000
)

// newMaster returns the program with one cut for each period, which are its first basis. Its first
// variables are the excess of each purchase's cost over the savings of its cuts; where that is
// below 0, the purchase is made in full.
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

// variable adds a cut, in millionths of a dollar, and returns its variable.
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

// saves returns the saving, by a cut, of all of column j in the cut's period.
func (m *master) saves(c *cut, j int) float64 { return -c.slope[m.p.columns[j].dim] * m.size[j] }

// solve solves the program and returns the purchases, in units by column.
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

// bound returns a lower bound on the cost of every choice of purchases, in millionths of a dollar.
// The weights of the cuts, scaled to sum to 1 in each period, give a function that is nowhere above
// the cost. Its minimum over all purchases is found column by column. The bound holds for any
// weights, so rounding errors in the search can lower it but not make it wrong. A billionth is
// subtracted for those of its own sum.
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

// relax returns the best fractional purchases that it finds, and the bound.
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
	for t := range p.periods { // no cost is below 0
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

// highestCut returns the highest value of a period's cuts at levels, in the master's scaled money.
func (m *master) highestCut(period int, levels []float64) float64 {
	most := 0.0
	for i := range m.cuts {
		c := &m.cuts[i]
		if c.period != period {
			continue
		}
		most = max(most, c.value(levels))
	}
	return most
}
