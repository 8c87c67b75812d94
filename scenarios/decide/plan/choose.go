package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"capcli"
)

// Choice is one set of purchases for all futures of a Field.
type Choice struct {
	Costs  []int64  // in each future, in the field's unit
	Value  *big.Rat // the risk of Costs
	Bound  *big.Rat // no choice has a lower risk
	Rounds int      // weightings of the futures that were solved

	bought []int64
}

// Exact reports whether no choice can be better.
func (c *Choice) Exact() bool { return c.Value.Cmp(c.Bound) <= 0 }

// Gap returns the most that a choice could be better: (value - bound) / bound.
func (c *Choice) Gap() float64 {
	if c.Exact() {
		return 0
	}
	if c.Bound.Sign() <= 0 {
		return math.Inf(1)
	}
	gap := new(big.Rat).Sub(c.Value, c.Bound)
	v, _ := gap.Quo(gap, c.Bound).Float64()
	return v
}

// maxRounds is the most rounds of cutting planes; closeEnough is the relative gap that ends them.
const (
	maxRounds   = 60
	closeEnough = 1e-9
)

// Choose returns the purchases with the least risk over the futures.
//
// Mean: the costs of the levels are averaged over the futures and the flow is solved once. A sum of
// convex costs is convex, so this is the exact optimum.
//
// CVaR is the largest weighted mean of the costs over all weights that sum to one and are at most
// 1/((1-Level)·futures) each. So the least CVaR is a game between purchases and weights. For any
// weights one flow gives a lower bound; its purchases are a choice, and a cut for the weights
// (Kelley 1960; Dantzig and Wolfe 1960 seen from the choices). Weights half way to the best known
// are tried first (Wentges 1997). Choose keeps the best choice met, also after rounding the mixture
// that the cuts give and after a local search around it. Its distance from the best bound is the
// gap.
//
// Quantile is not convex. Its bound is the k-th smallest of the futures' own optima, for no choice
// costs less than the optimum in any future. Choices come from the same game over the k futures
// that cost least, repeated until the same futures cost least.
func (f *Field) Choose(ctx context.Context, risk Risk) (*Choice, error) {
	if risk.Kind == Quantile {
		return f.quantile(ctx, risk)
	}
	limits, whole := risk.limits(f.Count(), f.weights)
	h := &hunt{f: f, risk: risk, in: allOf(f.Count())}
	if sumOf(limits) == whole { // each future counts with its limit
		h.limits, h.whole = limits, whole
		return h.solveOnce(ctx)
	}
	h.refineWeights(limits, whole, 1024)
	if err := h.run(ctx); err != nil {
		return nil, err
	}
	return h.best, nil
}

func sumOf(list []int64) int64 {
	var sum int64
	for _, v := range list {
		sum += v
	}
	return sum
}

func allOf(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// hunt is the search for the least risk over some futures.
type hunt struct {
	f      *Field
	risk   Risk
	in     []int     // the futures that count
	limits []int64   // largest weight of each of them
	whole  int64     // the sum of the weights
	within *box      // the choices that count; nil is all
	mixed  []float64 // the mixture of choices that the cuts gave last
	best   *Choice
	bound  *big.Rat
	center []float64 // the weights of the best bound
	game   game
	plans  [][]int64
	rounds int
	near   *margins // of the choice that was the best when they were last asked for
}

// refineWeights multiplies limits and whole, so that weights have a finer grid, as far as amounts
// allow and at most by a number.
func (h *hunt) refineWeights(limits []int64, whole, most int64) {
	by := int64(1)
	for by < most && float64(h.f.top)*float64(whole)*float64(2*by) < 1<<59 {
		by *= 2
	}
	h.limits = make([]int64, len(limits))
	for i, l := range limits {
		h.limits[i] = l * by
	}
	h.whole = whole * by
}

// evenLimits lets each future have all the weight: the game is then about the highest cost in any.
func (h *hunt) evenLimits() {
	limits := make([]int64, len(h.in))
	for i := range limits {
		limits[i] = 1
	}
	h.refineWeights(limits, 1, 1024)
}

// solveOnce solves the flow in which each future has its largest weight.
func (h *hunt) solveOnce(ctx context.Context) (*Choice, error) {
	if err := h.try(ctx, h.limits); err != nil {
		return nil, err
	}
	h.best.Rounds = 1
	return h.best, nil
}

// run plays the game until the gap is closed or no cut improves it.
func (h *hunt) run(ctx context.Context) error {
	w := make([]float64, len(h.in))
	h.game.most = make([]float64, len(h.in))
	most := sumOf(h.limits)
	if most < h.whole {
		return errors.New("the weights of the futures cannot sum to one")
	}
	for i, l := range h.limits {
		w[i], h.game.most[i] = float64(l)/float64(most), float64(l)/float64(h.whole)
	}
	direct := false
	for h.rounds < maxRounds {
		before := h.bound
		if err := h.try(ctx, h.weigh(w)); err != nil {
			return err
		}
		if better := before == nil || h.bound.Cmp(before) > 0; better {
			h.center = w
			direct = false
		} else {
			direct = !direct
		}
		next, shares, value := h.game.solve(ctx)
		if err := h.mix(shares); err != nil {
			return err
		}
		bound, _ := h.bound.Float64()
		if h.best.Exact() || value-bound <= closeEnough*math.Abs(bound) {
			break
		}
		w = next
		if !direct {
			w = make([]float64, len(next))
			for i := range w {
				w[i] = (next[i] + h.center[i]) / 2
			}
		}
	}
	if h.within != nil {
		return nil
	}
	err := h.polish()
	h.best.Bound, h.best.Rounds = h.bound, h.rounds
	return err
}

// weigh converts shares to whole weights: rounded down, with the remainder given to the largest
// fractions.
func (h *hunt) weigh(w []float64) []int64 {
	out := make([]int64, h.f.Count())
	rest := make([]float64, len(w))
	left := h.whole
	for i, v := range w {
		exact := v * float64(h.whole)
		n := min(h.limits[i], int64(exact))
		out[h.in[i]], rest[i] = n, exact-float64(n)
		left -= n
	}
	order := allOf(len(w))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for left > 0 {
		for _, i := range order {
			if s := h.in[i]; left > 0 && out[s] < h.limits[i] {
				out[s]++
				left--
			}
		}
	}
	return out
}

// try solves the flow for some weights. It yields a bound, a choice and a cut.
func (h *hunt) try(ctx context.Context, weights []int64) error {
	bought, least, err := h.f.solve(ctx, weights, h.within)
	if err != nil {
		return err
	}
	h.rounds++
	if bound := new(big.Rat).SetFrac(least, big.NewInt(h.whole)); h.bound == nil || bound.Cmp(h.bound) > 0 {
		h.bound = bound
	}
	costs, err := h.keep(bought)
	if err != nil {
		return err
	}
	cut := capcli.Map(h.in, func(s int) float64 { return float64(costs[s]) })
	h.game.plans, h.plans = append(h.game.plans, cut), append(h.plans, bought)
	return nil
}

// keep returns the costs of a choice and makes it the best where its risk is lower.
func (h *hunt) keep(bought []int64) ([]int64, error) {
	costs, err := h.f.costs(bought)
	if err != nil {
		return nil, err
	}
	value := h.value(costs)
	if h.best == nil || value.Cmp(h.best.Value) < 0 {
		h.best = &Choice{Costs: costs, Value: value, bought: bought}
	}
	h.best.Bound = h.bound
	return costs, nil
}

// value returns the risk of some costs; for a quantile, the highest cost in the futures of the
// hunt.
func (h *hunt) value(costs []int64) *big.Rat {
	if h.risk.Kind != Quantile {
		return h.risk.MeasureWeighted(costs, h.f.weights)
	}
	most := int64(math.MinInt64)
	for _, s := range h.in {
		most = max(most, costs[s])
	}
	return new(big.Rat).SetInt64(most)
}

// mix tries the mixture of choices that the cuts give, rounded to whole lots.
func (h *hunt) mix(shares []float64) error {
	bought := make([]int64, len(h.plans[0]))
	h.mixed = make([]float64, len(bought))
	for i := range bought {
		for k, x := range shares {
			h.mixed[i] += x * float64(h.plans[k][i])
		}
		bought[i] = int64(math.Round(h.mixed[i]))
	}
	if len(shares) < 2 {
		return nil
	}
	_, err := h.keep(h.capped(bought))
	return err
}

// capped limits a choice to what each term allows, and to the choices that count.
func (h *hunt) capped(bought []int64) []int64 {
	if h.within != nil {
		return h.within.clamp(bought)
	}
	for i := range bought {
		bought[i] = h.f.deal.options[i].capLots(max(0, bought[i]))
	}
	return bought
}
