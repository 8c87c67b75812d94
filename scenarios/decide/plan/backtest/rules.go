package backtest

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// Past is what is known when a decision is made: the demand before it, and the prices of the day.
type Past struct {
	Curve *plan.Curve    // the whole demand; only steps before Now may be looked at
	Now   int            // first step that is not known
	Steps int            // number of steps that the decision is for
	Term  *plan.Term     // what can be bought
	Paid  capcli.Rate    // price of a committed GPU-hour
	Open  capcli.Rate    // price of a GPU-hour on demand
	Lot   int64          // thousandths of a GPU that are bought together
	End   capcli.Seconds // when the commitment ends
}

// Demand returns the steps of the last days that are known, in GPU time.
func (p *Past) Demand(days int) []capcli.GPUTime { return p.Curve.Work[p.firstOf(days):p.Now] }

func (p *Past) firstOf(days int) int {
	from := p.Now
	for from > 0 && p.Curve.StepStart(p.Now)-p.Curve.StepStart(from-1) <= capcli.Seconds(days)*capcli.Day {
		from--
	}
	return from
}

// Levels returns the known demand by step, in GPUs.
func (p *Past) Levels() []float64 {
	out := make([]float64, p.Now)
	for i := range out {
		out[i] = p.Curve.GPUs(i)
	}
	return out
}

// Decision is what a rule buys.
type Decision struct {
	Lots    int64
	Promise *Range // of the cost; nil is none
}

// Range is the cost of a decision over possible futures: its mean, and the ends of the range that
// holds it with a probability of 80 %. The mean lies within.
type Range struct{ Low, Mean, High capcli.USD }

// Choose returns the lots with the least mean cost over possible futures of the steps to come, in
// GPUs, and the range of that cost from the 10 % to the 90 % quantile. For one purchase it is the
// optimum that plan.Field finds: costs are convex, and their mean is that of all futures' hours
// together.
func (p *Past) Choose(paths [][]float64) (Decision, error) {
	whole := &plan.Curve{Start: capcli.NoTime, Step: p.Curve.Step}
	for _, path := range paths {
		for _, v := range path {
			whole.Work = append(whole.Work, capcli.GPUTime(math.Round(1000*v))*capcli.GPUTime(whole.Step.Length()))
		}
	}
	if err := whole.Check(); err != nil {
		return Decision{}, err
	}
	open := func(int) capcli.Rate { return p.Open }
	d := Decision{}
	d.Lots, _ = newStretch(whole, 0, len(whole.Work), p.Paid, p.Lot, open).optimum()
	var costs []capcli.USD
	for at, path := range paths {
		from := at * len(path)
		costs = append(costs, newStretch(whole, from, from+len(path), p.Paid, p.Lot, open).cost(d.Lots))
	}
	slices.Sort(costs)
	last := len(costs) - 1
	mean := 0.0
	for _, c := range costs {
		mean += c.Float() / float64(len(costs))
	}
	low, high := costs[last/10], costs[last-last/10]
	d.Promise = &Range{low, min(high, max(low, dollars(mean))), high}
	return d, nil
}

// Rule decides how many lots to commit to, from the past alone.
type Rule struct {
	Name   string
	Doc    string
	Decide func(p *Past) (Decision, error)

	play func(s *spell) (Outcome, error) // in place of Decide, for rules that buy at any step
}

// Rules returns the rules of thumb.
//
//   - all-on-demand buys nothing.
//   - break-even-N is the fewest lots that would have cost least over the last N days at the prices
//     of the day. AWS Cost Explorer and Azure Advisor recommend so from the last 7, 30 and 60 days:
//     Azure simulates the cost of every hour's use of the period as a commitment and takes the
//     cheapest, which is the same number, for the cost is convex with kinks there. Google's
//     "optimal" recommendation is break-even-30.
//   - gcp-stable, Google's "stable usage", is the least use of any hour of the last 30 days.
//   - mean-N is the mean of the last N days, rounded half up.
//   - newsvendor-60 is the smallest use that at least 1 - r/p of the last 60 days' hours do not
//     exceed, where r is the rate and p the price on demand (Arrow, Harris & Marschak 1951);
//     newsvendor-60-linear interpolates between hours (R's type 7) and rounds half up.
func Rules() []Rule {
	out := []Rule{{Name: "all-on-demand", Doc: "nothing is bought", Decide: func(*Past) (Decision, error) { return Decision{}, nil }}}
	for _, days := range []int{7, 30, 60} {
		out = append(out,
			Rule{Name: fmt.Sprintf("break-even-%d", days), Doc: fmt.Sprintf("what would have cost least over the last %d days", days), Decide: func(p *Past) (Decision, error) { return Decision{Lots: p.BreakEven(days)}, nil }},
			Rule{Name: fmt.Sprintf("mean-%d", days), Doc: fmt.Sprintf("the mean of the last %d days", days), Decide: func(p *Past) (Decision, error) { return Decision{Lots: p.mean(days)}, nil }})
	}
	return append(out,
		Rule{Name: "gcp-stable", Doc: "the least use of any hour of the last 30 days", Decide: func(p *Past) (Decision, error) { return Decision{Lots: p.stable(30)}, nil }},
		Rule{Name: "newsvendor-60", Doc: "the quantile 1 - r/p of the last 60 days", Decide: func(p *Past) (Decision, error) { return Decision{Lots: p.quantile(60, false)}, nil }},
		Rule{Name: "newsvendor-60-linear", Doc: "the same, interpolated between hours", Decide: func(p *Past) (Decision, error) { return Decision{Lots: p.quantile(60, true)}, nil }},
	)
}

// BreakEven returns the fewest lots that would have cost least over the last days, at the prices of
// the day; 0 without a past.
func (p *Past) BreakEven(days int) int64 {
	from := p.firstOf(days)
	if from == p.Now {
		return 0
	}
	fewest, _ := newStretch(p.Curve, from, p.Now, p.Paid, p.Lot, func(int) capcli.Rate { return p.Open }).optimum()
	return fewest
}

// lotTime returns the GPU time of a lot in the step before Now.
func (p *Past) lotTime() int64 {
	return p.Lot * int64(p.Curve.StepStart(p.Now)-p.Curve.StepStart(p.Now-1))
}

func (p *Past) mean(days int) int64 {
	list := p.Demand(days)
	if len(list) == 0 {
		return 0
	}
	var sum int64
	for _, w := range list {
		sum += int64(w)
	}
	size := p.lotTime() * int64(len(list))
	return (sum + size/2) / size
}

func (p *Past) stable(days int) int64 {
	list := p.Demand(days)
	if len(list) == 0 {
		return 0
	}
	return int64(slices.Min(list)) / p.lotTime()
}

// quantile returns the quantile 1 - r/p of the last days, rounded half up to a lot.
func (p *Past) quantile(days int, linear bool) int64 {
	list := slices.Clone(p.Demand(days))
	if len(list) == 0 || p.Paid >= p.Open {
		return 0
	}
	slices.Sort(list)
	n, size := len(list), float64(p.lotTime())
	if linear {
		at := float64(p.Open-p.Paid) / float64(p.Open) * float64(n-1)
		i := min(int(at), n-2)
		if n == 1 {
			return int64(math.Floor(float64(list[0])/size + 0.5))
		}
		v := float64(list[i]) + (at-float64(i))*float64(list[i+1]-list[i])
		return int64(math.Floor(v/size + 0.5))
	}
	rank := (int64(p.Open-p.Paid)*int64(n) + int64(p.Open) - 1) / int64(p.Open)
	return int64(math.Floor(float64(list[max(1, rank)-1])/size + 0.5))
}
