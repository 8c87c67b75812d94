package plan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/scenarios/decide/plan/online"

	"capcli"
)

// Shares of the peak in the three-tier rule of thumb: reserved for long, and bought for short; the
// middles of 20 to 30 % and 40 to 50 %. The rest is on demand.
const (
	tierReserved = 0.25
	tierFlex     = 0.45
)

// rightsizeWindow is how far back rolling rightsizing looks.
const rightsizeWindow = 90 * capcli.Day

// Baselines returns common plans and rules to compare a plan with. Plans are made for the mean of
// the futures, for that is what would be known. Rules see each future only up to the present.
//
//   - on-demand buys nothing;
//   - peak reserves as many GPUs as the mean demand ever wants, all the time, as
//     cheaply as the terms allow;
//   - three-tier reserves 25 % of that peak on the longest term that fits, keeps up
//     to 45 % more as the mean demand wants them on the shortest, and pays the rest
//     on demand;
//   - rightsize-90d looks back over 90 days at each time of purchase, and tops up to
//     the level that the shortest term would have paid for (its quantile);
//   - online-TERM is the deterministic rule of package online for one term.
func (f *Field) Baselines(ctx context.Context) ([]*Assessed, error) {
	mean, err := f.fieldFor(f.meanDemand())
	if err != nil {
		return nil, err
	}
	peak, err := mean.coverPeak(ctx)
	if err != nil {
		return nil, err
	}
	nothing, err := f.BuyNothing()
	if err != nil {
		return nil, err
	}
	out := []*Assessed{nothing}
	for _, fixed := range []struct {
		name, doc string
		bought    []int64
	}{
		{"peak", "the peak of the mean demand, reserved all the time", peak},
		{"three-tier", "25 % of the peak reserved for long, up to 45 % for short, the rest on demand", mean.threeTier()},
	} {
		c, err := f.choice(fixed.bought)
		if err != nil {
			return nil, err
		}
		a, err := f.Assess(fixed.name, fixed.doc, c)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	a, err := f.assess("rightsize-90d", "at each time of purchase, what the last 90 days would have paid for, on the shortest term", f.rightsize)
	if err != nil {
		return nil, err
	}
	out = append(out, a)
	for term := range f.deal.m.Terms {
		a, err := f.online(term)
		if err != nil {
			return nil, err
		}
		if a != nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// BuyNothing returns the plan that pays for all use on demand.
func (f *Field) BuyNothing() (*Assessed, error) {
	c, err := f.choice(make([]int64, len(f.cost)))
	if err != nil {
		return nil, err
	}
	return f.Assess("on-demand", "nothing is bought", c)
}

// maxRuled is the most purchase options with which the rules are played for a known demand.
const maxRuled = 30_000

// Rules returns the Baselines of a known demand, without the one that buys nothing; nil where there
// are no terms or too many purchase options.
func (m *Market) Rules(ctx context.Context, c *Curve) ([]*Assessed, error) {
	if len(c.Starts(m.period()))*len(m.Terms) > maxRuled {
		return nil, nil
	}
	f, err := fieldOf([]*Curve{c}, m, nil)
	if err != nil {
		return nil, err
	}
	list, err := f.Baselines(ctx)
	if err != nil || len(m.Terms) == 0 {
		return nil, err
	}
	return list[1:], nil
}

// meanDemand returns the mean of the futures, by known step, in GPUs.
func (f *Field) meanDemand() []float64 {
	out := make([]float64, len(f.deal.c.Work)-f.deal.c.tail)
	for i := range out {
		for _, c := range f.curves {
			out[i] += c.GPUs(i)
		}
		out[i] /= float64(f.Count())
	}
	return out
}

// peaks returns the most lots that the one future of f wants, in each period and overall.
func (f *Field) peaks() (by []int64, most int64) {
	by = make([]int64, len(f.held))
	for m, ps := range f.pieces[0] {
		for _, p := range ps {
			size := f.deal.m.lot() * p.Duration
			by[m] = max(by[m], (p.Work+size-1)/size)
		}
		most = max(most, by[m])
	}
	return by, most
}

// coverPeak returns the cheapest purchases that reserve the peak through every period that a term
// can cover.
func (f *Field) coverPeak(ctx context.Context) ([]int64, error) {
	_, most := f.peaks()
	bought := make([]int64, len(f.cost))
	if most == 0 || len(f.cost) == 0 {
		return bought, nil
	}
	p := &flow.Program{Periods: make([]flow.Levels, len(f.held))}
	var dear int64 = 1
	for _, c := range f.cost {
		dear = max(dear, c)
	}
	dear = max(1, min(4*dear, flow.LimitCost/int64(len(f.held)+1)))
	for m := range p.Periods {
		if n := most - f.held[m]; n > 0 {
			p.Periods[m] = flow.Levels{{Units: n, Cost: dear}}
		}
	}
	for i, x := range f.deal.options {
		p.Offers = append(p.Offers, x.offer(f.cost[i]))
	}
	s, err := flow.Solve(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.Bought, nil
}

// optionAt returns the longest or the shortest option at the first time of purchase from t on; -1
// where there is none.
func (f *Field) optionAt(t capcli.Seconds, longest bool) int {
	best := -1
	for i, x := range f.deal.options {
		if x.from < t {
			continue
		}
		if best >= 0 {
			b := f.deal.options[best]
			if x.from > b.from || x.from == b.from && (x.to == b.to || (x.to > b.to) != longest) {
				continue
			}
		}
		best = i
	}
	return best
}

// threeTier returns the purchases of the three-tier rule for the one future of f.
func (f *Field) threeTier() []int64 {
	by, most := f.peaks()
	bought := make([]int64, len(f.cost))
	reserved, flex := int64(math.Round(tierReserved*float64(most))), int64(math.Round(tierFlex*float64(most)))
	for i := f.optionAt(0, true); i >= 0; i = f.optionAt(f.deal.options[i].to, true) {
		bought[i] += f.deal.options[i].capLots(reserved)
	}
	for i := f.optionAt(0, false); i >= 0; i = f.optionAt(f.deal.options[i].to, false) {
		x := &f.deal.options[i]
		want := slices.Max(by[x.first:x.last]) - reserved
		bought[i] += x.capLots(max(0, min(flex, want)))
	}
	return bought
}

// rightsize returns the purchases of rolling rightsizing in future s.
func (f *Field) rightsize(s int) []int64 {
	bought := make([]int64, len(f.cost))
	for i := f.optionAt(0, false); i >= 0; i = f.optionAt(f.deal.options[i].from+1, false) {
		x := f.deal.options[i]
		if x.from < rightsizeWindow {
			continue
		}
		term := &f.deal.m.Terms[x.term]
		want := f.quantileBefore(s, x.from, term.Rate.At(x.from).Float()/f.deal.m.OnDemand.At(x.from).Float())
		if more := want - f.levels(bought)[x.first]; more > 0 {
			bought[i] = x.capLots(more)
		}
	}
	return bought
}

// quantileBefore returns the most lots that were in use for more than a share of the 90 days before
// an instant.
func (f *Field) quantileBefore(s int, at capcli.Seconds, share float64) int64 {
	type stay struct {
		lots int64
		dur  capcli.Seconds
	}
	var stays []stay
	c := f.curves[s]
	for i, w := range c.Work {
		from, to := c.StepStart(i), c.StepStart(i+1)
		if from >= at {
			break
		}
		if d := min(to, at) - max(from, at-rightsizeWindow); d > 0 {
			stays = append(stays, stay{int64(w) / (f.deal.m.lot() * int64(to-from)), d})
		}
	}
	slices.SortFunc(stays, func(a, b stay) int { return int(min(1, max(-1, b.lots-a.lots))) })
	var sum capcli.Seconds
	for i, x := range stays {
		sum += x.dur
		if i+1 < len(stays) && stays[i+1].lots == x.lots {
			continue
		}
		if float64(sum) > share*float64(rightsizeWindow) {
			return x.lots
		}
	}
	return 0
}

// online plays the online rule for one term in each future. A lease is bought at the next time of
// purchase, if the term is offered then. It returns nil where the rule does not apply. It needs a
// single, constant on-demand price above 0 and a constant price of the term, no discount, no limit
// on purchases, no held GPUs, steps that are not months, a term of at least one step, and no demand
// above online.MaxDemand.
func (f *Field) online(term int) (*Assessed, error) {
	m, c := f.deal.m, f.deal.c
	t := &m.Terms[term]
	if len(m.OnDemand) != 1 || len(t.Rate) != 1 || m.Discount != 0 || t.Max != 0 || len(f.sunk) > 0 || c.Step.Months > 0 {
		return nil, nil
	}
	step, length := c.StepStart(1), c.AddSteps(0, t.Length, 1)
	lease := online.Lease{
		Periods: int(length / step), Fee: capcli.Cost(t.Rate[0].Rate, capcli.GPUTime(m.lot()*int64(length))),
		OnDemand: capcli.Cost(m.OnDemand[0].Rate, capcli.GPUTime(m.lot()*int64(step))),
	}
	if lease.Periods < 1 || lease.OnDemand <= 0 {
		return nil, nil
	}
	var when []int // options of the term
	for i, x := range f.deal.options {
		if x.term == term {
			when = append(when, i)
		}
	}
	bought := make([][]int64, f.Count())
	for s, c := range f.curves {
		lots := make([]int64, len(c.Work))
		for i, w := range c.Work {
			if lots[i] = int64(w) / (m.lot() * int64(step)); lots[i] > online.MaxDemand {
				return nil, nil
			}
		}
		run, err := online.Play(lots, lease)
		if err != nil {
			return nil, err
		}
		bought[s] = make([]int64, len(f.cost))
		next := 0
		for i, n := range run.Leases {
			for next < len(when) && f.deal.options[when[next]].from < c.StepStart(i) {
				next++
			}
			if n > 0 && next < len(when) {
				bought[s][when[next]] += n
			}
		}
	}
	doc := fmt.Sprintf("without a forecast: one more on %s once having had it would have paid, from the next time of purchase on", t.Name)
	return f.assess("online-"+t.Name, doc, func(s int) []int64 { return bought[s] })
}
