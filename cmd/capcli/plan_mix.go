package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/scenarios/prices"
	"capcli/simulate"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
	"capcli/simulate/placement"
	"capcli/simulate/plan/mix"
	"capcli/simulate/policy"
)

// mixOptions are the flags of a plan of a scenario.
type mixOptions struct {
	sim        simulateOptions // trace, policies, placements, sets, seed, runs
	vary       []string
	most       []string
	least      []string
	hold       string
	within     string
	confidence string
	goal       string
	exhaustive bool
	all        bool
	save       string
	from       string

	priceUnserved bool
}

func (o *mixOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.vary, "vary", nil, "try these values: `PATH=VALUES`, overflow.patience=0,15m,1h (repeat)")
	f.StringArrayVar(&o.most, "max", nil, "limit from above, `METRIC=VALUE`: wait_p95=30m, stranded=50k (repeat)")
	f.StringArrayVar(&o.least, "min", nil, "limit from below, `METRIC=VALUE`: availability=0.95 (repeat)")
	f.StringVar(&o.hold, "hold", "95%", "`SHARE` of the runs in which all limits must hold")
	f.BoolVar(&o.priceUnserved, "price-unserved", false, "work left undone costs the on-demand price, in place of the limit of "+undoneMost+" on its share")
	f.StringVar(&o.within, "within", "", "availability: share of jobs that start within `WAIT` (default: the wait limit, or 1h)")
	f.IntVar(&o.sim.runs, "runs", 0, "runs of each mix that is not dropped: `N` (default 20; 1 where nothing is left to chance)")
	f.StringVar(&o.confidence, "confidence", "99%", "`SHARE`, of all early dropping together; 0 drops by proof alone")
	f.StringVar(&o.goal, "goal", "frontier", "dropping may not lose this `WHAT`: frontier, of cost against wait, or cheapest")
	f.BoolVar(&o.exhaustive, "exhaustive", false, "try every mix, not only those around the best of a coarse grid (as with --vary)")
	f.BoolVar(&o.all, "all", false, "list every mix that was run in full, also those that others beat")
	f.StringVar(&o.from, "from", "", "plan for what the runs in this `DIR` of capcli simulate --out were made from")
	f.StringVar(&o.save, "save", "", "write the plan as JSON into this `FILE` as well")
	f.StringVar(&o.sim.trace, "trace", "", "job log to plan for, `FILE`, in place of the scenario's")
	f.StringSliceVar(&o.sim.policies, "policy", nil, "try these scheduling policies, `a,b,c`")
	f.StringSliceVar(&o.sim.placements, "placement", nil, "try these placements, `a,b`")
	f.StringArrayVar(&o.sim.sets, "set", nil, "change a field of the scenario: `path=value` (may be repeated)")
	o.sim.addOverrideFlags(cmd)
	f.Uint64Var(&o.sim.seed, "seed", 0, "seed of all chance, in place of the scenario's: a whole `NUMBER` from 0")
	f.BoolVar(&o.sim.perfect, "perfect-estimates", false, "policies believe true run times, not the limits that users asked for")
	if f.Lookup("prices") == nil { // a plan of a curve has it as well
		addPricesFlag(cmd, &o.sim.prices)
	}
	explainedBy(cmd, "capcli simulate", "prices", "trace", "policy", "placement", "set", "period", "models", "seed", "perfect-estimates")
	completeList(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	completeList(cmd, "placement", func() []string { return entries(&placement.Catalog) })
	completeSign(cmd, "max", "=")
	completeSign(cmd, "min", "=")
	complete(cmd, "goal", func() []string { return []string{"frontier", "cheapest"} })
}

// mixPlan is the plan of a scenario in the making.
type mixPlan struct {
	e       *env
	o       *planOptions
	name    string // of the scenario, as it was asked for
	base    *play.Case
	text    []byte
	file    string
	prices  *prices.List // of --prices
	problem *mix.Problem
	search  *mix.Search
	found   *mix.Found
	limits  []outcome.Check
	chance  bool // something is left to chance, so that runs differ
	ahead   *mixFutures
	outside int64
	stopped string // what was stopped, so that the plan is partial; "" where it is whole
	notes   []string

	lock sync.Mutex
	jobs map[int][]capcli.Job
	kept int
}

// newMixPlan reads the scenario and the jobs, and works out what is to be tried.
func newMixPlan(ctx context.Context, e *env, o *planOptions, args []string) (*mixPlan, error) {
	if len(args) > 1 {
		return nil, &usageError{text: fmt.Sprintf("plan takes one scenario, found %d", len(args)), hint: "capcli plan plan.yaml --max wait_p95=30m"}
	}
	m := &mixPlan{e: e, o: o, jobs: map[int][]capcli.Job{}}
	sim := &o.mix.sim
	name := ""
	if len(args) == 1 {
		name = args[0]
	}
	sim.read, sim.prices = o.curve.history.read, cmp.Or(sim.prices, o.curve.prices)
	if o.mix.from != "" {
		var err error
		if name, err = sim.fromRuns(e, o.mix.from, name); err != nil {
			return nil, err
		}
	}
	runs := sim.runs
	sim.runs = max(1, runs)
	if err := sim.check(); err != nil {
		return nil, err
	}
	if name == "" && sim.trace == "" {
		e.note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
	}
	m.name = name
	var err error
	if m.base, err = sim.plan(ctx, e, name, "", "", newMaker(e)); err != nil {
		return nil, err
	}
	m.text, m.file, m.notes = m.base.Text, m.base.Scenario.File, m.base.Made
	if m.prices, err = ownPrices(e, sim.prices); err != nil {
		return nil, err
	}
	if un := m.base.Scenario.Unpriced(); len(un) > 0 {
		return nil, &capcli.InputError{
			File: m.file, Field: "price", Text: "expected a price for every pool, found none for " + strings.Join(un, ", "),
			Hint: "a plan weighs costs: give each pool a price, such as price: 2.20 USD/gpu-h",
		}
	}
	m.chance = leavesToChance(m.base)
	if o.futures.wanted() {
		if runs, err = m.lookAhead(ctx, runs); err != nil {
			return nil, err
		}
	}
	m.problem = &mix.Problem{
		PriceUnserved: o.mix.priceUnserved,
		Name:          m.base.Scenario.Name, Seed: m.base.Seed, Runs: m.runs(runs), Candidate: m.candidate, Jobs: m.jobsOf(ctx),
	}
	if err := m.space(); err != nil {
		return nil, err
	}
	return m, m.plan(ctx)
}

// runs is how often each mix is run: as asked, and once where nothing is left to
// chance.
func (m *mixPlan) runs(asked int) int {
	switch {
	case asked == 0 && m.chance:
		return 20
	case asked > 1 && !m.chance:
		m.e.note(fmt.Sprintf("nothing is left to chance, so every run is the same: one run of each mix in place of %d", asked))
		return 1
	}
	return max(1, asked)
}

// leavesToChance tells whether two runs of the scenario can differ.
func leavesToChance(p *play.Case) bool {
	if p.Source.Name == "generated" || p.Scenario.PlacementName() == "random" {
		return true
	}
	for i := range p.Scenario.Capacity {
		if c := &p.Scenario.Capacity[i]; c.Failures != nil || c.Hazard != nil {
			return true
		}
	}
	return false
}

func (m *mixPlan) options(run int) scenarios.Options {
	return scenarios.Options{Seed: m.base.Seed, Run: run, Open: m.base.Open}
}

// jobsKept is how many jobs are kept in memory for runs to come.
const jobsKept = 2_000_000

// jobsOf reads the jobs of a run once, in order and within the period.
func (m *mixPlan) jobsOf(ctx context.Context) func(run int) ([]capcli.Job, error) {
	return func(run int) ([]capcli.Job, error) {
		if m.base.Source.Name != "generated" && m.ahead == nil {
			run = 0
		}
		m.lock.Lock()
		defer m.lock.Unlock()
		if jobs, ok := m.jobs[run]; ok {
			return jobs, nil
		}
		jobs, err := m.drawJobs(ctx, run)
		if err != nil {
			return nil, err
		}
		if m.kept+len(jobs) > jobsKept {
			m.jobs, m.kept = map[int][]capcli.Job{}, 0
		}
		m.jobs[run] = jobs
		m.kept += len(jobs)
		return jobs, nil
	}
}

func (m *mixPlan) readJobs(ctx context.Context, run int) ([]capcli.Job, error) {
	jobs, outside, err := m.base.Jobs(ctx, run, m.e.note)
	if err == nil && run == 0 {
		m.outside = outside
	}
	return jobs, err
}

// candidate makes mix i: the scenario, changed as its number says.
func (m *mixPlan) candidate(i int) (*mix.Candidate, error) {
	sim, space := &m.o.mix.sim, &m.problem.Space
	values := space.Values(i)
	s, err := scenarios.ParseWith(m.prices, m.file, m.text, append(append([]string(nil), sim.sets...), sets(space.Axes, values)...)...)
	if err != nil {
		return nil, &mix.InvalidError{Err: err}
	}
	return m.candidateOf(s, i, values)
}

// candidateOf makes a candidate of a scenario.
func (m *mixPlan) candidateOf(s *scenarios.Scenario, i int, values []string) (*mix.Candidate, error) {
	s.Policy.Perfect = s.Policy.Perfect || m.o.mix.sim.perfect
	if m.ahead != nil {
		s.Period = scenarios.Period{Start: m.ahead.set.Futures.Start(), End: m.ahead.set.Futures.End()}
	}
	c := &mix.Candidate{Index: i, Values: values, Unpriced: len(s.Unpriced()) > 0}
	var err error
	if c.Key, err = s.ScheduleKey(); err != nil {
		return nil, err
	}
	if c.Rates, err = s.Rates(m.options(0)); err != nil {
		return nil, err
	}
	if len(s.Commitments) > 0 {
		c.Discounted = true
		c.Invoice = func(rec *simulate.Record, ended capcli.Seconds) (*billing.Invoice, error) {
			return s.Invoice(rec, ended, m.options(0))
		}
	}
	c.Config = func(run int) (simulate.Config, error) { return s.Config(nil, m.options(run)) }
	return c, nil
}
