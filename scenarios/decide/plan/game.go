package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"capcli/simulate/linear"
)

// game is the master program of the cutting planes. Given some plans with their costs in every
// future, it finds the weights of the futures under which the cheapest plan costs the most. The
// dual is the mixture of plans whose cost under its worst weights is least:
//
//	max θ  so that  θ ≤ Σ w·costs of each plan,  Σ w = 1,  0 ≤ w ≤ most of the future.
type game struct {
	most  []float64   // by future
	plans [][]float64 // costs by plan, then future
}

// solve returns the weights of the futures, the shares of the plans and the value. It starts from
// the worst weights for the last plan. Row 0 of the program is Σ w = 1, row i+1 is plan i; its
// variables are the weights, θ, and one slack for each plan.
func (g *game) solve(ctx context.Context) (weights, shares []float64, value float64) {
	n, k := len(g.plans[0]), len(g.plans)
	low, span := math.Inf(1), 0.0
	for _, p := range g.plans {
		for _, c := range p {
			low, span = min(low, c), max(span, c)
		}
	}
	span = max(span-low, 1e-300)
	rows := allOf(k + 1)
	variables := make([]linear.Variable, 0, n+1+k)
	for s := range n {
		column := []float64{1}
		for _, p := range g.plans {
			column = append(column, -(p[s]-low)/span)
		}
		variables = append(variables, linear.Bounded(rows, column, 0, 0, g.most[s]))
	}
	variables = append(variables, linear.Variable{Rows: rows[1:], Slopes: []float64{-1}})
	for i := range k {
		variables = append(variables, linear.Bounded(rows[i+1:i+2], nil, 0, 0, math.Inf(1)))
	}
	basis, at := g.start()
	lp := linear.NewProgram(append([]float64{1}, make([]float64, k)...), variables, basis, at)
	lp.Solve(ctx, 50*(n+k+10))
	shares = make([]float64, k)
	for i := range shares {
		shares[i] = max(0, -lp.Prices[i+1])
	}
	weights = lp.Values[:n]
	for s, w := range weights {
		weights[s] = min(g.most[s], max(0, w))
	}
	return weights, shares, low + span*lp.Values[n]
}

// start returns the basis of the worst weights for the last plan, in which one weight is neither 0
// nor most. at holds the weights outside the basis that are most, with the value 1.
func (g *game) start() (basis []int, at map[int]int) {
	n, k := len(g.plans[0]), len(g.plans)
	w := g.worstWeights(g.plans[k-1])
	pick := 0
	at = map[int]int{}
	for s, v := range w {
		if v > 0 && (v < g.most[s] || w[pick] == 0) {
			pick = s
		}
		if v == g.most[s] {
			at[s] = 1
		}
	}
	delete(at, pick)
	basis = []int{pick}
	least, cheapest := math.Inf(1), 0
	for i, p := range g.plans {
		var sum float64
		for s, c := range p {
			sum += c * w[s]
		}
		if sum < least {
			least, cheapest = sum, i
		}
		basis = append(basis, n+1+i)
	}
	basis[cheapest+1] = n
	return basis, at
}

// worstWeights returns the weights under which a plan costs the most.
func (g *game) worstWeights(plan []float64) []float64 {
	order := allOf(len(plan))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(plan[b], plan[a]) })
	w, left := make([]float64, len(plan)), 1.0
	for _, s := range order {
		w[s] = min(g.most[s], left)
		if left -= w[s]; left < 1e-12 {
			break
		}
	}
	return w
}
