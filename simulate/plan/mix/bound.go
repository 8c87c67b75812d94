package mix

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/plan"
)

// Bound is what no mix of a kind can cost less than, in the mean over the runs, and how
// far the plan is above it.
type Bound struct {
	Cost capcli.USD `json:"cost_usd"`
	Gap  float64    `json:"optimality_gap"` // (plan - bound) / bound; 0 where the bound is 0, which is none
	// Over tells which mixes are meant. "every_mix" is every mix of these pools, in any
	// sizes and under any policy, in which no job waits longer than MaxWait allows: its
	// patience, and the lead time. "same_service" is every mix that has no job's work
	// done later than the plan does.
	Over    string         `json:"over"`
	Why     string         `json:"why_not_every_mix,omitempty"`
	Says    string         `json:"says"`
	MaxWait capcli.Seconds `json:"longest_wait_s"`
	GPUs    int64          `json:"committed_gpus"` // at which it is reached, in the first run
}

// What a bound is over.
const (
	everyMix    = "every_mix"
	sameService = "same_service"
)

// Service reports whether the bound is over mixes that serve as well as the plan alone.
func (b *Bound) Service() bool { return b.Over == sameService }

// noBound is a bound that says nothing.
func noBound(why string) *Bound { return (&Bound{Over: everyMix, Why: why}).describe() }

// describe returns b with a sentence on what it is over.
func (b *Bound) describe() *Bound {
	switch {
	case b.Cost == 0:
		b.Says = "no lower bound on the cost is known here"
	case b.Service():
		b.Says = fmt.Sprintf("no mix of these pools, in any sizes and under any policy, that has no job's work done later than this plan does can cost less than %s", b.Cost)
	default:
		b.Says = fmt.Sprintf("no mix of these pools, in any sizes and under any policy, in which every job starts within its patience (%s at most) can cost less than %s", b.MaxWait, b.Cost)
	}
	return b
}

// menu is what may be bought: committed GPUs for the whole time at the lowest
// price of any, and the rest by use. Committed capacity that is not there all the
// time is taken to be paid by use too, which makes it cheaper than it is.
type menu struct {
	committed capcli.Rate
	none      bool // nothing is committed for the whole time
	tiers     []tier
}

// menuOf is the menu of mixes: of pools of one name the largest counts, and the
// lowest price of any mix.
func menuOf(entries []*Entry) (*menu, error) {
	type item struct {
		name      string
		committed bool
		tier
	}
	var items []item
	for _, e := range entries {
		cfg, err := e.Config(0)
		if err != nil {
			return nil, err
		}
		for i := range cfg.Pools {
			p := &cfg.Pools[i]
			whole := p.Terms.Committed() && p.From <= 0 && (p.Until == 0 || cfg.Until > 0 && p.Until >= cfg.Until)
			x := item{p.Name, whole, tier{lowest(&e.Rates[i]), int64(p.Capacity())}}
			k := slices.IndexFunc(items, func(o item) bool { return o.name == x.name && o.committed == x.committed })
			if k < 0 {
				items = append(items, x)
				continue
			}
			items[k].price, items[k].gpus = min(items[k].price, x.price), max(items[k].gpus, x.gpus)
		}
	}
	m := &menu{none: true}
	for _, x := range items {
		switch {
		case !x.committed:
			m.tiers = append(m.tiers, x.tier)
		case m.none || x.price < m.committed:
			m.committed, m.none = x.price, false
		}
	}
	slices.SortFunc(m.tiers, compareTiers)
	return m, nil
}

// leastCost is the least that demand can cost on the menu over a time, and with how
// many committed GPUs. The cost is convex in their number, so the first GPU that
// does not pay for itself is the last that needs to be looked at.
func (m *menu) leastCost(s *smooth, time capcli.Seconds) (capcli.USD, int64) {
	cost := func(k int64) capcli.USD {
		return capcli.Cost(m.committed, capcli.GPUTime(k*int64(time))*capcli.GPUSecond) + elastic(s, m.tiers, k)
	}
	if m.none {
		return elastic(s, m.tiers, 0), 0
	}
	lo, hi := int64(0), s.peak()
	if len(m.tiers) == 0 {
		return cost(hi), hi // nothing but committed capacity
	}
	for lo < hi {
		mid := (lo + hi) / 2
		if cost(mid+1) < cost(mid) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return cost(lo), lo
}

// bound is the tightest lower bound that can be proven for the plan e.
func (s *Search) bound(ctx context.Context, f *Found, e *Entry) (*Bound, error) {
	for _, e := range f.Entries {
		if e.Discounted {
			return noBound(discounted), nil
		}
	}
	m, err := menuOf(f.Entries)
	if err != nil {
		return nil, err
	}
	b, err := s.boundEveryMix(f, m)
	if err == nil && b.Why != "" {
		why := b.Why
		if b, err = s.boundSameService(ctx, m, e); b != nil {
			b.Why = why
		}
	}
	if err != nil {
		return nil, err
	}
	if over := b.Cost - e.Cost(); over > 0 && over <= rounding(len(m.tiers)+1, e.Outcomes[0].Length) {
		b.Cost = e.Cost() // each month of each pool is rounded by itself
	}
	if b.Cost > 0 {
		b.Gap = (e.Cost() - b.Cost).Float() / b.Cost.Float()
	}
	return b.describe(), nil
}

// boundEveryMix is the bound over every mix in which no job waits longer than in the
// most patient one that was tried. Why says why there is none.
func (s *Search) boundEveryMix(f *Found, m *menu) (*Bound, error) {
	b := &Bound{Over: everyMix}
	bs := newBounds(s.Problem)
	var sum []capcli.USD
	for run := range s.Problem.Runs {
		var all *promised
		seen := map[string]bool{}
		for _, e := range f.Entries {
			if why := e.Floors[run].Why; why != "" {
				b.Why = why
				return b, nil
			}
			cfg, err := e.Config(run)
			if err != nil {
				return nil, err
			}
			r, err := bs.rules(&cfg, run)
			if err != nil {
				return nil, err
			}
			if key := ruleKey(&cfg, run); !seen[key] {
				all, seen[key] = all.loosened(r.promised), true
			}
		}
		cost, gpus := m.leastOf(all)
		if sum = append(sum, cost); run == 0 {
			b.GPUs = gpus
		}
		b.MaxWait = max(b.MaxWait, all.longest)
	}
	b.Cost = s.riskDown(sum)
	return b, nil
}

// loosened is p with every window as late as in p or o.
func (p *promised) loosened(o *promised) *promised {
	if p == nil {
		c := *o
		c.windows = slices.Clone(o.windows)
		return &c
	}
	for i := range p.windows {
		p.windows[i].Latest = max(p.windows[i].Latest, o.windows[i].Latest)
	}
	p.longest = max(p.longest, o.longest)
	return p
}

// leastOf is the least that jobs can cost that begin in these windows, but for
// the rounding of invoices.
func (m *menu) leastOf(p *promised) (capcli.USD, int64) {
	time := p.until
	if time == 0 {
		time = p.ended
	}
	smooth := newSmooth(p.windows, p.end())
	cost, gpus := m.leastCost(smooth, time)
	// Without a period, committed GPUs that work on after the last hour counted
	// here are paid for then: no work is had for less than the lowest price.
	cost = max(cost, capcli.Cost(m.lowest(), smooth.total()))
	return cost, gpus
}

// lowest is the lowest price on the menu.
func (m *menu) lowest() capcli.Rate {
	if len(m.tiers) == 0 || !m.none && m.committed < m.tiers[0].price {
		return m.committed
	}
	return m.tiers[0].price
}

// boundSameService is the bound over every mix that has no job's work done later than
// e does: what a job has done by an instant is at least what it would have, had
// it run without a pause up to its end there.
func (s *Search) boundSameService(ctx context.Context, m *menu, e *Entry) (*Bound, error) {
	b := &Bound{Over: sameService}
	sum := make([]capcli.USD, s.Problem.Runs)
	gpus := make([]int64, s.Problem.Runs)
	waits := make([]capcli.Seconds, s.Problem.Runs)
	err := capcli.EachParallel(ctx, s.Problem.Runs, func(ctx context.Context, run int) error {
		p, err := s.served(ctx, e, run)
		if err != nil {
			return err
		}
		waits[run] = p.longest
		sum[run], gpus[run] = m.leastOf(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.Cost, b.GPUs, b.MaxWait = s.riskDown(sum), gpus[0], slices.Max(waits)
	return b, nil
}

// riskDown is what the search makes least of bounds on each run's cost, rounded
// down: no risk falls where a cost rises.
func (s *Search) riskDown(list []capcli.USD) capcli.USD {
	if s.Risk.Kind == plan.Mean {
		return capcli.MeanUSD(len(list), false, func(i int) capcli.USD { return list[i] })
	}
	return s.Risk.USD(list, false)
}

// served are the windows that a run of e kept.
func (s *Search) served(ctx context.Context, e *Entry, run int) (*promised, error) {
	jobs, err := s.Problem.Jobs(run)
	if err != nil {
		return nil, err
	}
	cfg, err := e.Config(run)
	if err != nil {
		return nil, err
	}
	w := &watch{end: make([]capcli.Seconds, len(jobs)), first: make([]capcli.Seconds, len(jobs)), again: make([]bool, len(jobs))}
	for i := range jobs {
		w.end[i], w.first[i] = -1, -1
	}
	cfg.List, cfg.Observers = jobs, append(cfg.Observers, w)
	res, err := simulate.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p := &promised{until: cfg.Until}
	seen := 0
	for i := range jobs {
		j := &jobs[i]
		if j.GPUs == 0 && !cfg.CPUJobs {
			continue
		}
		at := seen // jobs without a GPU are not numbered
		seen++
		job := window{Earliest: capcli.Seconds(j.Submit - res.Record.Start), Run: runTime(j, cfg.KillAtLimit), Milli: j.Milli()}
		if j.GPUs == 0 || job.Run <= 0 || w.first[at] < 0 {
			continue // it never started, so it asks for nothing
		}
		switch {
		case w.end[at] >= 0:
			job.Latest = w.end[at] - job.Run
		case w.again[at]:
			continue // cut off after an interruption: what it had done is not known here
		default:
			job.Latest = w.first[at]
		}
		p.longest = max(p.longest, job.Latest-job.Earliest)
		p.ended = max(p.ended, job.Earliest+job.Run)
		p.windows = append(p.windows, job)
	}
	return p, nil
}

// watch notes when jobs begin and end.
type watch struct {
	end, first []capcli.Seconds
	again      []bool
}

// Observe follows starts, interruptions and ends.
func (w *watch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	switch i := e.Job.Index(); e.Kind {
	case simulate.Start:
		if w.first[i] < 0 {
			w.first[i] = e.Job.Since
		}
	case simulate.Preempt:
		w.again[i] = true
	case simulate.Finish:
		w.end[i] = e.At
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake:
	}
}
