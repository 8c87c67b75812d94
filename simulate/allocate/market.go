package allocate

import (
	"context"
	"math"

	"capcli/simulate/linear"
)

// market is the program that all objectives share: bidders divide types among them. It is decomposed
// by prices (Dantzig and Wolfe, "Decomposition Principle for Linear Programs", Operations Research 1960).
// At given prices of the types each bidder alone finds its cheapest way to its floor: this is one point
// of a lower hull. The master program mixes such answers; it has one row for each type and one more,
// however many jobs there are. Its prices bound the optimum from the other side, so each answer is proved.
type market struct {
	types   int
	bidders []bidder
	face    []float64 // prices of restrict; nil if it was not called
}

// bidder is a job, or several equal ones. All is in units that make the master's numbers near 1.
type bidder struct {
	load   []float64 // of each type: share of its GPUs that the bidder takes with X = 1
	value  []float64 // of each type: value to the job of X = 1; 0 does not run there
	floor  float64   // least value
	reward []float64 // of each type: worth to the objective of X = 1; nil is nothing

	corners []corner // see restrict; nil is all
}

// answer is one allocation of all bidders: what each response to prices gives.
type answer struct {
	x     []float64 // by bidder and type
	usage []float64 // of each type, as share of its GPUs
	worth float64
}

// Tolerances. Numbers of the master are near 1.
const (
	gapTolerance = 1e-11 // between both bounds of an optimum
	maxAnswers   = 1000  // answers asked for one program; it ends much earlier
	maxPivots    = 400   // of the master after one more answer
)

// corner is a way of one bidder to its floor: a share of type high, the rest of type low. -1 is no type.
type corner struct {
	low, high int
	share     float64
}

// cost returns what the corner costs, where cost is that of X = 1 on each type.
func (c *corner) cost(cost []float64) (sum float64) {
	if c.high >= 0 {
		sum = c.share * cost[c.high]
	}
	if c.low >= 0 {
		sum += (1 - c.share) * cost[c.low]
	}
	return sum
}

// eachCorner yields all ways of b to its floor that are no mix of others: one type at or above it, or one
// above it with one below or none.
func (b *bidder) eachCorner(yield func(corner)) {
	if b.floor <= 0 {
		yield(corner{-1, -1, 1})
	}
	for k, v := range b.value {
		if v == 0 || v < b.floor {
			continue
		}
		yield(corner{-1, k, 1})
		if b.floor <= 0 || v == b.floor {
			continue
		}
		yield(corner{-1, k, b.floor / v})
		for l, low := range b.value {
			if low > 0 && low < b.floor {
				yield(corner{l, k, (b.floor - low) / (v - low)})
			}
		}
	}
}

// cheapest writes into x the time that b has on each type: the cheapest with its floor, where cost is
// that of X = 1 on each type. It returns the cost. It is the lower hull of the points (value, cost) of
// the types, and (0, 0) of no type, at the floor, or at its least point where that is to the right.
func (b *bidder) cheapest(cost, x []float64) float64 {
	clear(x)
	var best corner
	least := math.Inf(1)
	if b.corners != nil {
		for i := range b.corners {
			if c := b.corners[i].cost(cost); c < least {
				best, least = b.corners[i], c
			}
		}
	} else {
		best, least = b.cheapestCorner(cost)
	}
	if best.high >= 0 {
		x[best.high] = best.share
	}
	if best.low >= 0 {
		x[best.low] = 1 - best.share
	}
	return least
}

func (b *bidder) cheapestCorner(cost []float64) (best corner, least float64) {
	least = math.Inf(1)
	if b.floor <= 0 {
		best, least = corner{-1, -1, 1}, 0
	}
	for k, v := range b.value {
		if v == 0 || v < b.floor {
			continue
		}
		if cost[k] < least {
			best, least = corner{-1, k, 1}, cost[k]
		}
		if b.floor <= 0 || v == b.floor {
			continue
		}
		if s := b.floor / v; s*cost[k] < least {
			best, least = corner{-1, k, s}, s*cost[k]
		}
		for l, low := range b.value {
			if low == 0 || low >= b.floor {
				continue
			}
			s := (b.floor - low) / (v - low)
			if c := cost[l] + s*(cost[k]-cost[l]); c < least {
				best, least = corner{l, k, s}, c
			}
		}
	}
	return best, least
}

// restrict leaves each bidder its cheapest corners at prices alone. Where all of them together cost as
// much as all GPUs, no others are part of any allocation with these floors, and programs that try them
// would find that out at ever higher prices.
func (m *market) restrict(prices []float64) {
	m.face = prices
	var buffer [maxTypes]float64
	cost := buffer[:m.types]
	for i := range m.bidders {
		b := &m.bidders[i]
		for j := range cost {
			cost[j] = prices[j] * b.load[j]
		}
		_, least := b.cheapestCorner(cost)
		b.corners = b.corners[:0]
		b.eachCorner(func(c corner) {
			if c.cost(cost) <= least*(1+1e-8)+1e-13 {
				b.corners = append(b.corners, c)
			}
		})
	}
}

// slopeBelow returns the rise of the cheapest cost with the floor, just below the floor.
func (b *bidder) slopeBelow(cost []float64, least float64) float64 {
	below := 0.0
	if b.floor > 0 {
		below = max(0, least/b.floor)
	}
	for k, v := range b.value {
		if v > 0 && v < b.floor {
			below = max(below, (least-cost[k])/(b.floor-v))
		}
	}
	return below
}

// cost writes what X = 1 of b costs on each type at prices, less its reward.
func (b *bidder) cost(prices, out []float64) {
	for j := range out {
		out[j] = prices[j] * b.load[j]
		if b.reward != nil {
			out[j] -= b.reward[j]
		}
	}
}

// respond returns the answer of all bidders to prices, and its cost.
func (m *market) respond(prices []float64) (a answer, total float64) {
	a = answer{x: make([]float64, len(m.bidders)*m.types), usage: make([]float64, m.types)}
	var buffer [maxTypes]float64
	cost := buffer[:m.types]
	for i := range m.bidders {
		b, x := &m.bidders[i], a.x[i*m.types:(i+1)*m.types]
		b.cost(prices, cost)
		total += b.cheapest(cost, x)
		a.add(b, x)
	}
	return a, total
}

// add adds what one bidder takes.
func (a *answer) add(b *bidder, x []float64) {
	for j, v := range x {
		if v == 0 {
			continue
		}
		a.usage[j] += v * b.load[j]
		if b.reward != nil {
			a.worth += v * b.reward[j]
		}
	}
}

// mix returns the average of answers with weights that add up to 1.
func (m *market) mix(answers []answer, weights []float64) answer {
	out := answer{x: make([]float64, len(m.bidders)*m.types), usage: make([]float64, m.types)}
	sum := 0.0
	for _, w := range weights {
		sum += max(0, w)
	}
	for k, w := range weights {
		if w <= 0 {
			continue
		}
		w /= sum
		for i, v := range answers[k].x {
			out.x[i] += w * v
		}
		for j, v := range answers[k].usage {
			out.usage[j] += w * v
		}
		out.worth += w * answers[k].worth
	}
	return out
}

// rows returns the rows of the master: one of each type, one that makes weights add up to 1.
func (m *market) rows() []int {
	rows := make([]int, m.types+1)
	for j := range rows {
		rows[j] = j
	}
	return rows
}

// spread returns an answer that keeps all floors and whose busiest type is as little busy as possible,
// the use of that type, and the prices that prove it: no answer with these floors costs less at them.
// The prices add up to 1. hint are prices to begin with.
func (m *market) spread(hint []float64) (best answer, busiest float64, prices []float64) {
	first, _ := m.respond(hint)
	answers, rows, top := []answer{first}, m.rows(), 0
	for j, u := range first.usage {
		if u > first.usage[top] {
			top = j
		}
	}
	// Variables: the busiest use, the slack of each type, the weight of each answer.
	ones := make([]float64, m.types)
	for j := range ones {
		ones[j] = -1
	}
	variables := []linear.Variable{linear.Bounded(rows[:m.types], ones, 1, 0, math.Inf(1))}
	basis := make([]int, m.types+1)
	for j := range m.types {
		variables = append(variables, linear.Bounded(rows[j:j+1], nil, 0, 0, math.Inf(1)))
		basis[j] = j + 1
	}
	basis[top], basis[m.types] = 0, len(variables)
	variables = append(variables, m.column(rows, &first, 0))
	right := make([]float64, m.types+1)
	right[m.types] = 1
	p := linear.NewProgram(right, variables, basis, nil)
	for len(answers) < maxAnswers {
		pivots := p.Pivots
		p.Solve(context.Background(), maxPivots)
		if len(answers) > 1 && p.Pivots == pivots {
			break // by rounding: the last answer did not help
		}
		prices = pricesOf(p, m.types)
		next, cost := m.respond(prices)
		if p.Values[0]-cost <= gapTolerance*max(1, p.Values[0]) {
			break
		}
		answers = append(answers, next)
		p.Add(m.column(rows, &next, 0))
	}
	p.Refresh()
	best = m.mix(answers, p.Values[m.types+1:])
	for _, u := range best.usage {
		busiest = max(busiest, u)
	}
	return best, busiest, prices
}

// column returns the variable of an answer's weight.
func (m *market) column(rows []int, a *answer, cost float64) linear.Variable {
	return linear.Bounded(rows, append(append(make([]float64, 0, m.types+1), a.usage...), 1), cost, 0, math.Inf(1))
}

// pricesOf returns the prices of the types. The program's own are what one more unit of use costs: 0 or
// less.
func pricesOf(p *linear.Program, types int) []float64 {
	prices := make([]float64, types)
	for j := range prices {
		prices[j] = max(0, -p.Prices[j])
	}
	return prices
}

// enrich returns the answer with the largest worth that keeps all floors and uses no type above its
// GPUs. It begins from one that does. The worth is scaled by scale, the order of what can be had.
func (m *market) enrich(first answer, scale float64) (best answer, prices []float64) {
	if scale <= 0 {
		return first, make([]float64, m.types)
	}
	answers, rows := []answer{first}, m.rows()
	var variables []linear.Variable
	basis, right := make([]int, m.types+1), make([]float64, m.types+1)
	for j := range m.types {
		variables = append(variables, linear.Bounded(rows[j:j+1], nil, 0, 0, math.Inf(1)))
		basis[j], right[j] = j, 1
	}
	basis[m.types], right[m.types] = len(variables), 1
	p := linear.NewProgram(right, append(variables, m.column(rows, &first, -first.worth/scale)), basis, nil)
	for len(answers) < maxAnswers {
		pivots := p.Pivots
		p.Solve(context.Background(), maxPivots)
		if len(answers) > 1 && p.Pivots == pivots {
			break // by rounding: the last answer did not help
		}
		prices = pricesOf(p, m.types)
		for j := range prices {
			prices[j] *= scale
		}
		next, cost := m.respond(prices)
		// The answer's reduced cost in the master, in its scale.
		if cost/scale-p.Prices[m.types] >= -gapTolerance {
			break
		}
		answers = append(answers, next)
		p.Add(m.column(rows, &next, -next.worth/scale))
	}
	p.Refresh()
	best = m.mix(answers, p.Values[m.types:])
	for _, u := range best.usage {
		if u > 1+1e-9 {
			return first, prices // the basis is too near to singular
		}
	}
	return best, m.lift(prices)
}

// lift returns prices at which the answers of restrict are the cheapest of all: prices, and so much more of
// the prices of restrict as that takes.
func (m *market) lift(prices []float64) []float64 {
	if m.face == nil {
		return prices
	}
	var buffer [maxTypes]float64
	cost, out, more := buffer[:m.types], make([]float64, m.types), 0.0
	for range 40 {
		within, all := 0.0, 0.0
		for j := range out {
			out[j] = prices[j] + more*m.face[j]
		}
		for i := range m.bidders {
			b := &m.bidders[i]
			b.cost(out, cost)
			_, least := b.cheapestCorner(cost)
			all += least
			least = math.Inf(1)
			for k := range b.corners {
				least = min(least, b.corners[k].cost(cost))
			}
			within += least
		}
		if within-all <= 1e-12*max(1, math.Abs(all)) {
			break
		}
		more = max(2*more, 1)
	}
	return out
}

// scaleDown scales an answer that is above the GPUs by rounding down to them.
func (a *answer) scaleDown() {
	for _, u := range a.usage {
		if u <= 1 {
			continue
		}
		for i := range a.x {
			a.x[i] /= u
		}
		for j := range a.usage {
			a.usage[j] /= u
		}
		a.worth /= u
	}
}
