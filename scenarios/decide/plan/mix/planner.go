package mix

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// Plan finds the best mix of a scenario, its gap to the lower bound and its assumptions. The errors
// are those of NewPlanner, Find and Study.
func Plan(ctx context.Context, r *Request) (*Result, error) {
	p, err := NewPlanner(ctx, r)
	if err != nil {
		return nil, err
	}
	found, err := p.Find(ctx)
	if err != nil {
		return nil, err
	}
	return p.Study(ctx, found)
}

// Planner plans one scenario: Find searches, Study works out the result.
type Planner struct {
	// Search is what Find runs. Its Progress and Evaluate may be set before.
	Search *Search

	req     *Request
	problem *Problem
	limits  []outcome.Check
	chance  bool   // runs differ from each other
	ahead   *ahead // nil where the runs play the jobs as they are
	outside int64  // jobs outside the period
	notes   []string

	lock sync.Mutex
	jobs map[int][]capcli.Job // by run
	held int                  // jobs in memory

	first   int // runs of the first search
	lot     int // GPUs in which the market sells its terms
	machine int // GPUs of a billing unit of pools that do not say

	floating bool        // pools that float are settled on played use
	offered  []string    // those of them whose size is solved
	starts   capcli.Time // of the runs, where there are offers
}

// NewPlanner checks a request, reads the jobs where the request does not name the axes
// or plays futures, and makes the space of mixes. It fails with *capcli.RequestError
// where the request is wrong, and with *capcli.InputError where the scenario or the
// jobs are.
func NewPlanner(ctx context.Context, r *Request) (*Planner, error) {
	c := r.Case
	if un := c.Scenario.Unpriced(); len(un) > 0 {
		return nil, &capcli.InputError{
			File: c.Scenario.File, Field: "price", Text: "expected a price for every pool, found none for " + strings.Join(un, ", "),
			Hint: "a plan weighs costs: give each pool a price, such as price: 2.20 USD/gpu-h",
		}
	}
	p := &Planner{req: r, chance: leavesToChance(c), notes: append([]string(nil), c.Made...), jobs: map[int][]capcli.Job{}}
	runs := r.Runs
	var weights []int64
	var err error
	switch {
	case r.Ahead != nil && len(r.Futures) > 0:
		return nil, &capcli.RequestError{Text: "futures are drawn from one log, and there are several", Hint: "give one trace, or leave the futures out"}
	case r.Ahead != nil:
		runs, err = p.lookAhead(ctx)
	case len(r.Futures) > 0:
		runs, weights, err = p.readFutures()
	}
	if err != nil {
		return nil, err
	}
	p.problem = &Problem{
		Seed: c.Seed, Runs: p.runsOf(runs), Weights: weights, PriceUnserved: r.PriceUnserved, Candidate: p.candidate, Jobs: p.jobsOf(ctx),
	}
	if r.Memory != nil {
		var err error
		if p.problem.Jobset, err = p.jobset(); err != nil {
			return nil, err
		}
		if p.problem.Jobset != "" {
			p.problem.Memory = r.Memory
		}
	}
	for _, step := range []func() error{p.makeTariff, p.makeSpace, p.priceWaits, p.makeLimits, r.Check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if p.problem.Within = outcome.AvailableWithin(p.limits); r.Within != nil {
		p.problem.Within = *r.Within
	}
	p.Search = &Search{
		Problem: p.problem, Limits: limitsOf(p.limits), Hold: r.Hold, Confidence: r.Confidence, Goal: r.Goal, Risk: r.Risk, Stride: p.stride(),
	}
	if own := p.ownMix(); own >= 0 {
		p.Search.Include = []int{own}
	}
	return p, p.Fault(p.checkValues())
}

// runsOf returns how often each mix is run: 20 times where the request does not say, and once where
// nothing is left to chance.
func (p *Planner) runsOf(asked int) int {
	switch {
	case asked == 0 && p.chance:
		return 20
	case asked > 1 && !p.chance:
		p.req.note(fmt.Sprintf("nothing is left to chance, so every run is the same: one run of each mix in place of %d", asked))
		return 1
	}
	return max(1, asked)
}

// leavesToChance reports whether two runs of a case can differ.
func leavesToChance(c *play.Case) bool {
	if !c.FromLog() || c.Scenario.PlacementName() == "random" {
		return true
	}
	for i := range c.Scenario.Services {
		if r := c.Scenario.Services[i].Requests; r != nil && r.From == "" {
			return true
		}
	}
	for i := range c.Scenario.Capacity {
		if pool := &c.Scenario.Capacity[i]; pool.Failures != nil || pool.Hazard != nil {
			return true
		}
	}
	return false
}

// stride returns the stride of the first grid: about eight values of the longest axis.
func (p *Planner) stride() int {
	if p.req.Exhaustive || len(p.req.Vary) > 0 {
		return 1
	}
	longest := 1
	for _, a := range p.problem.Space.Axes {
		if a.Ordered {
			longest = max(longest, len(a.Values))
		}
	}
	if longest < 8 {
		return 1
	}
	return 1 << (bits.Len(uint(longest/8)) - 1)
}

func (p *Planner) options(run int) scenarios.Options {
	return scenarios.Options{Seed: p.req.Case.Seed, Run: run, Open: p.req.Case.Open}
}

// jobsMost is the most jobs kept in memory for later runs.
const jobsMost = 2_000_000

// jobsOf returns a function that returns the jobs of a run, in order and within the period. It
// reads each run once and keeps it in memory, up to jobsMost jobs.
func (p *Planner) jobsOf(ctx context.Context) func(run int) ([]capcli.Job, error) {
	return func(run int) ([]capcli.Job, error) {
		if p.req.Case.FromLog() && p.ahead == nil && len(p.req.Futures) == 0 {
			run = 0
		}
		p.lock.Lock()
		defer p.lock.Unlock()
		if jobs, ok := p.jobs[run]; ok {
			return jobs, nil
		}
		jobs, err := p.drawJobs(ctx, run)
		if err != nil {
			return nil, err
		}
		if jobs == nil {
			jobs = []capcli.Job{} // services alone
		}
		if p.held+len(jobs) > jobsMost {
			p.jobs, p.held = map[int][]capcli.Job{}, 0
		}
		p.jobs[run] = jobs
		p.held += len(jobs)
		return jobs, nil
	}
}

func (p *Planner) readJobs(ctx context.Context, run int) ([]capcli.Job, error) {
	jobs, outside, err := p.req.Case.Jobs(ctx, run, p.req.note)
	if err == nil && run == 0 {
		p.outside = outside
	}
	return jobs, err
}

// candidate returns mix i: the scenario with the values of its number.
func (p *Planner) candidate(i int) (*Candidate, error) {
	values := p.problem.Space.Values(i)
	s, err := p.req.Case.Scenario.With(p.problem.Space.overrides(values)...)
	if err != nil {
		return nil, &invalidError{Err: err}
	}
	return p.candidateOf(s, i, values)
}

func (p *Planner) candidateOf(s *scenarios.Scenario, i int, values []string) (*Candidate, error) {
	s.Policy.Perfect = s.Policy.Perfect || p.req.Perfect
	if p.ahead != nil {
		s.Period = scenarios.Period{Start: p.ahead.set.Futures.Start(), End: p.ahead.set.Futures.End()}
	}
	c := &Candidate{Index: i, Values: values, Unpriced: len(s.Unpriced()) > 0}
	var err error
	if c.Key, err = s.ScheduleKey(); err != nil {
		return nil, err
	}
	if c.Rates, err = s.Rates(p.options(0)); err != nil {
		return nil, err
	}
	if c.offers, err = p.floatingOf(s); err != nil {
		return nil, err
	}
	if p.floating {
		s.LeaveUnsettled()
	}
	if s.Settles() {
		c.Discounted = true
		c.Invoice = func(rec *simulate.Record, ended capcli.Seconds) (*billing.Invoice, error) {
			return s.Invoice(rec, ended, p.options(0))
		}
	}
	if len(s.Services) > 0 {
		c.Services = func(ctx context.Context, run int, res *simulate.Result, inv *billing.Invoice, priced bool) ([]outcome.Service, error) {
			cfg, err := c.Config(run)
			if err != nil {
				return nil, err
			}
			out, _, err := play.ServiceFigures(ctx, s, res, cfg.Services, inv, priced, p.options(run))
			return out, err
		}
	}
	c.Config = func(run int) (simulate.Config, error) { return s.Config(nil, p.options(run)) }
	if t := p.problem.tariff; t != nil {
		if c.metered, err = s.Metered(p.options(0)); err != nil {
			return nil, err
		}
		c.Config = func(run int) (simulate.Config, error) {
			cfg, err := s.Config(nil, p.options(run))
			t.prepare(&cfg, c.metered)
			return cfg, err
		}
	}
	return c, nil
}

// TryOne simulates one run of one mix: the scenario's own, or the first. It reports whether that
// mix is valid.
func (p *Planner) TryOne(ctx context.Context) (bool, error) {
	i := 0
	if len(p.Search.Include) > 0 {
		i = p.Search.Include[0]
	}
	_, err := p.problem.Outcome(ctx, i, 0)
	if isInvalid(err) {
		return false, nil
	}
	return true, p.Fault(err)
}

// Pieces returns the search as a list of work for shards. All files that the search depends on have
// been opened when it returns.
func (p *Planner) Pieces(ctx context.Context) (*Pieces, error) {
	list, err := p.Search.pieces(ctx)
	if err == nil { // the files that a mix names were opened when its candidate was made
		err = p.ReadJobs()
	}
	return list, p.Fault(err)
}

// ReadJobs reads the jobs of the first run, or all job logs, ahead of time, so that their errors come first.
func (p *Planner) ReadJobs() error {
	for run := range max(1, len(p.req.Futures)) {
		if _, err := p.problem.Jobs(run); err != nil {
			return p.Fault(err)
		}
	}
	return nil
}

// Fault turns an error of a search into one of the input where the input caused it.
func (p *Planner) Fault(err error) error {
	if bad, ok := errors.AsType[*invalidError](err); ok {
		return bad.Err
	}
	if errors.Is(err, errNoMix) {
		return &capcli.InputError{File: p.req.Case.Scenario.File, Text: "expected a mix to try, found none"}
	}
	return p.req.Case.Fault(err)
}

func isInvalid(err error) bool {
	_, is := errors.AsType[*invalidError](err)
	return is
}

// Assess runs mixes in full, in every run, without a search: each is a list of changes to the
// scenario, "capacity.base.gpus=64". A change that makes no valid scenario fails with what is wrong
// with it. The gap of a mix is unknown. The mixes are in the order of the list.
func (p *Planner) Assess(ctx context.Context, mixes [][]string) ([]*Mix, error) {
	var list []*Candidate
	for i, changes := range mixes {
		s, err := p.req.Case.Scenario.With(changes...)
		if err != nil {
			return nil, p.Fault(err)
		}
		c, err := p.candidateOf(s, i, nil)
		if err != nil {
			return nil, p.Fault(err)
		}
		list = append(list, c)
	}
	entries, err := p.Search.runAll(ctx, p.problem, list)
	if err != nil {
		return nil, p.Fault(err)
	}
	found := &Found{Entries: entries, Runs: p.problem.Runs, limits: p.Search.Limits, hold: p.Search.Hold}
	s := &study{Planner: p, found: found, bound: noBound(""), out: &Result{}}
	return s.mixes(entries), nil
}

// Holds reports whether the mix holds all limits in the given share of its runs, and each-run limits
// in every run.
func (m *Mix) Holds(share float64) bool { return m.Entry.fault() == "" && m.Entry.holds(share) }
