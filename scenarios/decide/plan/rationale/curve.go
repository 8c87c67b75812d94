package rationale

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
)

// explainCurve explains the optimum of a demand curve.
func explainCurve(file string, text []byte) (*Answer, error) {
	var p curve.Result
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, notAPlan(file, "found "+err.Error())
	}
	if len(p.Market.OnDemand) == 0 || len(p.Periods) == 0 {
		return nil, notAPlan(file, "found one without market or periods")
	}
	best := &p.Optimum
	data := newAnswer(file)
	data.Cost, data.Bound, data.Gap = &best.Cost, &best.Bound, &best.Gap
	data.proof(&p)
	data.terms(&p)
	data.others(&p)
	data.candidates(&p)
	data.nearest("the rule")
	for _, t := range p.Market.Terms {
		data.Assumed = append(data.Assumed, fmt.Sprintf("%s at %s a GPU-hour, on demand at %s: as they were given to capcli plan, and as they change there", t.Name, rateOf(t.Prices), rateOf(p.Market.OnDemand)))
	}
	data.Assumed = append(data.Assumed, "the demand is that of "+cmp.Or(p.Demand.Input, "the curve")+", known and served at once: no job waits")
	return data, nil
}

func rateOf(prices []market.Price) capcli.Rate {
	if len(prices) == 0 {
		return 0
	}
	return prices[0].Rate
}

// proof says that no purchases cost less, and how much the commitments save.
func (d *Answer) proof(p *curve.Result) {
	o := &p.Optimum
	if o.Cost == o.Bound {
		d.Why = append(d.Why, fmt.Sprintf("no purchases at these prices cost less: prices of the single periods prove a lower bound of %s*, and the plan costs that", o.Bound))
	} else {
		d.Why = append(d.Why, fmt.Sprintf("the plan costs %s*, at most %.2f%% over the lower bound of %s*", o.Cost, 100*o.Gap, o.Bound))
	}
	if saved := o.AllOnDemand - o.Cost; saved > 0 {
		d.Why = append(d.Why, fmt.Sprintf("all on demand would cost %s* more", saved))
	}
	if o.Unused > 0 {
		d.Why = append(d.Why, fmt.Sprintf("%s GPU-hours that are committed stay unused: covering the peaks around them on demand would cost more", capcli.Grouped(int64(math.Round(o.Unused.Hours())))))
	}
}

// terms says from which utilisation each term pays off and how much of it was bought.
func (d *Answer) terms(p *curve.Result) {
	for _, t := range p.Market.Terms {
		w := Term{Term: t.Name, Rate: rateOf(t.Prices)}
		if od := rateOf(p.Market.OnDemand); od > 0 {
			w.BreakEven = w.Rate.Float() / od.Float()
		}
		for _, b := range p.Optimum.Purchases {
			if b.Term == t.Name {
				w.GPUs += b.GPUs
				w.Cost += b.Cost
				w.AtLimit = w.AtLimit || t.Max != nil && b.GPUs >= *t.Max
			}
		}
		if w.AtLimit {
			d.Why = append(d.Why, fmt.Sprintf("%s is bought up to its limit of %g GPUs: that limit binds", t.Name, *t.Max))
		}
		d.Terms = append(d.Terms, w)
	}
}

func (d *Answer) others(p *curve.Result) {
	add := func(name string, cost capcli.USD) {
		loses := cost - p.Optimum.Cost
		d.Others = append(d.Others, Other{Name: name, Cost: &cost, Loses: &loses})
	}
	add("all on demand", p.Optimum.AllOnDemand)
	for _, b := range p.Baselines {
		if b.Name != "all on demand" {
			add(b.Name, b.Cost)
		}
	}
	slices.SortStableFunc(d.Others, func(a, b Other) int { return cmp.Compare(*a.Loses, *b.Loses) })
}

// candidates compares the cost of one more GPU on each term, at each start, with its savings in
// each period. It needs dates, a lot of one GPU and no discount, for then the price is the whole
// cost of a purchase.
func (d *Answer) candidates(p *curve.Result) {
	starts := make([]capcli.Time, 0, len(p.Periods))
	for _, q := range p.Periods {
		if q.Start.Dated() {
			starts = append(starts, q.Start.Time)
		}
	}
	end := p.Demand.End.Time
	if !p.Demand.End.Dated() || len(starts) != len(p.Periods) || p.Market.Discount != 0 || p.Market.Lot != 1 {
		d.Unknown = append(d.Unknown, "the marginal value of one more GPU on each term: computed only for dated curves, whole GPUs and undiscounted amounts")
		return
	}
	after, err := market.ParseAfter(p.Market.After, p.Market.Overrun)
	if p.Market.After == "" && !p.Market.Overrun { // written before there was a rule
		after.Rule = plan.Fitting
	}
	if err != nil {
		d.Unknown = append(d.Unknown, "the marginal value of one more GPU on each term: "+err.Error())
		return
	}
	for _, t := range p.Market.Terms {
		step, err := capcli.ParseStep(t.Length)
		if err != nil || t.Lead != "" || len(t.On) > 0 {
			continue
		}
		if best := cheapestStart(p, &t, step, starts, end, after.Rule); best != nil {
			d.Candidates = append(d.Candidates, *best)
		}
	}
	slices.SortStableFunc(d.Candidates, func(a, b Candidate) int { return cmp.Compare(a.Loses, b.Loses) })
}

// cheapestStart returns one more GPU on a term at the start at which it loses least; nil where it cannot be
// bought.
func cheapestStart(p *curve.Result, t *market.Term, step capcli.Step, starts []capcli.Time, end capcli.Time, rule plan.AfterRule) *Candidate {
	var best *Candidate
	for i, at := range starts {
		to := capcli.Grid{Origin: at, Step: step}.At(1)
		if to > end && rule == plan.Fitting {
			continue
		}
		if to > end && rule == plan.Prorated {
			to = end
		}
		c := Candidate{Term: t.Name, Start: at, Cost: capcli.Cost(rateAt(t.Prices, at), capcli.GPUTime(to-at)*capcli.GPUSecond)}
		for k := i; k < len(starts) && starts[k] < to; k++ {
			c.Saves += p.Periods[k].Worth
		}
		if c.Loses = c.Cost - c.Saves; best == nil || c.Loses < best.Loses {
			best = &c
		}
	}
	return best
}

func rateAt(prices []market.Price, at capcli.Time) capcli.Rate {
	rate := rateOf(prices)
	for _, p := range prices {
		if p.From.Dated() && p.From.Time <= at {
			rate = p.Rate
		}
	}
	return rate
}
