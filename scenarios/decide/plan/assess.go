package plan

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"capcli/simulate/exact"

	"capcli"
)

// Assessed is a plan, or a rule that decides as it goes, and its outcome in each future.
type Assessed struct {
	Name      string
	Doc       string     // how it decides
	Purchases []Purchase // in order of start; nil for a rule or plan that decides anew in each future
	First     []Purchase // purchases before the next decision, of a plan that decides again
	Outcomes  []InFuture // by future
	Levels    []Covered  // committed over time, with GPUs held before; nil where Purchases is

	costs []int64 // in the field's unit
}

// InFuture is the outcome of a plan in one future.
type InFuture struct {
	Cost      capcli.USD
	Committed capcli.USD // part of Cost
	OnDemand  capcli.USD // part of Cost
	Unused    capcli.USD // part of Committed: for committed GPU time that the demand did not use
	Regret    capcli.USD // Cost less that of the best plan of this future; 0 until Field.Regret is called

	Wanted, Covered, Paid capcli.GPUTime // the demand, the part of it that commitments serve, and all committed GPU time up to the end
}

// Covered is a span of time with a constant number of committed GPUs.
type Covered struct {
	From, To capcli.Seconds
	Milli    int64 // GPUs in thousandths
}

// Assess returns the outcomes of a choice in all futures.
func (f *Field) Assess(name, doc string, c *Choice) (*Assessed, error) {
	out, err := f.assess(name, doc, func(int) []int64 { return c.bought })
	if err != nil {
		return nil, err
	}
	if out.Purchases, err = f.purchases(c.bought); err != nil {
		return nil, err
	}
	lot := f.deal.m.lot()
	for m, level := range f.levels(c.bought) {
		if n := len(out.Levels); n > 0 && out.Levels[n-1].Milli == level*lot {
			out.Levels[n-1].To = f.deal.edges[m+1]
			continue
		}
		out.Levels = append(out.Levels, Covered{f.deal.edges[m], f.deal.edges[m+1], level * lot})
	}
	return out, nil
}

// purchases returns a choice in GPUs and dollars.
func (f *Field) purchases(bought []int64) ([]Purchase, error) {
	out := []Purchase{}
	for i, n := range bought {
		if n == 0 {
			continue
		}
		p, err := f.deal.purchase(i, n, exact.Product(n, f.cost[i]))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Purchase) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Term, b.Term)) })
	return out, nil
}

// assess returns the outcomes of purchases that may differ from future to future.
func (f *Field) assess(name, doc string, bought func(s int) []int64) (*Assessed, error) {
	out := &Assessed{Name: name, Doc: doc, Outcomes: make([]InFuture, f.Count()), costs: make([]int64, f.Count())}
	for s := range out.Outcomes {
		b := bought(s)
		costs, err := f.costs(b, s)
		if err != nil {
			return nil, err
		}
		out.costs[s] = costs[0]
		if out.Outcomes[s], err = f.inFuture(s, b, costs[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inFuture returns the outcome in future s of a choice with the given cost.
func (f *Field) inFuture(s int, bought []int64, cost int64) (InFuture, error) {
	var o InFuture
	var err error
	if o.Cost, err = f.usd(big.NewRat(cost, 1)); err != nil {
		return o, err
	}
	fixed := new(big.Int)
	hourly := make([]float64, len(f.held)) // rate of the bought lots in each period, times their thousandths of GPUs
	for i, n := range bought {
		if n == 0 {
			continue
		}
		fixed.Add(fixed, exact.Product(n, f.cost[i]))
		x := f.deal.options[i]
		for m := x.first; m < x.last; m++ {
			hourly[m] += float64(n*f.deal.m.lot()) * float64(x.rate)
		}
	}
	if o.Committed, err = f.usd(new(big.Rat).SetInt(fixed)); err != nil {
		return o, err
	}
	o.OnDemand = o.Cost - o.Committed
	var lost unused
	for m, level := range f.levels(bought) {
		size := capcli.GPUTime(level * f.deal.m.lot())
		var used capcli.GPUTime
		for _, p := range f.pieces[s][m] {
			o.Wanted += capcli.GPUTime(p.Work)
			used += min(capcli.GPUTime(p.Work), size*capcli.GPUTime(p.Duration))
		}
		paid := size * capcli.GPUTime(f.deal.edges[m+1]-f.deal.edges[m])
		o.Covered += used
		o.Paid += paid
		lost.add(hourly[m], int64(size), paid-used)
	}
	o.Unused, err = lost.usd(f.deal.scale)
	return o, err
}

// Risk returns the risk of a's cost.
func (f *Field) Risk(a *Assessed, r Risk) (capcli.USD, error) { return f.usd(r.Measure(a.costs)) }

// Bound returns the lower bound on the risk of every choice.
func (f *Field) Bound(c *Choice) (capcli.USD, error) { return f.usd(c.Bound) }

// Regret fills in the regret of each plan in each future: its cost less that of the best plan of
// the future, from OptimumOfEach.
func (f *Field) Regret(alone []*Choice, plans ...*Assessed) error {
	for _, a := range plans {
		for s := range a.Outcomes {
			best, err := f.usd(alone[s].Bound)
			if err != nil {
				return err
			}
			a.Outcomes[s].Regret = a.Outcomes[s].Cost - best
		}
	}
	return nil
}

// MeanRegret returns the mean regret of a, rounded down.
func (a *Assessed) MeanRegret() capcli.USD {
	sum := new(big.Int)
	for i := range a.Outcomes {
		sum.Add(sum, big.NewInt(int64(a.Outcomes[i].Regret)))
	}
	return capcli.USD(sum.Div(sum, big.NewInt(int64(len(a.Outcomes)))).Int64())
}

// WorstFuture returns the number of the future in which a has its largest regret.
func (a *Assessed) WorstFuture() int {
	worst := 0
	for i := range a.Outcomes {
		if a.Outcomes[i].Regret > a.Outcomes[worst].Regret {
			worst = i
		}
	}
	return worst
}

// Quantiles returns the demand that is not exceeded in a share of the futures, step by step
// (nearest rank), in GPUs. It is not one of the futures, but a demand to size a plan for.
func (f *Futures) Quantiles(share float64) []float64 {
	out, column := make([]float64, f.Steps()), make([]float64, len(f.Paths))
	k := Risk{Kind: Quantile, Level: min(one-1, int64(share*one+0.5))}.rank(len(f.Paths)) - 1
	for i := range out {
		for s, p := range f.Paths {
			column[s] = p[i]
		}
		slices.Sort(column)
		out[i] = column[k]
	}
	return out
}

// Means returns the mean of the futures, step by step, in GPUs.
func (f *Futures) Means() []float64 {
	out := make([]float64, f.Steps())
	for i := range out {
		for _, p := range f.Paths {
			out[i] += p[i]
		}
		out[i] /= float64(len(f.Paths))
	}
	return out
}

// SizedFor returns the best purchases for one demand, as if it were certain, with their costs in
// the futures.
func (f *Field) SizedFor(ctx context.Context, demand []float64) (*Choice, error) {
	one, err := f.fieldFor(demand)
	if err != nil {
		return nil, err
	}
	c, err := one.Choose(ctx, Risk{})
	if err != nil {
		return nil, err
	}
	return f.choice(c.bought)
}

// fieldFor returns the field of one demand in the same market on the same time line.
func (f *Field) fieldFor(demand []float64) (*Field, error) {
	c := f.deal.c
	single := &Futures{Grid: capcli.Grid{Origin: c.Start, Step: c.Step}, Paths: [][]float64{demand}}
	return NewField(single, f.deal.m, f.sunk...)
}

// Multiply returns a choice with each purchase multiplied by a factor, to the nearest lot and within
// the limits of its term.
func (f *Field) Multiply(c *Choice, factor float64) (*Choice, error) {
	bought := make([]int64, len(c.bought))
	for i, n := range c.bought {
		bought[i] = f.deal.options[i].capLots(max(0, int64(math.Round(float64(n)*factor))))
	}
	return f.choice(bought)
}

// choice returns the choice of these purchases, with their costs and a bound of 0.
func (f *Field) choice(bought []int64) (*Choice, error) {
	costs, err := f.costs(bought)
	if err != nil {
		return nil, err
	}
	v := Risk{}.Measure(costs)
	return &Choice{Costs: costs, Value: v, Bound: new(big.Rat), bought: bought}, nil
}
