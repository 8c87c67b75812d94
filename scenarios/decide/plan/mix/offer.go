package mix

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// Offer is a commitment that covers and is no place: hour by hour it lowers the price of on-demand use of its
// GPU model, whatever runs where. How many units to buy, and when, is solved exactly on the use of each mix that
// is played, over all runs together. It is paid for its whole term, of which the part within the runs counts.
type Offer struct {
	Name   string
	Model  string         // GPU model that it covers; "" is that of the on-demand pools, where they have one
	Length capcli.Step    // of its term
	Ends   capcli.Time    // the instant at which it ends, in place of Length; 0 is none
	Rate   capcli.Rate    // of a GPU-hour, or of a unit-hour, the whole payment divided by the hours of the term
	Later  []billing.Step // later values of Rate, by time of purchase
	ByUnit bool           // Rate is of a billing unit, a machine, and not of one GPU
	// Starts are the times at which it can be bought; Every is an interval between such times from the start of the
	// runs on, months on the first, beside the times at which one bought at the start ends and can be followed by
	// another. Without either it is bought at the start of the runs. A time within a clock hour counts from the next on.
	Starts []capcli.Time
	Every  capcli.Step
	Most   int64 // units bought at one time; 0 is no limit
	Renews bool  // at Ends it is bought again, for as long as the runs go on

	floating *floatingOffer // of a pool of the scenario; nil is an offer beside it
}

// offers returns the offers of a request: its own, and the terms of its market.
func (p *Planner) offers(start capcli.Time) ([]Offer, error) {
	out := slices.Clone(p.req.Offers)
	m := p.req.Market
	if m == nil || len(m.Terms) == 0 {
		return out, nil
	}
	for _, no := range []struct {
		field string
		given bool
	}{{"discount", m.Discount != ""}, {"held", len(m.Held) > 0}, {"on-demand-fall", len(m.Falls) > 0}, {"overrun", m.Overrun}} {
		if no.given {
			return nil, &capcli.RequestError{Field: no.field, Text: "plan mix has no such setting of its terms", Hint: "leave it out, or use plan curve"}
		}
	}
	ask := *m
	ask.OnDemand = cmp.Or(ask.OnDemand, "free") // the price on demand is that of the scenario's pools
	sketch, err := ask.Parse()
	if err != nil {
		return nil, err
	}
	curve := &plan.Curve{Start: start, Step: capcli.Step{Seconds: capcli.Hour}, Work: make([]capcli.GPUTime, 1)}
	frame, err := sketch.Frame(curve)
	if err != nil {
		return nil, err
	}
	p.notes = append(p.notes, sketch.Notes()...)
	unit := frame.Market.Lot / 1000
	if frame.Market.Lot%1000 != 0 || unit < 1 {
		return nil, &capcli.RequestError{Field: "lot", Text: "wants whole GPUs: a lot is a machine, the unit in which use is billed", Hint: "lot=8"}
	}
	p.lot = int(unit)
	if !p.req.ByGPU {
		p.machine = max(p.machine, p.lot)
	}
	for i := range frame.Market.Terms {
		t := &frame.Market.Terms[i]
		if t.Upfront != 0 {
			p.notes = append(p.notes, fmt.Sprintf("%s is paid ahead in part: plan mix counts its whole price by the hour of its term", t.Name))
		}
		o := Offer{Name: t.Name, Length: t.Length, Rate: t.Rate[0].Rate, Every: frame.Market.Every, Most: t.Max / 1000 / unit}
		if t.Max > 0 && o.Most == 0 {
			continue // less than one machine
		}
		for _, at := range t.On {
			o.Starts, o.Every = append(o.Starts, start+capcli.Time(at)), capcli.Step{}
		}
		for _, later := range t.Rate[1:] {
			o.Later = append(o.Later, billing.Step{From: start + capcli.Time(later.From), Price: later.Rate})
		}
		out = append(out, o)
	}
	return out, nil
}

// tariff is the offers of a plan and what they can cover.
type tariff struct {
	offers  []Offer
	machine int // GPUs of a billing unit of pools that do not say
	lot     int // GPUs that are bought together, where use is billed in a smaller unit; else 0
}

// offersFor yields the offers of a plan, then the pools of a mix that float.
func (t *tariff) offersFor(c *Candidate) iter.Seq[*Offer] {
	return func(yield func(*Offer) bool) {
		for _, list := range [][]Offer{t.offers, c.offers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// makeTariff makes the tariff of the request; nil where it has no offers.
func (p *Planner) makeTariff() error {
	asked := len(p.req.Offers) > 0 || p.req.Market != nil && len(p.req.Market.Terms) > 0
	if !asked && !slices.ContainsFunc(p.req.Case.Scenario.Capacity, func(c scenarios.Capacity) bool { return c.Floats }) {
		return nil
	}
	p.machine = p.req.MachineGPUs
	start := p.req.Case.Scenario.Period.Start
	if p.ahead != nil {
		start = p.ahead.set.Futures.Start()
	}
	if !start.IsKnown() {
		jobs, err := p.problem.Jobs(0)
		if err != nil || len(jobs) == 0 {
			return err
		}
		start = jobs[0].Submit
	}
	offers, err := p.offers(start)
	if err != nil {
		return err
	}
	for i := range offers {
		if err := p.checkOffer(&offers[i]); err != nil {
			return err
		}
	}
	p.starts = start
	if err := p.makeFloating(start, asked); err != nil || !asked && !p.floating {
		return err
	}
	p.problem.tariff = &tariff{offers: offers, machine: p.machine}
	if p.req.ByGPU {
		p.problem.tariff.lot = p.lot
	}
	return nil
}

// checkOffer refuses an offer that covers nothing, or of which it is not clear what it covers.
func (p *Planner) checkOffer(o *Offer) error {
	s := p.req.Case.Scenario
	var models []string
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if m := strings.ToLower(c.GPUModel); c.Kind == simulate.OnDemand && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	field := func(text, hint string) error {
		return &capcli.RequestError{Field: "term", Text: fmt.Sprintf("%s: %s", o.Name, text), Hint: hint}
	}
	switch {
	case len(models) == 0:
		return field("it covers use on demand, and the scenario has no on_demand pool", "add one to capacity, with its price")
	case o.Model == "" && len(models) > 1:
		return field("the on-demand pools have several GPU models, and it does not say which it covers", "write it as a commitment of the scenario, with its gpu_model")
	case o.Model != "" && !slices.Contains(models, strings.ToLower(o.Model)) && !slices.Contains(models, ""):
		return field("no on_demand pool has GPUs of model "+o.Model, "")
	case len(s.Commitments) > 0:
		return field("the scenario has commitments with sizes of their own, and offers beside them are not settled", "give those a free size too, or leave one of the two out")
	}
	return nil
}

func (o *Offer) covers(model string) bool {
	return o.Model == "" || strings.EqualFold(o.Model, model) || model == ""
}

func (o *Offer) coversPool(name, model string) bool {
	if o.floating != nil {
		return slices.Contains(o.floating.covers, name)
	}
	return o.covers(model)
}

func (o *Offer) coversKind(k *kindOfUse) bool { return o.coversPool(k.names[0], k.model) }

// rateAt returns the rate of a unit-hour for a purchase at an instant.
func (o *Offer) rateAt(at capcli.Time, unit int64) capcli.Rate {
	rate := o.Rate
	for _, s := range o.Later {
		if s.From <= at {
			rate = s.Price
		}
	}
	if !o.ByUnit {
		rate *= capcli.Rate(unit)
	}
	return rate
}

// leastRate returns the lowest rate of a GPU-hour at any time of purchase, rounded down.
func (o *Offer) leastRate(unit int64) capcli.Rate {
	least := o.Rate
	for _, s := range o.Later {
		least = min(least, s.Price)
	}
	if o.ByUnit {
		least /= capcli.Rate(unit)
	}
	return least
}

// floorRates returns rates that no mix can beat: the price of a pool that offers cover is the lowest of its own
// and theirs. An hour of a commitment costs its rate whether used or not, so what it covers costs no less.
func (t *tariff) floorRates(pools []simulate.Pool, c *Candidate) []billing.Rate {
	if t == nil {
		return c.Rates
	}
	out := slices.Clone(c.Rates)
	for i := range pools {
		if !c.metered[i] {
			continue
		}
		least := lowest(&out[i])
		for o := range t.offersFor(c) {
			if o.coversPool(pools[i].Name, pools[i].GPUModel) {
				least = min(least, o.leastRate(t.unitOf(&pools[i])))
			}
		}
		out[i].Price, out[i].Path = least, nil
	}
	return out
}

// unitOf returns the GPUs of a unit of a pool: those that are billed together, or bought together where these are more.
func (t *tariff) unitOf(pool *simulate.Pool) int64 {
	if pool.Buy != nil {
		return int64(max(1, pool.GPUsPerNode))
	}
	return int64(max(1, pool.MachineGPUs, t.lot))
}
