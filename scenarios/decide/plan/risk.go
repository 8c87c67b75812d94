package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"capcli/simulate/exact"

	"capcli"
)

// RiskKind is a way to summarise the costs of a plan over all futures.
type RiskKind uint8

// The kinds of risk.
const (
	Mean     RiskKind = iota // of all futures
	Quantile                 // nearest rank: the least cost that is not exceeded in a share Level of the futures
	CVaR                     // the mean over the worst 1-Level of the futures
)

// Risk is the figure of the costs over the futures that a plan minimises.
type Risk struct {
	Kind  RiskKind
	Level int64 // in millionths, below one million; 0 for Mean
}

// one is a level of 100 %.
const one = 1_000_000

// ParseRisk parses "mean", "q80" or "cvar95"; levels are percent.
func ParseRisk(text string) (Risk, error) {
	bad := fmt.Errorf("%q is not a risk; write mean, q80 (a quantile of the cost) or cvar95 (the mean over the worst 5 %%)", text)
	s := strings.ToLower(strings.TrimSpace(text))
	if s == "mean" {
		return Risk{}, nil
	}
	r := Risk{Kind: CVaR}
	number, ok := strings.CutPrefix(s, "cvar")
	if !ok {
		r.Kind = Quantile
		if number, ok = strings.CutPrefix(s, "q"); !ok {
			return Risk{}, bad
		}
	}
	number = strings.TrimSuffix(strings.TrimLeft(number, " -="), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v < 100) {
		return Risk{}, bad
	}
	r.Level = int64(v*one/100 + 0.5)
	if r.Level >= one || r.Kind == Quantile && r.Level == 0 {
		return Risk{}, bad
	}
	return r, nil
}

// String returns r in the form that ParseRisk reads.
func (r Risk) String() string {
	level := strconv.FormatFloat(float64(r.Level)*100/one, 'f', -1, 64)
	switch r.Kind {
	case Quantile:
		return "q" + level
	case CVaR:
		return "cvar" + level
	case Mean:
	}
	return "mean"
}

// Words returns r in words: "mean", "80% quantile" or "mean of the worst 5%".
func (r Risk) Words() string {
	percent := func(level int64) string { return strconv.FormatFloat(float64(level)/10_000, 'f', -1, 64) }
	switch r.Kind {
	case Quantile:
		return percent(r.Level) + "% quantile"
	case CVaR:
		return "mean of the worst " + percent(one-r.Level) + "%"
	case Mean:
	}
	return "mean"
}

// rank returns the rank, from 1, of the quantile among n costs in rising order.
func (r Risk) rank(n int) int {
	k := new(big.Int).Mul(big.NewInt(r.Level), big.NewInt(int64(n)))
	k.Add(k, big.NewInt(one-1)).Div(k, big.NewInt(one))
	return max(1, int(k.Int64()))
}

// Measure returns the exact risk of some costs, one for each future; a mean and a CVaR are seldom
// whole. Where 1-Level of the futures is no whole number of them, the last of the worst counts with
// the fraction (Rockafellar and Uryasev, "Conditional value-at-risk for general loss
// distributions", 2002).
func (r Risk) Measure(costs []int64) *big.Rat { return r.MeasureWeighted(costs, nil) }

// MeasureWeighted is Measure of futures with whole weights, which need not be alike. No weights count
// all futures alike. A quantile is the least cost that is not exceeded in a share Level of the weight.
func (r Risk) MeasureWeighted(costs, of []int64) *big.Rat {
	if r.Kind == Quantile {
		in := r.cheapest(costs, of)
		most := costs[in[0]]
		for _, i := range in {
			most = max(most, costs[i])
		}
		return new(big.Rat).SetInt64(most)
	}
	weights, whole := r.worstWeights(costs, of)
	sum := new(big.Int)
	for i, w := range weights {
		sum.Add(sum, exact.Product(w, costs[i]))
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(whole))
}

// worstWeights returns the weight of each cost in a mean or a CVaR, and their sum: the highest
// costs first, each up to its limit; ties go to the first.
func (r Risk) worstWeights(costs, of []int64) (weights []int64, whole int64) {
	limits, whole := r.limits(len(costs), of)
	order := allOf(len(costs))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	weights = make([]int64, len(costs))
	left := whole
	for _, i := range order {
		weights[i] = min(limits[i], left)
		left -= weights[i]
	}
	return weights, whole
}

// limits returns the largest weight of each of n futures in a mean or CVaR, and the sum of all
// weights, in the least whole numbers. No weights of futures count all alike.
func (r Risk) limits(n int, of []int64) (limits []int64, whole int64) {
	level := r.Level
	if r.Kind != CVaR {
		level = 0
	}
	limits = make([]int64, n)
	for i := range limits {
		limits[i] = one * weightOf(of, i)
		whole += (one - level) * weightOf(of, i)
	}
	g := whole
	for i := range limits {
		limits[i] = min(limits[i], whole)
		g = exact.GCD(g, limits[i])
	}
	for i := range limits {
		limits[i] /= g
	}
	return limits, whole / g
}

// weightOf returns the weight of a future; 1 where there are no weights.
func weightOf(of []int64, i int) int64 {
	if of == nil {
		return 1
	}
	return of[i]
}

// cheapest returns the numbers, rising, of the futures that cost least and together have a share
// Level of the weight; ties go to the lower number.
func (r Risk) cheapest(costs, of []int64) []int {
	order := allOf(len(costs))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	n := r.countEnough(order, of)
	in := order[:n]
	slices.Sort(in)
	return in
}

// countEnough returns how many of the futures, in their order, have a share Level of the weight, at least one.
func (r Risk) countEnough(order []int, of []int64) int {
	all, sum := new(big.Int), new(big.Int)
	for _, i := range order {
		all.Add(all, exact.Product(r.Level, weightOf(of, i)))
	}
	for n, i := range order {
		if sum.Add(sum, exact.Product(one, weightOf(of, i))); sum.Cmp(all) >= 0 {
			return n + 1
		}
	}
	return len(order)
}

// USD returns the risk of amounts of money, rounded half up, or down where half is false; 0 for no
// amounts.
func (r Risk) USD(costs []capcli.USD, half bool) capcli.USD { return r.WeightedUSD(costs, nil, half) }

// WeightedUSD is USD of futures with whole weights; nil counts all alike.
func (r Risk) WeightedUSD(costs []capcli.USD, weights []int64, half bool) capcli.USD {
	if len(costs) == 0 {
		return 0
	}
	list := capcli.Map(costs, func(u capcli.USD) int64 { return int64(u) })
	v := r.MeasureWeighted(list, weights)
	n, d := new(big.Int).Mul(v.Num(), big.NewInt(2)), v.Denom()
	if half {
		n.Add(n, d)
	}
	return capcli.USD(n.Div(n, new(big.Int).Mul(d, big.NewInt(2))).Int64()) // no larger than the largest amount
}
