package joint

import (
	"context"
	"math"
)

// master is the linear program over purchases: least cost of what is bought plus,
// for each period, what the cuts say that the rest costs at least. It is solved in
// its dual, where a new cut is a new variable: maximise Σ at·y - Σ most·w with
// Σ y = 1 over the cuts of each period and, for each purchase, what its periods'
// cuts save no more than it costs (plus w). The revised simplex method (Dantzig
// 1963, chapter 9) with the inverse of the basis kept whole; its multipliers are
// the purchases.
//
// Purchases are scaled by the most that there is use for, and money by the cost of
// all on demand, so that everything is near 1.
type master struct {
	p       *problem
	scale   float64 // of money
	size    []float64
	cost    []float64 // by column, scaled
	cuts    []cut     // scaled money
	basis   []int     // by row: a cut, or -1-j for the slack and -1-n-j for the surplus of column j
	inverse [][]float64
	value   []float64 // of the basis
	in      []bool    // cuts that are in the basis
	active  [][]int   // columns by period
}

const (
	lpTiny  = 1e-9
	lpPivot = 1e-8
	// maxJointRounds and maxPivots bound the search; the bound holds wherever it ends.
	maxJointRounds = 400
	maxPivots      = 20_000
)

func newMaster(p *problem, scale float64) *master {
	n, t := len(p.columns), len(p.periods)
	m := &master{p: p, scale: scale, active: make([][]int, t)}
	for j := range p.columns {
		k := &p.columns[j]
		size := min(float64(k.most), max(p.top[k.dim], 1))
		m.size = append(m.size, size)
		m.cost = append(m.cost, float64(k.cost)*size/scale)
		for i := k.from; i < k.to; i++ {
			m.active[i] = append(m.active[i], j)
		}
	}
	m.basis, m.value = make([]int, t+n), make([]float64, t+n)
	m.inverse = make([][]float64, t+n)
	for i := range m.inverse {
		m.inverse[i] = make([]float64, t+n)
	}
	return m
}

// saves is what cut i says that all of column j saves in the cut's period.
func (m *master) saves(c *cut, j int) float64 { return -c.slope[m.p.columns[j].dim] * m.size[j] }

// add takes in a cut, in millionths of a dollar.
func (m *master) add(c cut) {
	c.at /= m.scale
	for d := range c.slope {
		c.slope[d] /= m.scale
	}
	m.cuts, m.in = append(m.cuts, c), append(m.in, false)
}

// begin makes a first basis of one cut for each period, the first that it has.
func (m *master) begin() {
	t, n := len(m.p.periods), len(m.p.columns)
	load := make([]float64, n)
	for i := range t { // cut i is of period i
		m.basis[i], m.value[i], m.in[i] = i, 1, true
		for _, j := range m.active[i] {
			load[j] += m.saves(&m.cuts[i], j)
		}
		m.inverse[i][i] = 1
	}
	for j := range n {
		row := t + j
		sign := 1.0
		if m.basis[row] = -1 - j; load[j] > m.cost[j] {
			m.basis[row], sign = -1-n-j, -1
		}
		m.value[row] = sign * (m.cost[j] - load[j])
		m.inverse[row][row] = sign
		for i := m.p.columns[j].from; i < m.p.columns[j].to; i++ {
			m.inverse[row][i] = -sign * m.saves(&m.cuts[i], j)
		}
	}
}

// gain is what a variable of the dual is worth in its objective.
func (m *master) gain(v int) float64 {
	n := len(m.p.columns)
	switch {
	case v >= 0:
		return m.cuts[v].at
	case v < -n: // surplus: all of the column is bought
		j := -1 - n - v
		return -float64(m.p.columns[j].most) / m.size[j]
	}
	return 0
}

// prices are the multipliers of the rows: what each period costs, and how much is
// bought of each column.
func (m *master) prices() []float64 {
	out := make([]float64, len(m.basis))
	for i, v := range m.basis {
		if g := m.gain(v); g != 0 {
			for k, x := range m.inverse[i] {
				out[k] += g * x
			}
		}
	}
	return out
}

// entering is the variable outside the basis that gains the most.
func (m *master) entering(pi []float64, bland bool) (best int, ok bool) {
	t, n := len(m.p.periods), len(m.p.columns)
	most := lpTiny
	take := func(v int, gain float64) {
		if gain > most && (!bland || !ok) {
			best, ok = v, true
			if !bland {
				most = gain
			}
		}
	}
	for i := range m.cuts {
		if m.in[i] {
			continue
		}
		c := &m.cuts[i]
		gain := c.at - pi[c.period]
		for _, j := range m.active[c.period] {
			gain -= pi[t+j] * m.saves(c, j)
		}
		take(i, gain)
	}
	for j := range n {
		take(-1-j, -pi[t+j])
		take(-1-n-j, pi[t+j]-float64(m.p.columns[j].most)/m.size[j])
	}
	return best, ok
}

// column is a variable in terms of the basis.
func (m *master) column(v int) []float64 {
	t, n := len(m.p.periods), len(m.p.columns)
	out := make([]float64, len(m.basis))
	switch {
	case v >= 0:
		c := &m.cuts[v]
		for r := range out {
			sum := m.inverse[r][c.period]
			for _, j := range m.active[c.period] {
				sum += m.inverse[r][t+j] * m.saves(c, j)
			}
			out[r] = sum
		}
	case v < -n:
		for r := range out {
			out[r] = -m.inverse[r][t-1-n-v]
		}
	default:
		for r := range out {
			out[r] = m.inverse[r][t-1-v]
		}
	}
	return out
}

// solve pivots until no variable gains, and gives the purchases.
func (m *master) solve(ctx context.Context) ([]float64, error) {
	for pivots := 0; ; pivots++ {
		if pivots%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pi := m.prices()
		v, ok := m.entering(pi, pivots > maxPivots/2)
		if !ok || pivots >= maxPivots || !m.pivot(v) {
			t := len(m.p.periods)
			x := make([]float64, len(m.p.columns))
			for j := range x {
				x[j] = min(max(pi[t+j], 0)*m.size[j], float64(m.p.columns[j].most))
			}
			return x, nil
		}
	}
}

// pivot brings a variable into the basis; false where nothing leaves it.
func (m *master) pivot(v int) bool {
	col := m.column(v)
	out, least := -1, math.Inf(1)
	for r, a := range col {
		if a <= lpPivot {
			continue
		}
		if q := max(m.value[r], 0) / a; q < least-lpTiny || q <= least && (out < 0 || m.basis[r] < m.basis[out]) {
			out, least = r, q
		}
	}
	if out < 0 {
		return false
	}
	if old := m.basis[out]; old >= 0 {
		m.in[old] = false
	}
	if v >= 0 {
		m.in[v] = true
	}
	m.basis[out] = v
	a := col[out]
	row := m.inverse[out]
	for k := range row {
		row[k] /= a
	}
	m.value[out] /= a
	for r := range m.inverse {
		f := col[r]
		if r == out || f == 0 {
			continue
		}
		other := m.inverse[r]
		for k, x := range row {
			if x != 0 {
				other[k] -= f * x
			}
		}
		m.value[r] -= f * m.value[out]
	}
	return true
}

// bound is what no choice of purchases can cost less than, in millionths of a
// dollar: the weights of the cuts, made to sum to 1 in each period, give a function
// that is nowhere above the cost, and its least value over all purchases is read
// off column by column. It holds for any weights, so errors of rounding in the
// search can lower it and not make it wrong; a billionth is taken off for those of
// its own sum.
func (m *master) bound() float64 {
	t := len(m.p.periods)
	weight, all := make([]float64, len(m.cuts)), make([]float64, t)
	for r, v := range m.basis {
		if v >= 0 {
			weight[v] = max(m.value[r], 0)
			all[m.cuts[v].period] += weight[v]
		}
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
	m := newMaster(p, scale)
	for t := range p.periods {
		m.add(p.cutAt(t, none, o))
	}
	m.begin()
	for t := range p.periods { // nothing costs less than 0
		m.add(cut{period: t, slope: make([]float64, len(p.top))})
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
				m.add(c)
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
