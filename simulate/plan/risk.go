package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"capcli/simulate/internal/exact"

	"capcli"
)

// RiskKind is a way to sum up the costs of a plan over all futures.
type RiskKind uint8

// The kinds of risk.
const (
	Mean     RiskKind = iota // of all futures
	Quantile                 // nearest rank: the least cost that is not exceeded in a share Level of the futures
	CVaR                     // the mean over the worst 1-Level of the futures
)

// Risk says what a plan is chosen by.
type Risk struct {
	Kind  RiskKind
	Level int64 // in millionths, below one; 0 for Mean
}

// one is the whole of a level.
const one = 1_000_000

// ParseRisk reads "mean", "q80" or "cvar95"; levels are percent.
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

// String gives r as ParseRisk reads it.
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

// Words says r in words: "mean", "80% quantile" or "mean of the worst 5%".
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

// rank is how many of n futures a quantile covers.
func (r Risk) rank(n int) int {
	k := new(big.Int).Mul(big.NewInt(r.Level), big.NewInt(int64(n)))
	k.Add(k, big.NewInt(one-1)).Div(k, big.NewInt(one))
	return max(1, int(k.Int64()))
}

// Measure returns the risk of some costs, one for each future, exactly: a mean and a CVaR
// are seldom whole. Where the worst 1-Level of the futures are no whole number of
// them, the last counts with the part that is left (Rockafellar and Uryasev,
// "Conditional value-at-risk for general loss distributions", 2002).
func (r Risk) Measure(costs []int64) *big.Rat {
	if r.Kind == Quantile {
		sorted := slices.Sorted(slices.Values(costs))
		return new(big.Rat).SetInt64(sorted[r.rank(len(costs))-1])
	}
	weights, whole := r.worstWeights(costs)
	sum := new(big.Int)
	for i, w := range weights {
		sum.Add(sum, exact.Product(w, costs[i]))
	}
	return new(big.Rat).SetFrac(sum, big.NewInt(whole))
}

// worstWeights gives the weights that a mean or a CVaR has each of some costs count with,
// and their sum: the most costly first, each up to its limit, ties to the first.
func (r Risk) worstWeights(costs []int64) (weights []int64, whole int64) {
	limit, whole := r.limits(len(costs))
	order := allOf(len(costs))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	weights = make([]int64, len(costs))
	left := whole
	for _, i := range order {
		weights[i] = min(limit, left)
		left -= weights[i]
	}
	return weights, whole
}

// limits are the most that one of n futures can weigh in a mean or CVaR, and the
// sum of all weights.
func (r Risk) limits(n int) (limit, whole int64) {
	level := r.Level
	if r.Kind != CVaR {
		level = 0
	}
	whole = (one - level) * int64(n)
	return min(one, whole), whole
}

// USD returns the risk of amounts of money, rounded half up or else down; that of
// none is 0.
func (r Risk) USD(costs []capcli.USD, half bool) capcli.USD {
	if len(costs) == 0 {
		return 0
	}
	list := make([]int64, len(costs))
	for i, u := range costs {
		list[i] = int64(u)
	}
	v := r.Measure(list)
	n, d := new(big.Int).Mul(v.Num(), big.NewInt(2)), v.Denom()
	if half {
		n.Add(n, d)
	}
	return capcli.USD(n.Div(n, new(big.Int).Mul(d, big.NewInt(2))).Int64()) // no more than the largest
}
