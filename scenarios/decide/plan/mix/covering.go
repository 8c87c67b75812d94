package mix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// prepare makes a run keep what offers need: its use by hour, in the machines of the plan where a pool does not say.
func (t *tariff) prepare(cfg *simulate.Config, metered []bool) {
	cfg.Hourly = true
	for i := range cfg.Pools {
		if p := &cfg.Pools[i]; metered[i] && p.Terms == simulate.OnDemand && p.MachineGPUs == 0 {
			p.MachineGPUs = t.machine
		}
	}
}

// meter notes what was billed by hour in the pools whose use offers may cover.
func (t *tariff) meter(o *Outcome, c *Candidate, rec *simulate.Record) error {
	o.Start = rec.Start
	for p := range rec.Pools {
		if !c.metered[p] {
			continue
		}
		pool := &rec.Pools[p]
		o.Pools[p].Unit = t.unitOf(pool)
		if pool.Terms.Committed() {
			o.Pools[p].ByHour = reservedHours(pool, rec.Start, o.Length)
			continue
		}
		hours, err := billing.HoursOfPool(rec, p)
		if err != nil {
			return err
		}
		for i, v := range hours.Billed {
			o.Pools[p].ByHour = append(o.Pools[p].ByHour, GPUMillis(v))
			o.Pools[p].Spare += GPUMillis(hours.Spare[i])
		}
	}
	return nil
}

// reservedHours returns the size of a capacity reservation by clock hour: it is billed whether used or not.
func reservedHours(pool *simulate.Pool, start capcli.Time, length capcli.Seconds) []GPUMillis {
	until := length
	if pool.Until > 0 {
		until = min(until, pool.Until)
	}
	var out []GPUMillis
	cuts := hourCuts(start, length)
	for i, end := range cuts[1:] {
		held := max(0, min(end, until)-max(cuts[i], pool.From))
		out = append(out, GPUMillis(1000*int64(pool.Capacity())*int64(held)))
	}
	return out
}

// hourCuts returns the clock hours of a run as seconds from its start: 0, each hour, its end.
func hourCuts(start capcli.Time, length capcli.Seconds) []capcli.Seconds {
	out := []capcli.Seconds{0}
	past := capcli.Seconds(start) % capcli.Hour
	if past < 0 {
		past += capcli.Hour
	}
	for at := capcli.Hour - past; at < length; at += capcli.Hour {
		out = append(out, at)
	}
	return append(out, max(1, length))
}

// Coverage is the best commitments of a mix and what they do. GPU time is a mean over the runs.
type Coverage struct {
	Bought []Commitment `json:"bought"`

	Wanted    float64    `json:"use_gpu_hours"`       // billed on demand, whole machines where they are sold so
	Covered   float64    `json:"covered_gpu_hours"`   // the part that commitments cover
	Uncovered float64    `json:"uncovered_gpu_hours"` // the part that stays on demand
	Unused    float64    `json:"unused_gpu_hours"`    // committed within the runs, and lost
	Committed capcli.USD `json:"committed_usd"`       // of the commitments within the runs
	OnDemand  capcli.USD `json:"on_demand_usd"`       // of what stays on demand
	Without   capcli.USD `json:"without_usd"`         // the same use, all on demand
	Rounding  float64    `json:"rounding_gpu_hours"`  // part of the use: what whole machines add
	RoundUp   capcli.USD `json:"rounding_usd"`        // what whole machines cost, at the price on demand
	// Cost is the risk of the mix's whole cost over the runs, and Bound proves that no other purchases of these
	// offers have a lower one; Gap is (cost - bound) / bound.
	Cost  capcli.USD `json:"cost_usd"`
	Bound capcli.USD `json:"bound_usd"`
	Gap   float64    `json:"optimality_gap"`

	units []int64      // of each contract
	alone []capcli.USD // by run: the cost of the mix without them
}

// Commitment is a purchase of one offer at one time.
type Commitment struct {
	Offer  string      `json:"offer"`
	Model  string      `json:"gpu_model"`
	Start  capcli.Time `json:"start"`
	End    capcli.Time `json:"end"` // of its term, which may be after the runs
	Units  int64       `json:"units"`
	GPUs   int64       `json:"gpus"`
	Rate   capcli.Rate `json:"usd_per_unit_hour"`
	Cost   capcli.USD  `json:"cost_usd"` // within the runs
	Beyond capcli.USD  `json:"cost_after_the_runs_usd"`
	// Pool is the pool of the scenario that it is, and Term its term; "" where it is an offer beside the scenario.
	Pool string `json:"pool,omitempty"`
	Term string `json:"term,omitempty"`

	offer *Offer
}

// kindOfUse is the use of one GPU model, in its billing unit.
type kindOfUse struct {
	model  string
	unit   int64
	covers string // the pools that offers which are pools of the scenario cover together; "" is none
	pools  []int  // of the outcomes
	names  []string
}

// laid is the use of a mix in all its runs as a field, with what may be bought.
type laid struct {
	field     *plan.Field
	kinds     []kindOfUse
	contracts []plan.Contract
	offers    []*Offer   // of each contract
	held      []purchase // of pools that are played at their size
	sunk      capcli.USD // what those cost within the runs
	start     capcli.Time
	end       capcli.Seconds
	rest      []capcli.USD // by run: what is not billed on demand
	uses      []plan.Metered
	weights   []int64
}

// settle finds the best commitments of mixes that were run, and makes them part of their costs.
func (s *Search) settle(ctx context.Context, entries []*Entry) error {
	return s.settleAs(ctx, entries, nil)
}

// settleAs is settle with given units of each contract; nil finds the best.
func (s *Search) settleAs(ctx context.Context, entries []*Entry, units []int64) error {
	t := s.Problem.tariff
	if t == nil {
		return nil
	}
	return capcli.EachParallel(ctx, len(entries), func(ctx context.Context, i int) error {
		e := entries[i]
		if e.Cover != nil || len(e.Outcomes) == 0 || e.fault() != "" {
			return nil
		}
		if err := t.settle(ctx, e, s.Risk, units); err != nil {
			return fmt.Errorf("the commitments of mix %d: %w", e.Index, err)
		}
		e.judge(s.Limits)
		return nil
	})
}

// settle finds the best commitments of a mix, or takes the given ones, and puts them into its outcomes.
func (t *tariff) settle(ctx context.Context, e *Entry, risk plan.Risk, units []int64) error {
	x, err := t.lay(e)
	if err != nil {
		return err
	}
	if len(x.kinds) == 0 { // no use is paid on demand
		e.Cover = &Coverage{Bought: []Commitment{}, Cost: e.Cost(), Bound: e.Cost()}
		return nil
	}
	var c *plan.Choice
	if len(units) == len(x.contracts) && units != nil {
		c, err = x.field.ChoiceOf(units)
	} else {
		c, err = x.field.ChooseExactly(ctx, risk)
	}
	if err != nil {
		return err
	}
	out := &Coverage{Bought: []Commitment{}, units: c.Units()}
	if out.Cost, out.Bound, err = x.field.RiskOf(c, risk); err != nil {
		return err
	}
	if out.Bound > 0 && out.Cost > out.Bound+1 { // both are rounded
		out.Gap = (out.Cost - out.Bound).Float() / out.Bound.Float()
	}
	out.list(x)
	return x.put(e, c, out)
}

// purchases returns the purchases of so many units of each contract, and those of pools that are played at their size.
func (x *laid) purchases(units []int64) []purchase {
	out := slices.Clone(x.held)
	for i, n := range units {
		if n > 0 {
			out = append(out, purchase{x.offers[i], x.contracts[i], n})
		}
	}
	return out
}

func (out *Coverage) list(x *laid) {
	for _, p := range x.purchases(out.units) {
		c, k := &p.contract, &x.kinds[p.contract.Use]
		end := min(c.To, x.end)
		b := Commitment{
			Offer: p.offer.Name, Model: k.model, Start: x.start + capcli.Time(c.From), End: x.start + capcli.Time(c.To),
			Units: p.units, GPUs: p.units * k.unit, Rate: c.Rate, Cost: p.cost(c.From, end), Beyond: p.cost(end, c.To),
		}
		if f := p.offer.floating; f != nil {
			b.Pool, b.Term, b.Model, b.offer = p.offer.Name, f.term, cmp.Or(f.model, k.model), p.offer
		}
		out.Bought = append(out.Bought, b)
	}
	slices.SortStableFunc(out.Bought, func(a, b Commitment) int { return cmp.Compare(a.Start, b.Start) })
}

// put replaces what was billed on demand in the outcomes of a mix by the commitments and the rest on demand.
func (x *laid) put(e *Entry, c *plan.Choice, out *Coverage) error {
	for run := range e.Outcomes {
		o := &e.Outcomes[run]
		sum, err := x.field.SettleIn(c, run)
		if err != nil {
			return err
		}
		without := o.Cost - x.rest[run]
		sum.Committed += x.sunk
		out.alone = append(out.alone, o.Cost)
		o.Cost, o.Committed, o.OnDemand = sum.Cost, o.Committed+sum.Committed, o.OnDemand-without+sum.OnDemand
		if o.Equivalent != nil && *o.Equivalent > 0 {
			rate := 1 - (o.Cost-o.Penalty).Float()/o.Equivalent.Float()
			o.Savings = &rate
		}
		share := e.shareOf(run)
		for k, u := range sum.Uses {
			hours := func(milli int64) float64 {
				return share * capcli.GPUTime(milli).Hours() * float64(x.kinds[k].unit)
			}
			out.Wanted, out.Covered = out.Wanted+hours(u.Wanted), out.Covered+hours(u.Covered)
			out.Uncovered, out.Unused = out.Uncovered+hours(u.Wanted-u.Covered), out.Unused+hours(u.Paid-u.Covered)
		}
		out.Committed = sum.Committed // the same in all runs
		out.OnDemand += capcli.USDOf(share * sum.OnDemand.Float())
		out.Without += capcli.USDOf(share * without.Float())
		pools := slices.Clone(o.Pools)
		for p := range pools {
			if l := &pools[p]; l.Spare > 0 && l.Charged > 0 {
				out.Rounding += share * l.Spare.Hours()
				out.RoundUp += capcli.USDOf(share * l.Cost.Float() * float64(l.Spare) / float64(l.Charged))
			}
			pools[p].ByHour = nil // a year of hours in every run of every mix would fill the memory
		}
		o.Pools = pools
	}
	e.Cover = out
	return nil
}

// lay lays out the use of a mix in all its runs, and the contracts that may be bought.
func (t *tariff) lay(e *Entry) (*laid, error) {
	first := &e.Outcomes[0]
	x := &laid{start: first.Start, kinds: kindsOf(e)}
	past, length := first.Start, capcli.Seconds(1)
	for run := range e.Outcomes {
		o := &e.Outcomes[run]
		length = max(length, o.Length)
		if (o.Start-first.Start)%capcli.Time(capcli.Hour) != 0 {
			past = 0 // the clock hours of the runs differ: each counts whole hours from its start
		}
	}
	cuts := hourCuts(past, length)
	x.end = cuts[len(cuts)-1]
	uses := make([]plan.Metered, len(x.kinds))
	for k := range uses {
		uses[k].Cuts = cuts
	}
	for run := range e.Outcomes {
		o := &e.Outcomes[run]
		rest := o.Cost
		for k := range x.kinds {
			kind := &x.kinds[k]
			var list []plan.Charge
			for _, p := range kind.pools {
				rest -= o.Pools[p].Cost
				list = append(list, charges(o, p, kind.unit, cuts, e.Rates[p])...)
			}
			slices.SortStableFunc(list, func(a, b plan.Charge) int { return cmp.Compare(a.Hour, b.Hour) })
			uses[k].Charge = append(uses[k].Charge, list)
		}
		x.rest = append(x.rest, rest)
	}
	if len(x.kinds) == 0 {
		return x, nil
	}
	for o := range t.offersFor(e.Candidate) {
		for k := range x.kinds {
			switch {
			case !o.coversKind(&x.kinds[k]):
			case o.floating != nil && o.floating.gpus >= 0:
				x.heldContracts(o, k, uses)
			default:
				for _, c := range x.purchasesOf(o, k, cuts) {
					x.contracts, x.offers = append(x.contracts, c), append(x.offers, o)
				}
			}
		}
	}
	for i := range x.held {
		c := &x.held[i].contract
		x.sunk += x.held[i].cost(c.From, min(c.To, x.end))
	}
	return x, x.makeField(uses, e.weightsOfRuns())
}

// makeField makes the field of the use that is laid out, in which what pools at their size cost is paid in any case.
func (x *laid) makeField(uses []plan.Metered, weights []int64) (err error) {
	base := slices.Clone(x.rest)
	for run := range base {
		base[run] += x.sunk
	}
	x.uses, x.weights = uses, weights
	x.field, err = plan.MeteredField(uses, x.contracts, weights, base)
	return err
}

// kindsOf returns the kinds of use of a mix: its metered pools by GPU model and billing unit. Those that pools of the
// scenario cover are together, in the lots of these.
func kindsOf(e *Entry) []kindOfUse {
	var out []kindOfUse
	cfg, err := e.Config(0)
	if err != nil {
		return nil // it has run
	}
	for p := range cfg.Pools {
		if !e.metered[p] {
			continue
		}
		pool := &cfg.Pools[p]
		x := kindOfUse{model: strings.ToLower(pool.GPUModel), unit: max(1, e.Outcomes[0].Pools[p].Unit)}
		for i := range e.offers {
			if o := &e.offers[i]; slices.Contains(o.floating.covers, pool.Name) {
				x.covers, x.unit = strings.Join(o.floating.covers, "\n"), o.floating.lot
			}
		}
		k := slices.IndexFunc(out, func(k kindOfUse) bool {
			return k.covers == x.covers && k.unit == x.unit && (k.model == x.model || x.covers != "")
		})
		if k < 0 {
			k = len(out)
			out = append(out, x)
		}
		out[k].pools, out[k].names = append(out[k].pools, p), append(out[k].names, pool.Name)
	}
	return out
}

// charges returns what is billed in a pool by clock hour, in its unit, at the price of the hour.
func charges(o *Outcome, p int, unit int64, cuts []capcli.Seconds, rate billing.Rate) []plan.Charge {
	var out []plan.Charge
	last := len(cuts) - 2
	for i, milli := range o.Pools[p].ByHour {
		if milli == 0 {
			continue
		}
		at := min(i, last)
		price := rate.At(o.Start + capcli.Time(cuts[at])).Price
		out = append(out, plan.Charge{Hour: at, Work: int64(milli) / unit, Rate: price * capcli.Rate(unit)})
	}
	return out
}

// purchasesOf returns the purchases of an offer for a kind of use, one at each time at which it can be bought.
func (x *laid) purchasesOf(o *Offer, kind int, cuts []capcli.Seconds) []plan.Contract {
	end := cuts[len(cuts)-1]
	curve := &plan.Curve{Start: x.start, Step: capcli.Step{Seconds: end}, Work: make([]capcli.GPUTime, 1)}
	starts := capcli.Map(o.Starts, func(at capcli.Time) capcli.Seconds { return capcli.Seconds(at - x.start) })
	if o.Every.Length() > 0 {
		starts = append(append(starts, curve.Starts(o.Every)...), curve.Renewals(o.Length)...)
	} else if len(o.Starts) == 0 {
		starts = []capcli.Seconds{0}
	}
	seen := map[capcli.Seconds]bool{}
	var out []plan.Contract
	for _, from := range starts {
		to := capcli.Seconds(o.Ends - x.start)
		switch {
		case o.Renews:
			to = max(to, end)
		case o.Ends == 0:
			to = curve.AddSteps(from, o.Length, 1)
		}
		at := onHour(max(0, from), cuts)
		if to = onHour(to, cuts); at >= min(to, end) || seen[at] {
			continue
		}
		seen[at] = true
		out = append(out, plan.Contract{
			Use: kind, From: at, To: to, Rate: o.rateAt(x.start+capcli.Time(from), x.kinds[kind].unit), Most: o.Most,
		})
	}
	return out
}

// onHour returns the first cut of the hours at an instant or after it; an instant beyond the end is left as it is.
func onHour(at capcli.Seconds, cuts []capcli.Seconds) capcli.Seconds {
	if at >= cuts[len(cuts)-1] {
		return at
	}
	i, _ := slices.BinarySearch(cuts, at)
	return cuts[i]
}
