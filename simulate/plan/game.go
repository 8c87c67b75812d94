package plan

import (
	"math"
)

// game is the master of the cutting planes: of some plans, each with its cost in
// every future, it finds the weights of the futures for which the cheapest plan
// costs the most, and with them, as the dual, the mixture of plans whose worst
// weighting costs the least:
//
//	max θ  so that  θ ≤ Σ w·costs of each plan,  Σ w = 1,  0 ≤ w ≤ most.
//
// It is a linear program with one row for each plan, solved by the primal simplex
// with bounded variables on a dense tableau (Dantzig, Linear Programming and
// Extensions, 1963, chapter 18), from the weights that are worst for some plan.
// Its figures are floating point: they steer a search, whose bounds are exact.
type game struct {
	most  float64
	plans [][]float64 // scaled costs by plan, then future
}

// tableau is the simplex at work. Columns are the weights, θ, and one slack for
// each plan; row 0 is Σ w = 1, row k+1 is plan k.
type tableau struct {
	futures int
	most    float64
	rows    [][]float64
	gain    []float64 // reduced costs
	basis   []int
	value   []float64 // of the basic columns
	high    []bool    // of the others: at the upper bound
	basic   []bool
}

// solve gives the weights of the futures, the shares of the plans and the value.
func (g *game) solve() (weights, shares []float64, value float64) {
	n, k := len(g.plans[0]), len(g.plans)
	low, span := math.Inf(1), 0.0
	for _, p := range g.plans {
		for _, c := range p {
			low, span = min(low, c), max(span, c)
		}
	}
	span = max(span-low, 1e-300)
	t := &tableau{futures: n, most: g.most, high: make([]bool, n+1+k), basic: make([]bool, n+1+k)}
	t.start(g, low, span)
	for pivots, limit := 0, 50*(n+k+10); pivots < limit; pivots++ {
		j := t.enter(pivots > limit/2)
		if j < 0 {
			break
		}
		t.move(j)
	}
	weights, shares = make([]float64, n), make([]float64, k)
	for s := range weights {
		if !t.basic[s] && t.high[s] {
			weights[s] = t.most
		}
	}
	for r, b := range t.basis {
		switch {
		case b < n:
			weights[b] = min(t.most, max(0, t.value[r]))
		case b == n:
			value = t.value[r]
		}
	}
	for i := range shares {
		shares[i] = max(0, -t.gain[n+1+i])
	}
	return weights, shares, low + span*value
}

// start sets up the tableau at the weights that are worst for the last plan.
func (t *tableau) start(g *game, low, span float64) {
	n, k := t.futures, len(g.plans)
	w := g.worstWeights(g.plans[k-1])
	pick := 0
	for s, v := range w {
		switch {
		case v > 0 && v < t.most:
			pick = s
		case v > 0 && w[pick] == 0:
			pick = s
		}
		t.high[s] = v == t.most
	}
	t.high[pick] = false
	t.rows = make([][]float64, k+1)
	t.rows[0] = make([]float64, n+1+k)
	for s := range n {
		t.rows[0][s] = 1
	}
	least, at := math.Inf(1), 0
	sums := make([]float64, k)
	for i, p := range g.plans {
		row := make([]float64, n+1+k)
		for s, c := range p {
			row[s] = -(c - low) / span
			sums[i] -= row[s] * w[s]
		}
		row[n], row[n+1+i] = 1, 1
		t.rows[i+1] = row
		if sums[i] < least {
			least, at = sums[i], i
		}
	}
	t.gain = make([]float64, n+1+k)
	t.gain[n] = 1
	t.basis, t.value = make([]int, k+1), make([]float64, k+1)
	t.basis[0], t.value[0] = pick, w[pick]
	for i := range k {
		t.basis[i+1], t.value[i+1] = n+1+i, sums[i]-least
	}
	t.basis[at+1], t.value[at+1] = n, least
	for _, b := range t.basis {
		t.basic[b] = true
	}
	t.clear(0, pick)
	t.clear(at+1, n)
}

// worstWeights are the weights for which a plan costs the most.
func (g *game) worstWeights(plan []float64) []float64 {
	order := make([]int, len(plan))
	for i := range order {
		order[i] = i
	}
	sortBy(order, func(a, b int) bool { return plan[a] > plan[b] })
	w, left := make([]float64, len(plan)), 1.0
	for _, s := range order {
		w[s] = min(g.most, left)
		if left -= w[s]; left < 1e-12 {
			break
		}
	}
	return w
}

// clear makes column j a unit vector with its one in row r.
func (t *tableau) clear(r, j int) {
	row := t.rows[r]
	if by := row[j]; by != 1 {
		for c := range row {
			row[c] /= by
		}
	}
	for i, other := range t.rows {
		if f := other[j]; i != r && f != 0 {
			subtract(other, row, f)
		}
	}
	if f := t.gain[j]; f != 0 {
		subtract(t.gain, row, f)
	}
}

func subtract(from, row []float64, times float64) {
	for c, v := range row {
		from[c] -= times * v
	}
}

// enter is the column that improves most, or the first that does so at all; -1 is
// none.
func (t *tableau) enter(first bool) int {
	best, most := -1, 1e-10
	for j, g := range t.gain {
		if t.basic[j] {
			continue
		}
		if t.high[j] {
			g = -g
		}
		if g > most {
			best, most = j, g
			if first {
				break
			}
		}
	}
	return best
}

// bound is the upper bound of a column.
func (t *tableau) bound(j int) float64 {
	if j < t.futures {
		return t.most
	}
	return math.Inf(1)
}

// move brings column j in as far as it goes.
func (t *tableau) move(j int) {
	dir := 1.0
	if t.high[j] {
		dir = -1
	}
	step, out, toHigh := t.bound(j), -1, false
	for r, row := range t.rows {
		change := dir * row[j] // the basic value falls by so much a step
		switch {
		case change > 1e-11:
			if room := max(0, t.value[r]) / change; room < step || room == step && out >= 0 && t.basis[r] < t.basis[out] {
				step, out, toHigh = room, r, false
			}
		case change < -1e-11:
			if room := max(0, t.bound(t.basis[r])-t.value[r]) / -change; room < step || room == step && out >= 0 && t.basis[r] < t.basis[out] {
				step, out, toHigh = room, r, true
			}
		}
	}
	if math.IsInf(step, 1) {
		t.gain[j] = 0 // θ has no bound only if figures went wrong
		return
	}
	for r, row := range t.rows {
		t.value[r] -= dir * row[j] * step
	}
	if out < 0 {
		t.high[j] = !t.high[j]
		return
	}
	now := step
	if t.high[j] {
		now = t.bound(j) - step
	}
	left := t.basis[out]
	t.basic[left], t.high[left] = false, toHigh
	t.basic[j], t.high[j] = true, false
	t.basis[out], t.value[out] = j, now
	t.clear(out, j)
}
