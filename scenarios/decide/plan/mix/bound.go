package mix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/simulate"
)

// Bound is a lower bound on the cost of a class of mixes, by the risk of the search over the runs
// (the mean unless another was asked), and the plan's gap above it.
type Bound struct {
	Cost capcli.USD `json:"cost_usd"`       // 0 where no bound is known
	Gap  float64    `json:"optimality_gap"` // (plan - bound) / bound; 0 where no bound is known
	// Over is the class of mixes. "every_mix" is every mix of these pools, in any sizes and under
	// any policy, in which no job waits longer than MaxWait: its patience and the lead time.
	// "same_service" is every mix that finishes no job's work later than the plan does.
	Over    string         `json:"over"`
	Serves  bool           `json:"with_replicas,omitempty"` // "same_service" is of mixes that hold no fewer replicas of services at any time, too
	Why     string         `json:"why_not_every_mix,omitempty"`
	Says    string         `json:"says"`
	MaxWait capcli.Seconds `json:"longest_wait_s"`
	GPUs    int64          `json:"committed_gpus"` // committed GPUs at which the bound is reached, in the first run
}

// The values of Bound.Over.
const (
	everyMix    = "every_mix"
	sameService = "same_service"
)

// Service reports whether the bound is only over mixes that serve as well as the plan.
func (b *Bound) Service() bool { return b.Over == sameService }

// noBound returns a bound that says nothing, and why.
func noBound(why string) *Bound { return (&Bound{Over: everyMix, Why: why}).describe() }

// describe returns b with a sentence on its meaning.
func (b *Bound) describe() *Bound {
	switch {
	case b.Cost == 0:
		b.Says = "no lower bound on the cost is known here"
	case b.Serves:
		b.Says = fmt.Sprintf("lower bound: no mix of these pools, of any size and under any policy, that finishes no job's work later than this plan and holds no fewer replicas at any time costs less than %s", b.Cost)
	case b.Service():
		b.Says = fmt.Sprintf("lower bound: no mix of these pools, of any size and under any policy, that finishes no job's work later than this plan costs less than %s", b.Cost)
	default:
		b.Says = fmt.Sprintf("lower bound: no mix of these pools, of any size and under any policy, in which every job starts within its patience (at most %s) costs less than %s", b.MaxWait, b.Cost)
	}
	return b
}

// menu is what can be bought: committed GPUs for the whole time at the lowest price of any pool,
// and the rest by use. Committed capacity that is there for part of the time counts as paid by use,
// which makes it cheaper than it is.
type menu struct {
	committed capcli.Rate
	none      bool // no pool is committed for the whole time
	tiers     []tier
	items     []item
}

// item is a pool of a menu: the largest size and the lowest price in any mix.
type item struct {
	name, model string
	partition   string // that it serves alone in every mix; "" is all
	committed   bool
	tier
}

// add puts capacity on the menu.
func (m *menu) add(committed bool, t tier) {
	switch {
	case !committed:
		m.tiers = append(m.tiers, t)
	case m.none || t.price < m.committed:
		m.committed, m.none = t.price, false
	}
}

// menuOf returns the menu of some mixes: of each pool, by name, the largest size and the lowest
// price in any mix.
func (p *Problem) menuOf(entries []*Entry) (*menu, error) {
	var items []item
	for _, e := range entries {
		cfg, err := e.Config(0)
		if err != nil {
			return nil, err
		}
		rates := p.tariff.floorRates(cfg.Pools, e.Candidate)
		for i := range cfg.Pools {
			p := &cfg.Pools[i]
			// what is free is there at its size alone, and is no price at which more can be had
			whole := p.Terms.Committed() && lowest(&rates[i]) > 0 && p.From <= 0 && (p.Until == 0 || cfg.Until > 0 && p.Until >= cfg.Until)
			x := item{p.Name, p.GPUModel, p.Partition, whole, tier{lowest(&rates[i]), int64(p.Capacity())}}
			k := slices.IndexFunc(items, func(o item) bool { return o.name == x.name && o.committed == x.committed })
			if k < 0 {
				items = append(items, x)
				continue
			}
			if items[k].partition != x.partition {
				items[k].partition = ""
			}
			items[k].price, items[k].gpus = min(items[k].price, x.price), max(items[k].gpus, x.gpus)
		}
	}
	m := &menu{none: true, items: items}
	for _, x := range items {
		m.add(x.committed, x.tier)
	}
	slices.SortFunc(m.tiers, compareTiers)
	return m, nil
}

// leastCost returns the least cost of the demand on the menu over a time, and the number of
// committed GPUs that reaches it. The cost is convex in that number, so a binary search finds it.
func (m *menu) leastCost(s *smooth, walls []*wall, time capcli.Seconds) (capcli.USD, int64) {
	cost := func(k int64) capcli.USD { return m.costAt(s, walls, time, k) }
	if m.none {
		return elastic(s, walls, m.tiers, 0), 0
	}
	lo, hi := int64(0), s.peak()
	if len(m.tiers) == 0 {
		return cost(hi), hi // only committed capacity
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

// costAt returns the least cost of the demand with k committed GPUs.
func (m *menu) costAt(s *smooth, walls []*wall, time capcli.Seconds, k int64) capcli.USD {
	return capcli.Cost(m.committed, capcli.GPUTime(k*int64(time))*capcli.GPUSecond) + elastic(s, walls, m.tiers, k)
}

// bound returns the tightest lower bound that can be proven for the plan e.
func (s *Search) bound(ctx context.Context, f *Found, e *Entry) (*Bound, error) {
	for _, e := range f.Entries {
		if e.Discounted {
			return noBound(discounted), nil
		}
	}
	m, err := s.Problem.menuOf(f.Entries)
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

// boundEveryMix returns the bound over every mix in which no job waits longer than in the most
// patient mix that was tried. Where there is no such bound, Why says why.
func (s *Search) boundEveryMix(f *Found, m *menu) (*Bound, error) {
	b := &Bound{Over: everyMix}
	bs := newBounds(s.Problem)
	var sum []capcli.USD
	var runs [][]supplied
	for run := range s.Problem.Runs {
		var keys []string
		var list []*simulate.Config
		for _, e := range f.Entries {
			if why := e.Floors[run].Why; why != "" {
				b.Why = why
				return b, nil
			}
			cfg, err := e.Config(run)
			if err != nil {
				return nil, err
			}
			if key := ruleKey(&cfg, run); !slices.Contains(keys, key) {
				keys, list = append(keys, key), append(list, &cfg)
			}
		}
		parts, of, err := bs.partsOfRun(m, run, keys, list)
		if err != nil {
			return nil, err
		}
		cost, gpus := leastOfParts(parts)
		runs = append(runs, parts)
		for _, v := range m.weightsFor(s.Problem, run) {
			curve, of, err := bs.loosest(run, keys, list, v, part{})
			if err != nil {
				return nil, err
			}
			cost = max(cost, m.inUnits(v).leastInUnits(curve, of.Time))
		}
		if sum = append(sum, cost); run == 0 {
			b.GPUs = gpus
		}
		b.MaxWait = max(b.MaxWait, of.Longest)
	}
	b.Cost = max(s.riskDown(sum), s.leastOfRuns(runs))
	return b, nil
}

// leastOfRuns returns the mean of the least costs of all runs with one number of committed GPUs, rounded down; 0 where the
// risk is not the mean, or runs are weighed.
func (s *Search) leastOfRuns(runs [][]supplied) capcli.USD {
	if s.Risk.Kind != plan.Mean || s.Problem.Weights != nil {
		return 0
	}
	return leastOfRuns(runs) / capcli.USD(len(runs))
}

// loosened returns p with each window's latest start the later of p's and o's.
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

// leastUnder returns the least cost of jobs that start in the windows of a smooth curve, but for the rounding of
// invoices, and the committed GPUs that reach it. walls are those of the tiers, and time is that for which committed GPUs are
// paid.
func (m *menu) leastUnder(smooth *smooth, walls []*wall, time capcli.Seconds) (capcli.USD, int64) {
	cost, gpus := m.leastCost(smooth, walls, time)
	// Without a period, committed GPUs that work after the last hour counted here are paid for
	// then. No work costs less than the lowest price.
	cost = max(cost, capcli.Cost(m.lowest(), smooth.total()))
	return cost, gpus
}

func (m *menu) lowest() capcli.Rate {
	if len(m.tiers) == 0 || !m.none && m.committed < m.tiers[0].price {
		return m.committed
	}
	return m.tiers[0].price
}

// partsOfRun returns the parts of the jobs of a run in the loosest of the windows that some configurations give them, and
// what is known of the windows.
func (b *bounds) partsOfRun(m *menu, run int, keys []string, list []*simulate.Config) ([]supplied, *curveKept, error) {
	all, of, err := b.loosest(run, keys, list, nil, part{})
	if err != nil {
		return nil, nil, err
	}
	parts, err := m.supply(func(p part) (*smooth, capcli.Seconds, error) {
		if p.keep == nil {
			return all, of.Time, nil
		}
		s, _, err := b.loosest(run, keys, list, nil, p)
		return s, of.Time, err
	})
	return parts, of, err
}

// boundSameService returns the bound over every mix that finishes no job's work later than e does.
// At any instant a job has done at least the work that it would have done by running without a
// pause up to the end that e gave it.
func (s *Search) boundSameService(ctx context.Context, m *menu, e *Entry) (*Bound, error) {
	b := &Bound{Over: sameService}
	sum := make([]capcli.USD, s.Problem.Runs)
	gpus := make([]int64, s.Problem.Runs)
	waits := make([]capcli.Seconds, s.Problem.Runs)
	serves, runs := make([]bool, s.Problem.Runs), make([][]supplied, s.Problem.Runs)
	err := capcli.EachParallel(ctx, s.Problem.Runs, func(ctx context.Context, run int) error {
		w, err := s.served(ctx, e, run)
		if err != nil {
			return err
		}
		all := w.windows(nil, part{})
		serves[run] = len(w.replicas) > 0
		waits[run] = all.longest
		time := cmp.Or(all.until, all.ended)
		if runs[run], err = m.supply(func(p part) (*smooth, capcli.Seconds, error) {
			some := all
			if p.keep != nil {
				some = w.windows(nil, p)
			}
			return newSmooth(some.windows, all.end()), time, nil
		}); err != nil {
			return err
		}
		sum[run], gpus[run] = leastOfParts(runs[run])
		for _, v := range m.weightsFor(s.Problem, run) {
			p := w.windows(v, part{})
			sum[run] = max(sum[run], m.inUnits(v).leastInUnits(newSmooth(p.windows, p.end()), cmp.Or(p.until, p.ended)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.Cost, b.GPUs, b.MaxWait, b.Serves = max(s.riskDown(sum), s.leastOfRuns(runs)), gpus[0], slices.Max(waits), slices.Contains(serves, true)
	return b, nil
}

// riskDown returns the risk of lower bounds on each run's cost, rounded down. It is a lower bound
// too: no risk falls where a cost rises.
func (s *Search) riskDown(list []capcli.USD) capcli.USD {
	if s.Risk.Kind == plan.Mean && s.Problem.Weights == nil {
		return capcli.MeanUSD(len(list), false, func(i int) capcli.USD { return list[i] })
	}
	return s.Risk.WeightedUSD(list, s.Problem.Weights, false)
}

// served returns when the jobs started and ended in a run of e.
func (s *Search) served(ctx context.Context, e *Entry, run int) (*watch, error) {
	jobs, err := s.Problem.Jobs(run)
	if err != nil {
		return nil, err
	}
	cfg, err := e.Config(run)
	if err != nil {
		return nil, err
	}
	w := &watch{jobs: jobs, cpu: cfg.CPUJobs, kill: cfg.KillAtLimit, until: cfg.Until}
	w.end, w.first, w.again = make([]capcli.Seconds, len(jobs)), make([]capcli.Seconds, len(jobs)), make([]bool, len(jobs))
	for i := range jobs {
		w.end[i], w.first[i] = -1, -1
	}
	cfg.List, cfg.Observers = jobs, append(cfg.Observers, w)
	res, err := simulate.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	w.start, w.stages = res.Record.Start, res.Stages != nil
	w.noteReplicas(&cfg, res)
	return w, nil
}

// noteReplicas notes when replicas of services held GPUs. Those that share a GPU are left out: their size depends on the
// pool.
func (w *watch) noteReplicas(cfg *simulate.Config, res *simulate.Result) {
	for i := range res.Services {
		s := &cfg.Services[i]
		if s.GPUMilli > 0 {
			continue
		}
		for k := range res.Services[i].Replicas {
			r := &res.Services[i].Replicas[k]
			if run := r.HeldFor(res.Ended); run > 0 {
				w.replicas = append(w.replicas, replica{s.Partition, window{Earliest: r.Held, Latest: r.Held, Run: run, Milli: s.Milli()}})
			}
		}
	}
}

// replica is the time for which a replica of a service held GPUs.
type replica struct {
	partition string
	window
}

// windows returns the windows of the jobs: each from its submission to the latest start at which it ends no
// later than it did. v weighs the GPUs of different models; of is the jobs that count.
func (w *watch) windows(v worths, of part) *promised {
	p := &promised{until: w.until}
	seen := 0
	for i := range w.jobs {
		j := &w.jobs[i]
		if j.GPUs == 0 && !w.cpu {
			continue
		}
		at := seen // jobs without a GPU are not numbered
		if w.stages {
			at = i
		}
		seen++
		if of.keep != nil && !of.keep(j.Partition) {
			continue
		}
		job := window{Earliest: capcli.Seconds(j.Submit - w.start), Run: runTime(j, w.kill), Milli: j.Milli()}
		if j.GPUs == 0 || job.Run <= 0 || w.first[at] < 0 || takesInstance(j) {
			continue // it never started, so it demands nothing; of an instance the size depends on the pool
		}
		if varies := hasWays(j) || isQuicker(j); v != nil || varies {
			n := needOf(j, w.kill, v)
			if !n.some || varies && w.end[at] < 0 {
				continue // it had not ended: by then it may have done less in another way or place
			}
			n.slow = n.fast // at the fastest it would still end in time
			job = n.window(job.Earliest, 0)
		}
		switch {
		case w.end[at] >= 0:
			job.Latest = max(job.Earliest, w.end[at]-job.Run)
		case w.again[at]:
			continue // stopped by the end of the run after an interruption: the work it had done is not known
		default:
			job.Latest = w.first[at]
		}
		p.longest = max(p.longest, job.Latest-job.Earliest)
		p.ended = max(p.ended, job.Earliest+job.Run)
		p.windows = append(p.windows, job)
	}
	if v == nil {
		p.addReplicas(w.replicas, of)
	}
	return p
}

// addReplicas adds the time for which replicas of a part held GPUs.
func (p *promised) addReplicas(replicas []replica, of part) {
	for i := range replicas {
		if r := &replicas[i]; of.keep == nil || of.keep(r.partition) {
			p.ended = max(p.ended, r.Earliest+r.Run)
			p.windows = append(p.windows, r.window)
		}
	}
}

// watch records when the jobs of a run start and end, and which are interrupted.
type watch struct {
	jobs       []capcli.Job
	cpu, kill  bool
	stages     bool // all jobs are numbered
	start      capcli.Time
	until      capcli.Seconds
	end, first []capcli.Seconds
	again      []bool
	replicas   []replica
}

// Observe records starts, interruptions and ends.
func (w *watch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	switch i := e.Job.Place(); e.Kind {
	case simulate.Start:
		if w.first[i] < 0 {
			w.first[i] = e.Job.Since
		}
	case simulate.Preempt:
		w.again[i] = true
	case simulate.Finish:
		w.end[i] = e.At
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Drop:
	}
}
