package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"capcli/simulate/plan/curve"
	"capcli/simulate/plan/market"
	"capcli/simulate/plan/mix"

	"capcli"
)

// explainPlan says of a plan that capcli plan wrote why it is the one.
func explainPlan(e *env, o *explainOptions, args []string, text []byte) error {
	d, err := whyPlan(args[0], text, args[1:])
	if err != nil {
		return err
	}
	return emit(e, o.output, d.doc())
}

// whyPlan explains the plan in text; more are arguments after the file.
func whyPlan(file string, text []byte, more []string) (*whyPlanJSON, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, notAPlan(file, "found "+err.Error())
	}
	switch {
	case head.Schema == "capcli/simulate/v1":
		return nil, &lackError{
			text: file + " is a result without what it was made from, so it cannot be played again",
			hint: "capcli simulate … --out DIR leaves a folder that can: capcli explain DIR/plan " + orOne(more)[0],
		}
	case !slices.Contains([]string{"capcli/plan/v1", "capcli/plan_mix/v1", "capcli/plan_futures/v1"}, head.Schema):
		return nil, notAPlan(file, fmt.Sprintf("found schema %q", head.Schema))
	case len(more) > 0:
		return nil, &usageError{text: fmt.Sprintf("a plan is explained as a whole, found also %q", more[0]), hint: "capcli explain " + file}
	case head.Schema == "capcli/plan_mix/v1":
		return whyMixes(file, text)
	case head.Schema == "capcli/plan_futures/v1":
		return whyFutures(file, text)
	}
	return whyCurve(file, text)
}

func notAPlan(file, found string) error {
	return &capcli.InputError{
		File: file, Text: "expected a plan of capcli plan -o json, " + found,
		Hint: "write one with capcli plan … -o json --out plan.json",
	}
}

// whyPlanJSON is what explain -o json writes of a plan: schema
// capcli/explain_plan/v1.
type whyPlanJSON struct {
	Schema     string          `json:"schema"`
	Subject    string          `json:"subject"`
	Cost       *capcli.USD     `json:"cost_usd"`
	Bound      *capcli.USD     `json:"lower_bound_usd"`
	Gap        *float64        `json:"optimality_gap"`
	Why        []string        `json:"why"`
	Terms      []whyTermJSON   `json:"terms,omitempty"`
	Others     []whyOtherJSON  `json:"other_plans"`
	Binding    *string         `json:"binding_limit"`
	Candidates []candidateJSON `json:"one_more,omitempty"`
	Swings     []mix.Swing     `json:"what_moves_the_cost,omitempty"`
	Assumed    []string        `json:"assumptions"`
	Unknown    []string        `json:"not_known"`

	next string // what comes second, in words
}

// whyTermJSON is a term on offer: from which use it pays, and what was bought.
type whyTermJSON struct {
	Term      string      `json:"term"`
	Rate      capcli.Rate `json:"usd_per_gpu_hour"`
	BreakEven float64     `json:"break_even_utilisation"`
	GPUs      float64     `json:"gpus_bought"`
	Cost      capcli.USD  `json:"cost_usd"`
	AtLimit   bool        `json:"at_its_limit"`
}

// whyOtherJSON is another plan and what it loses against the one chosen.
type whyOtherJSON struct {
	Name  string      `json:"plan"`
	Cost  *capcli.USD `json:"cost_usd"`
	Loses *capcli.USD `json:"loses_usd"`
	Why   string      `json:"why,omitempty"`
}

// candidateJSON is one more GPU bought on a term at the best of its starts.
type candidateJSON struct {
	Term  string     `json:"term"`
	Start any        `json:"start"`
	Cost  capcli.USD `json:"cost_usd"`
	Saves capcli.USD `json:"saves_usd"`
	Loses capcli.USD `json:"loses_usd"`
}

// whyCurve explains the optimum of a demand curve.
func whyCurve(file string, text []byte) (*whyPlanJSON, error) {
	var p curve.Result
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, notAPlan(file, "found "+err.Error())
	}
	if len(p.Market.OnDemand) == 0 || len(p.Periods) == 0 {
		return nil, notAPlan(file, "found one without market or periods")
	}
	best := &p.Optimum
	data := &whyPlanJSON{
		Schema: "capcli/explain_plan/v1", Subject: file, Cost: &best.Cost, Bound: &best.Bound, Gap: &best.Gap,
		Why: []string{}, Others: []whyOtherJSON{}, Assumed: []string{}, Unknown: []string{},
	}
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

// proof says that nothing costs less, and what commitments save.
func (d *whyPlanJSON) proof(p *curve.Result) {
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
		d.Why = append(d.Why, fmt.Sprintf("%s GPU-hours that are committed stay unused: covering the peaks around them on demand would cost more", grouped(int64(math.Round(o.Unused.Hours())))))
	}
}

// terms says from which use each term pays and how much of it was bought.
func (d *whyPlanJSON) terms(p *curve.Result) {
	for _, t := range p.Market.Terms {
		w := whyTermJSON{Term: t.Name, Rate: rateOf(t.Prices)}
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

func (d *whyPlanJSON) others(p *curve.Result) {
	add := func(name string, cost capcli.USD) {
		loses := cost - p.Optimum.Cost
		d.Others = append(d.Others, whyOtherJSON{Name: name, Cost: &cost, Loses: &loses})
	}
	add("all on demand", p.Optimum.AllOnDemand)
	for _, b := range p.Baselines {
		if b.Name != "all on demand" {
			add(b.Name, b.Cost)
		}
	}
	slices.SortStableFunc(d.Others, func(a, b whyOtherJSON) int { return cmp.Compare(*a.Loses, *b.Loses) })
}

// nearest says which of the other plans that were compared loses least; what is a
// plan of their kind in a word.
func (d *whyPlanJSON) nearest(what string) {
	for _, o := range d.Others {
		if o.Loses != nil && *o.Loses >= 0 {
			d.next = fmt.Sprintf("of what it was compared with, %s %s loses least, %s*", what, o.Name, o.Loses)
			return
		}
	}
}

// candidates tries one more GPU on each term at each start against what it
// would save in each period it covers. It holds where periods are dated and
// amounts are not discounted, for then a price is all that a purchase costs.
func (d *whyPlanJSON) candidates(p *curve.Result) {
	starts := make([]capcli.Time, 0, len(p.Periods))
	for _, q := range p.Periods {
		if q.Start.Dated() {
			starts = append(starts, q.Start.Time)
		}
	}
	end := p.Demand.End.Time
	if !p.Demand.End.Dated() || len(starts) != len(p.Periods) || p.Market.Discount != 0 || p.Market.Lot != 1 {
		d.Unknown = append(d.Unknown, "what one more GPU on each term would lose: that is told for dated curves, whole GPUs and amounts that are not discounted")
		return
	}
	for _, t := range p.Market.Terms {
		step, err := capcli.ParseStep(t.Length)
		if err != nil {
			continue
		}
		var best *candidateJSON
		for i, at := range starts {
			to := capcli.Grid{Origin: at, Step: step}.At(1)
			if to > end && !p.Market.Overrun {
				break
			}
			c := candidateJSON{Term: t.Name, Start: at, Cost: capcli.Cost(rateAt(t.Prices, at), capcli.GPUTime(to-at)*capcli.GPUSecond)}
			for k := i; k < len(starts) && starts[k] < to; k++ {
				c.Saves += p.Periods[k].Worth
			}
			if c.Loses = c.Cost - c.Saves; best == nil || c.Loses < best.Loses {
				best = &c
			}
		}
		if best != nil {
			d.Candidates = append(d.Candidates, *best)
		}
	}
	slices.SortStableFunc(d.Candidates, func(a, b candidateJSON) int { return cmp.Compare(a.Loses, b.Loses) })
}

// rateAt is the price that holds at an instant.
func rateAt(prices []market.Price, at capcli.Time) capcli.Rate {
	rate := rateOf(prices)
	for _, p := range prices {
		if p.From.Dated() && p.From.Time <= at {
			rate = p.Rate
		}
	}
	return rate
}
