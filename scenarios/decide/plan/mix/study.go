package mix

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// study works out the figures about the best mix once it is found.
type study struct {
	*Planner
	found *Found
	best  *Entry // nil where no mix holds the limits
	bound *Bound
	owed  []string // notes on commitments that last beyond the runs
	out   *Result
}

// Study works out the figures about the best mix: how far it is above the least possible cost, the
// marginal value of its GPUs, the break-even prices against the runner-up and the effect of
// changes. For a search that was stopped it reports only what was found. Where ctx ends during the
// study it returns the result so far with the error; any other error comes without a result.
func (p *Planner) Study(ctx context.Context, found *Found) (*Result, error) {
	s := &study{Planner: p, found: found, best: found.BestEntry(), bound: noBound(""), out: &Result{}}
	if found.Partial {
		s.out.Partial = p.stoppedText(found)
		p.problem.Runs = found.Runs
	}
	var err error
	if !found.Partial {
		if s.out.OwnPast, err = p.req.Case.OwnPast(ctx); err != nil {
			return nil, p.Fault(err)
		}
	}
	if s.best != nil {
		if s.out.Chosen, err = s.scenario(); err != nil {
			return nil, p.Fault(err)
		}
		if s.out.Buys, err = s.purchases(); err != nil {
			return nil, p.Fault(err)
		}
		if !found.Partial {
			err = p.Fault(s.ask(ctx))
		}
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err != nil {
			s.out.Partial = "the search is complete; the analysis of its best mix was stopped"
		}
	}
	if err == nil {
		s.out.Sizes, err = s.sized(ctx)
		if err = p.Fault(err); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	return s.result(), err
}

// stoppedText says how far a search got before it was stopped.
func (p *Planner) stoppedText(f *Found) string {
	atMost, each := "", ""
	if p.Search.Stride > 1 { // the space has more mixes than a search tries
		atMost = "at most "
	}
	if f.Runs < p.problem.Runs {
		each = fmt.Sprintf(", each run %d of %d times", f.Runs, p.problem.Runs)
	}
	return fmt.Sprintf("the search was stopped after %s of %s%s mixes%s", capcli.Grouped(int64(len(f.Entries))), atMost, capcli.Grouped(int64(f.Size)), each)
}

// ask works out the bound, the commitments owed, the marginal GPUs, the ties and the swings of the
// best mix.
func (s *study) ask(ctx context.Context) error {
	bound, err := s.Search.bound(ctx, s.found, s.best)
	if err != nil {
		return err
	}
	s.bound = bound
	if err := s.owe(); err != nil {
		return err
	}
	if s.out.CommittedAs, err = s.committedAs(); err != nil {
		return err
	}
	if err := s.weigh(ctx); err != nil {
		return err
	}
	if err := s.weighBills(ctx); err != nil {
		return err
	}
	if rival := s.runnerUp(); rival != nil {
		s.out.Rival, s.out.Against = rival, &rival.Index
		if !s.best.Discounted && !rival.Discounted && !s.out.Chosen.ChoosesByPrice() {
			s.out.BreakEven = ties(s.best, rival)
		}
	}
	if s.out.Models, err = s.byModel(ctx); err != nil {
		return err
	}
	return s.swings(ctx)
}

// runnerUp returns the cheapest mix other than the best that holds the limits and has another
// schedule; nil where there is none.
func (s *study) runnerUp() *Entry {
	var next *Entry
	for _, e := range s.found.Entries {
		if e == s.best || e.Fate != Full || e.Key == s.best.Key || !e.holds(s.Search.Hold) {
			continue
		}
		if next == nil || byChoice(e, next) < 0 {
			next = e
		}
	}
	return next
}

// scenario returns the scenario of the best mix, with the commitments that are pools of it.
func (s *study) scenario() (*scenarios.Scenario, error) {
	base := s.req.Case.Scenario
	changes := s.problem.Space.overrides(s.best.Values)
	for i := range s.best.offers {
		o := &s.best.offers[i]
		if o.floating.gpus >= 0 || s.best.Cover == nil {
			continue
		}
		units := int64(0)
		for _, b := range s.best.Cover.Bought {
			if b.Pool == o.Name {
				units += b.Units
			}
		}
		changes = append(changes, o.floating.sizeOf(units))
	}
	return base.With(changes...)
}

// changed returns the best mix with changes; nil where the changed scenario is invalid.
func (s *study) changed(more ...string) (*Candidate, error) {
	x, err := s.req.Case.Scenario.With(append(s.problem.Space.overrides(s.best.Values), more...)...)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a mix that cannot be is no row
	}
	return s.candidateOf(x, s.best.Index, s.best.Values)
}

// owe finds the commitments of the best mix that last beyond the runs.
func (s *study) owe() error {
	cfg, err := s.best.Config(0)
	if err != nil {
		return err
	}
	rec := &simulate.Record{Start: cfg.Start, Pools: cfg.Pools}
	if !rec.Start.IsKnown() {
		jobs, err := s.problem.Jobs(0)
		if err != nil || len(jobs) == 0 {
			return err
		}
		rec.Start = jobs[0].Submit
	}
	ended := s.best.Outcomes[0].Length
	list, err := s.out.Chosen.Contracts(rec, ended, s.options(0))
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Unexpired <= 0 {
			continue
		}
		s.out.Owed = append(s.out.Owed, Owed{c.Name, c.Start, c.End, c.UsedUp, c.Unexpired, c.Unpaid})
		s.owed = append(s.owed, fmt.Sprintf("%s (%s) runs to %s and is charged here for its time up to %s: %s; %s of it is for the time after that, of which %s is yet to be paid",
			c.Name, c.Kind, c.End.Date(), (rec.Start+capcli.Time(ended)).Date(), c.UsedUp, c.Unexpired, c.Unpaid))
	}
	return nil
}

// weigh works out the marginal value of GPUs of each committed pool around the best mix, over the
// same runs.
func (s *study) weigh(ctx context.Context) error {
	needed, length, err := s.problem.timeNeeded(s.best.Candidate, 0)
	if err != nil {
		return err
	}
	x := s.out.Chosen
	for i := range x.Capacity {
		c := &x.Capacity[i]
		if !c.Kind.Committed() || c.NodesFile != "" || c.Floats && s.problem.tariff != nil {
			continue
		}
		path := x.SizePath(i)
		if path == "" {
			continue
		}
		sizes, candidates, err := s.sizesAround(c, path)
		if err != nil {
			return err
		}
		entries, err := s.runKnown(ctx, candidates)
		if err != nil {
			return err
		}
		var last *Entry
		for k, e := range entries {
			if e.fault() != "" {
				last = nil
				continue
			}
			row := MarginalGPU{
				Pool: c.Name, GPUs: sizes[k], Needed: float64(needed(int64(sizes[k]))) / math.Max(1, float64(length)),
				Cost: e.Cost(), Wait: e.Wait(), Held: e.HeldShare(), Undone: e.undoneShare(), Serves: e.Serves(), Best: sizes[k] == poolSize(c),
			}
			if row.Holds = e.holds(s.Search.Hold); row.Holds && row.Cost < s.best.Cost() {
				row.Why = s.whyNot(e, path, sizes[k])
			}
			if last != nil {
				saved := last.Cost() - e.Cost()
				row.Saved = &saved
			}
			s.out.Marginal, last = append(s.out.Marginal, row), e
		}
	}
	return nil
}

// runKnown is runAll that takes mixes with the same schedule and prices which the search has run in full.
func (s *study) runKnown(ctx context.Context, candidates []*Candidate) ([]*Entry, error) {
	out := make([]*Entry, len(candidates))
	var fresh []*Candidate
	for i, c := range candidates {
		for _, e := range s.found.Entries {
			if e.Fate == Full && !e.Discounted && e.Key == c.Key && fmt.Sprint(e.Rates) == fmt.Sprint(c.Rates) {
				out[i] = e
			}
		}
		if out[i] == nil {
			fresh = append(fresh, c)
		}
	}
	entries, err := s.Search.runAll(ctx, s.problem, fresh)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i] == nil {
			out[i], entries = entries[0], entries[1:]
		}
	}
	return out, nil
}

// whyNot returns why a size that is cheaper than the plan and holds the limits is not the plan: for its waits, or because
// it was no choice.
func (s *study) whyNot(e *Entry, path string, gpus int) string {
	if more := e.CostWithWaits() - s.best.CostWithWaits(); more >= 0 {
		return fmt.Sprintf(waitsCount+" %s more: --search wait-cost=… sets what an hour of a job counts", more+s.best.Cost()-e.Cost())
	}
	for _, a := range s.problem.Space.Axes {
		if a.Path == path {
			return fmt.Sprintf("%d GPUs are between the sizes tried, or beyond them: --vary %s=… tries more", gpus, path)
		}
	}
	return fmt.Sprintf("the size of %s is given: --vary %s=… tries others", path, path)
}

// sizesAround returns sizes of a pool around the best one, in GPUs, and the mixes that have them:
// three either way, in steps of one GPU or node, or of a twentieth of a large pool.
func (s *study) sizesAround(c *scenarios.Capacity, path string) (sizes []int, candidates []*Candidate, err error) {
	size, unit := c.GPUs, 1
	if c.Nodes > 0 {
		size, unit = c.Nodes, c.GPUsPerNode
	}
	step := max(1, size/20)
	for k := size - 3*step; k <= size+3*step; k += step {
		value := k
		if strings.HasSuffix(path, ".gpus") {
			value *= unit
		}
		if k < 0 {
			continue
		}
		candidate, err := s.changed(path + "=" + strconv.Itoa(value))
		if err != nil {
			return nil, nil, err
		}
		if candidate != nil {
			sizes, candidates = append(sizes, k*unit), append(candidates, candidate)
		}
	}
	return sizes, candidates, nil
}

// swings works out the cost of the best mix after single changes: of demand, of each price, of spot
// losses and of lead times.
func (s *study) swings(ctx context.Context) error {
	for _, share := range []float64{0.9, 1.1} {
		p := *s.problem
		p.Jobset += fmt.Sprint("|demand ", share)
		p.Jobs = func(run int) ([]capcli.Job, error) {
			jobs, err := s.problem.Jobs(run)
			if err != nil {
				return nil, err
			}
			return scaleDemand(jobs, share, s.problem.Seed.Child(run)), nil
		}
		if err := s.swing(ctx, &p, fmt.Sprintf("demand %+.0f%%", 100*(share-1)), s.best.Candidate); err != nil {
			return err
		}
	}
	s.priceSwings()
	for _, change := range supplySwings(s.out.Chosen) {
		candidate, err := s.changed(change.sets...)
		if err != nil {
			return err
		}
		if candidate == nil {
			continue
		}
		if err := s.swing(ctx, s.problem, change.what, candidate); err != nil {
			return err
		}
	}
	return nil
}

func (s *study) swing(ctx context.Context, p *Problem, what string, c *Candidate) error {
	entries, err := s.Search.runUnsettled(ctx, p, []*Candidate{c})
	if err == nil && s.best.Cover != nil { // what was committed stays
		err = s.Search.settleAs(ctx, entries, s.best.Cover.units)
	}
	if err != nil {
		return err
	}
	e := entries[0]
	if e.fault() != "" {
		s.notes = append(s.notes, fmt.Sprintf("%s: the mix cannot be priced then: %s", what, e.fault()))
		return nil
	}
	held := e.HeldShare()
	s.add(Swing{What: what, Cost: e.Cost(), Wait: e.Wait(), Held: &held, Undone: e.undoneShare()})
	return nil
}

func (s *study) add(w Swing) {
	w.Difference = w.Cost - s.best.Cost()
	s.out.Tornado = append(s.out.Tornado, w)
}

// undoneShare returns the mean share of the work that a mix leaves undone.
func (e *Entry) undoneShare() float64 {
	v, _ := e.Mean("unserved_share")
	return v
}

// priceSwings needs no simulation: with the schedule fixed the cost is linear in a price.
func (s *study) priceSwings() {
	if s.best.Discounted || s.out.Chosen.ChoosesByPrice() {
		return // a price would also change which use the commitments cover, or which ways jobs take
	}
	s.coverSwings()
	for i, pool := range s.best.Outcomes[0].Pools {
		if s.best.isCovered(i) {
			continue
		}
		var part capcli.USD
		for k := range s.best.Outcomes {
			part += s.best.Outcomes[k].Pools[i].Cost
		}
		part /= capcli.USD(len(s.best.Outcomes))
		if part == 0 {
			continue
		}
		for _, sign := range []capcli.USD{-1, 1} {
			s.add(Swing{
				What: fmt.Sprintf("price of %s %+d%%", pool.Name, 10*sign), Cost: s.best.Cost() + sign*part/10,
				Wait: s.best.Wait(), Undone: s.best.undoneShare(), Exact: true,
			})
		}
	}
}

// coverSwings adds the effects of the price on demand and of those of the offers, with what was committed.
func (s *study) coverSwings() {
	c := s.best.Cover
	if c == nil {
		return
	}
	type part struct {
		what string
		cost capcli.USD
	}
	parts := []part{{"price on demand", c.OnDemand}}
	for i := range c.Bought {
		b := &c.Bought[i]
		k := slices.IndexFunc(parts, func(p part) bool { return p.what == "price of "+b.Offer })
		if k < 0 {
			k, parts = len(parts), append(parts, part{what: "price of " + b.Offer})
		}
		parts[k].cost += b.Cost
	}
	for _, p := range parts {
		for _, sign := range []capcli.USD{-1, 1} {
			s.add(Swing{
				What: fmt.Sprintf("%s %+d%%", p.what, 10*sign), Cost: s.best.Cost() + sign*p.cost/10, Wait: s.best.Wait(), Undone: s.best.undoneShare(), Exact: true,
			})
		}
	}
}

// isCovered reports whether commitments may cover the use of a pool of the mix.
func (e *Entry) isCovered(pool int) bool { return e.metered != nil && e.metered[pool] }

// supplySwing is a change of how capacity behaves: overrides of the scenario, and their name.
type supplySwing struct {
	what string
	sets []string
}

// supplySwings returns half and twice the losses of spot nodes, and half and twice the lead times.
func supplySwings(s *scenarios.Scenario) []supplySwing {
	var out []supplySwing
	for _, x := range []struct {
		times float64
		word  string
	}{{0.5, "half"}, {2, "twice"}} {
		var kills, delays []string
		for i := range s.Capacity {
			c := &s.Capacity[i]
			if c.Hazard != nil {
				up := capcli.Seconds(float64(c.Hazard.MeanUp) / x.times)
				kills = append(kills, fmt.Sprintf("%s.hazard.mean_up=%s", s.PoolPath(i), timeText(max(60, up))))
			}
			if c.Lead > 0 {
				delays = append(delays, fmt.Sprintf("%s.lead_time=%s", s.PoolPath(i), timeText(capcli.Seconds(float64(c.Lead)*x.times))))
			}
		}
		if len(kills) > 0 {
			out = append(out, supplySwing{x.word + " the spot losses", kills})
		}
		if len(delays) > 0 {
			out = append(out, supplySwing{x.word + " the lead times", delays})
		}
	}
	return out
}

// approval returns who must sign for the best mix; nil where the scenario has no such rule.
func (s *study) approval() *billing.Signature {
	n := s.best.Cover.BillGPUs() // committed GPUs, without pools whose nodes are in a file
	for i := range s.out.Chosen.Capacity {
		switch c := &s.out.Chosen.Capacity[i]; {
		case !c.Kind.Committed() || c.Floats && s.best.Cover != nil:
		case c.GPUs > 0:
			n += int64(c.GPUs)
		default:
			n += int64(c.Nodes) * int64(c.GPUsPerNode)
		}
	}
	return s.req.Case.Scenario.Approvals.Signature(n)
}

// runAll simulates all candidates in every run of p and drops none.
func (s *Search) runAll(ctx context.Context, p *Problem, candidates []*Candidate) ([]*Entry, error) {
	entries, err := s.runUnsettled(ctx, p, candidates)
	if err != nil {
		return nil, err
	}
	return entries, s.settle(ctx, entries)
}

// runUnsettled is runAll with all use on demand.
func (s *Search) runUnsettled(ctx context.Context, p *Problem, candidates []*Candidate) ([]*Entry, error) {
	entries := make([]*Entry, len(candidates))
	for i, c := range candidates {
		entries[i] = s.newEntry(c)
		entries[i].limits = s.Limits
	}
	for run := range p.Runs {
		out, err := p.evaluate(ctx, run, candidates)
		if err != nil {
			return nil, err
		}
		for i := range out {
			entries[i].note(out[i], s.Limits)
		}
	}
	return entries, nil
}

// scaleDemand returns the jobs of a run with the given share of the demand. Each job is left out or
// repeated at the same instant by its own random number. A job that is left out at 90 % is left out
// at 80 % too.
func scaleDemand(jobs []capcli.Job, share float64, seed capcli.Seed) []capcli.Job {
	rng := seed.Stream("demand")
	out := make([]capcli.Job, 0, int(float64(len(jobs))*share)+1)
	for i := range jobs {
		u := rng.Float64()
		for n := share; n > u; n-- {
			out = append(out, jobs[i])
		}
	}
	return out
}

// timeNeeded returns a function that gives the time for which the jobs of a run would hold at least
// a number of GPUs if none ever waited, and the length of the run.
func (p *Problem) timeNeeded(c *Candidate, run int) (func(gpus int64) capcli.Seconds, capcli.Seconds, error) {
	cfg, err := c.Config(run)
	if err != nil {
		return nil, 0, err
	}
	cfg.Overflow = simulate.Overflow{}
	cfg.Settings.Round = 0
	cfg.Pools = nil
	var fresh *smooth
	var length capcli.Seconds
	kept, err := recall(p.Memory, "needed|"+p.Jobset+"|"+ruleKey(&cfg, run), func() (*neededKept, error) {
		jobs, err := p.Jobs(run)
		if err != nil {
			return nil, err
		}
		w := promises(&cfg, jobs, nil)
		fresh = newSmooth(w.windows, w.end())
		length = w.end()
		if p.Memory == nil {
			return nil, nil //nolint:nilnil // fresh is the answer
		}
		return fresh.needed(length)
	})
	switch {
	case fresh != nil && (err == nil || errors.Is(err, errTooHigh)):
		return fresh.timeAt, length, nil
	case err != nil:
		return nil, 0, err
	}
	return kept.timeAt, kept.Length, nil
}
