package mix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// A pool of the scenario that floats is an offer: its size is no axis, and is solved on the use that was played. Two
// kinds of such pools are played at their size: those that an axis names, and those whose GPUs add to the limit of
// an on-demand pool, since they change what may run. In a plan with offers their size counts as bought.

// floatingOffer is what an offer that is a pool of the scenario has beside.
type floatingOffer struct {
	path   string   // that sets its size
	covers []string // the pools whose use it covers
	lot    int64    // GPUs that are bought together
	gpus   int64    // of a pool that is played at its size; -1 is free
	term   string
	model  string
}

// makeFloating finds out which pools that float are offers. Where the scenario has some that cannot be settled on
// played use, all are played at their size; beside other offers that is an error.
func (p *Planner) makeFloating(start capcli.Time, others bool) error {
	s := p.req.Case.Scenario
	list, err := s.FloatingPools(start, start+1)
	if err != nil || len(list) == 0 {
		return err
	}
	free := 0
	for i := range list {
		if f := &list[i]; !f.Limits && s.SizePath(f.Pool) != "" && !p.varies(f.Pool, f.Name) {
			p.offered = append(p.offered, f.Name)
			free++
		}
	}
	if free == 0 && !others {
		return nil
	}
	cfg, err := s.Config(nil, p.options(0))
	if err != nil {
		return err
	}
	rates, err := s.Rates(p.options(0))
	if err != nil {
		return err
	}
	if why := p.unsolvable(list, cfg.Pools, rates, start, others); why != "" {
		p.offered = nil
		if others {
			return &capcli.RequestError{Field: "term", Text: why, Hint: "leave out the terms, or the pools of the scenario that cover"}
		}
		p.notes = append(p.notes, why+": its size is that of the scenario; --vary tries others")
		return nil
	}
	p.floating = true
	return nil
}

// varies reports whether an axis of the request names the pool.
func (p *Planner) varies(pool int, name string) bool {
	return slices.ContainsFunc(p.req.Vary, func(text string) bool {
		path, _, _ := strings.Cut(text, "=")
		path = strings.TrimSpace(path)
		return path == "capacity" || path == "commitments" || strings.HasPrefix(path, "capacity."+name+".") || strings.HasPrefix(path, p.req.Case.Scenario.PoolPath(pool))
	})
}

// unsolvable returns why the pools that float cannot be settled on played use; "" where they can. Those that cover one
// pool must cover the same pools, at one price on demand and in lots of one size, by whole clock hours: then any of
// them does the same for an hour of use, whichever bill applies first.
func (p *Planner) unsolvable(list []scenarios.FloatingPool, pools []simulate.Pool, rates []billing.Rate, start capcli.Time, others bool) string {
	s := p.req.Case.Scenario
	if len(s.Commitments) > 0 {
		return list[0].Name + " covers use on demand beside the commitments of the scenario"
	}
	price := map[string]string{}
	for i := range pools {
		price[pools[i].Name] = fmt.Sprint(rates[i].Price, rates[i].Path)
	}
	sold := map[string]*scenarios.FloatingPool{}
	for i := range list {
		f := &list[i]
		whole := func(at capcli.Time) bool { return at <= start || at%capcli.Time(capcli.Hour) == 0 }
		if !whole(f.Unit.Start) || !f.Renews && !whole(f.Unit.End) {
			return f.Name + " begins or ends within an hour"
		}
		for _, name := range f.Covers {
			other, model := sold[name], s.Capacity[f.Pool].GPUModel
			switch {
			case price[name] == "" || price[name] != price[f.Covers[0]]:
				return fmt.Sprintf("%s covers %s, whose prices on demand differ", f.Name, strings.Join(f.Covers, " and "))
			case other != nil && (!slices.Equal(other.Covers, f.Covers) || other.Lot != f.Lot):
				return fmt.Sprintf("%s and %s cover the use of %s in part, or in nodes of other sizes", other.Name, f.Name, name)
			case others && f.Lot != max(1, p.machine, p.lot):
				return fmt.Sprintf("%s is bought by %d %s, and the other offers are of machines of %d", f.Name, f.Lot, capcli.Plural(int64(f.Lot), "GPU"), max(1, p.machine, p.lot))
			case others && model == "" && len(f.Covers) > 1:
				return f.Name + " names no gpu_model, and covers " + strings.Join(f.Covers, " and ")
			}
			sold[name] = f
		}
	}
	return ""
}

// floatingOf returns the pools of a mix that float as offers.
func (p *Planner) floatingOf(s *scenarios.Scenario) ([]Offer, error) {
	if !p.floating {
		return nil, nil
	}
	start := p.starts
	list, err := s.FloatingPools(start, start+1)
	if err != nil {
		return nil, err
	}
	var out []Offer
	for i := range list {
		f := &list[i]
		o := Offer{
			Name: f.Name, Ends: f.Unit.End, Rate: f.Rate(), Starts: []capcli.Time{max(f.Unit.Start, start)},
			floating: &floatingOffer{path: s.SizePath(f.Pool), covers: f.Covers, lot: int64(f.Lot), gpus: -1, term: f.Term, model: strings.ToLower(s.Capacity[f.Pool].GPUModel)},
		}
		if o.Ends <= start {
			continue
		}
		if o.Renews = f.Renews; !slices.Contains(p.offered, f.Name) {
			o.floating.gpus = int64(f.GPUs)
		}
		out = append(out, o)
	}
	return out, nil
}

// sizeOf returns the override that gives a pool of the scenario so many units.
func (f *floatingOffer) sizeOf(units int64) string {
	if !strings.HasSuffix(f.path, ".nodes") {
		units *= f.lot
	}
	return f.path + "=" + strconv.FormatInt(units, 10)
}

// heldContracts adds the pools of a mix that float and are played at their size: they cover first, and what they cost
// within the runs is part of what a run costs in any case.
func (x *laid) heldContracts(o *Offer, kind int, uses []plan.Metered) {
	for _, c := range x.purchasesOf(o, kind, uses[kind].Cuts) {
		if c.Most = o.floating.gpus / o.floating.lot; c.Most > 0 {
			uses[kind].Held = append(uses[kind].Held, c)
			x.held = append(x.held, purchase{o, c, c.Most})
		}
	}
}

// purchase is so many units of a contract of an offer.
type purchase struct {
	offer    *Offer
	contract plan.Contract
	units    int64
}

// cost returns the cost of a purchase from one instant to another.
func (p *purchase) cost(from, to capcli.Seconds) capcli.USD {
	return capcli.Cost(p.contract.Rate, capcli.GPUTime(p.units*int64(max(0, to-from)))*capcli.GPUSecond)
}
