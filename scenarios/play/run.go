package play

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/kubernetes"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/simulate/serving/service"
)

// Run is one finished run of a case: its outcome, and the records behind it.
type Run struct {
	outcome.Outcome
	Case     *Case
	Result   *simulate.Result
	Invoice  *billing.Invoice
	Recorded simulate.Stats // waits recorded in the log for the jobs played
	Curve    *Curve         // GPUs in use
	Owed     []outcome.Contract
	Cut      bool              // whether the log was cut short
	Levels   []*service.Level  // what the requests of each service saw
	Study    *kubernetes.Study // of jobs on which Kueue decided; else nil

	budget    []billing.BudgetLine // nil if the scenario has no budget or a pool no price
	energy    *billing.Footprints  // nil if the scenario has no energy section
	contracts []outcome.Contract   // nil unless Scenario.HasContracts
	tags      []outcome.TagBill    // nil if no job has tags
	services  []outcome.Service    // nil without services
	stages    *stageWatch          // nil if no job depends on another
	kinds     []string             // kinds of the pools, as the scenario states them
	intake    scenarios.Intake
}

// Request says how often to play cases and where to report progress.
type Request struct {
	Runs int // of each case; 0 is 1
	// Timeline also records the first run of each case over time: Outcome.Timeline.
	Timeline bool
	Lines    int // with Timeline, follow each job of a run that has at most so many
	// Note receives notes about the logs; it may be nil. Several runs may call it at once.
	Note func(text string)
	// Progress receives the number of runs done and the total; for a single run, the number of jobs
	// that have arrived, with total 0. It may be nil. Only one run calls it at a time.
	Progress func(done, total int64)
}

// Play plays the case the given number of times.
func (c *Case) Play(ctx context.Context, runs int) ([]*Run, error) {
	all, err := Play(ctx, []*Case{c}, Request{Runs: runs})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Play plays every case q.Runs times, on all cores, and returns the runs of each case. The runs and
// all their figures are the same on any number of cores. A log that is not in order of submission
// is sorted and played again. On an error it returns the finished runs, and nil for the others. It
// fails with *capcli.AccountingError if accounts do not balance, with *capcli.InputError if an
// input is invalid, and with the cause of ctx.
func Play(ctx context.Context, cases []*Case, q Request) ([][]*Run, error) {
	q.Runs = max(1, q.Runs)
	for stages, sorted := false, false; ; {
		out, err := playAll(ctx, cases, q)
		_, depend := errors.AsType[*simulate.StagesError](err)
		_, unordered := errors.AsType[*simulate.OrderError](err)
		switch {
		case depend && !stages:
			stages = true
			for _, c := range cases {
				c.Source.Stages = true
			}
		case unordered && !sorted:
			sorted = true
			if !cases[0].Quiet {
				q.note("the trace is not in order of submission; it is sorted in memory (capcli import writes it in order)")
			}
			for _, c := range cases {
				c.Source.Sorted = c.FromLog()
			}
		default:
			return out, err
		}
	}
}

// Finished returns, after Play failed, the runs of each case from the first on without a gap, so
// that the same call makes them again. kept are the cases with such runs; done is the number of
// runs.
func Finished(cases []*Case, all [][]*Run) (kept []*Case, runs [][]*Run, done int) {
	for i, c := range cases {
		n := 0
		for n < len(all[i]) && all[i][n] != nil {
			n++
		}
		if n > 0 {
			kept, runs = append(kept, c), append(runs, all[i][:n])
			done += n
		}
	}
	return kept, runs, done
}

func (q *Request) note(text string) {
	if q.Note != nil {
		q.Note(text)
	}
}

// playAll plays every case q.Runs times. The first run that fails cancels the others.
func playAll(ctx context.Context, cases []*Case, q Request) ([][]*Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make([][]*Run, len(cases))
	for i := range out {
		out[i] = make([]*Run, q.Runs)
	}
	p := &progress{told: q.Progress, total: int64(len(cases) * q.Runs)}
	numbers := make([]int, p.total)
	for k := range numbers {
		numbers[k] = k
	}
	// The pool itself is not cancelled: each run checks ctx, and Play returns after the last run.
	errs, err := capcli.MapParallel(context.WithoutCancel(ctx), numbers, nil, func(_ context.Context, k int) (error, error) {
		done := false
		defer func() {
			if !done {
				cancel()
			}
		}()
		run, err := q.play(ctx, cases[k/q.Runs], k%q.Runs, p)
		if done = err == nil; done {
			out[k/q.Runs][k%q.Runs] = run
		}
		p.ended(done)
		return err, nil
	})
	if err != nil {
		return nil, err
	}
	return out, firstError(errs)
}

// firstError returns the first error that is no cancellation caused by another; else a
// cancellation, if any.
func firstError(errs []error) error {
	var echo error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			echo = err
		default:
			return err
		}
	}
	return echo
}

// progress reports the progress of concurrent runs: whenever a run ends, and in between. A single
// run counts its jobs.
type progress struct {
	lock        sync.Mutex
	told        func(done, total int64)
	done, total int64
}

// ended counts a finished run. A run that failed only triggers a report.
func (p *progress) ended(done bool) {
	if p.total == 1 {
		return
	}
	p.tell(func() {
		if done {
			p.done++
		}
	})
}

// jobs reports that n jobs of a run have arrived.
func (p *progress) jobs(n int64) {
	if p.total == 1 {
		if p.told != nil {
			p.told(n, 0)
		}
		return
	}
	p.tell(func() {})
}

func (p *progress) tell(count func()) {
	p.lock.Lock()
	defer p.lock.Unlock()
	count()
	if p.told != nil {
		p.told(p.done, p.total)
	}
}

func (q *Request) play(ctx context.Context, c *Case, run int, p *progress) (*Run, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	so := scenarios.Options{Seed: c.Seed, Run: run, Open: c.Open}
	reading, err := c.reading(run)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.Close() }()
	out := &Run{Case: c, Curve: &Curve{width: curveWidth}}
	cfg, err := c.Scenario.Config(c.admit(capcli.WatchJobs(ctx, reading.Jobs, p.jobs), run, &out.intake), so)
	if err == nil && c.Source.Stages {
		out.stages, err = c.keepStages(&cfg, run, q.note)
	}
	if err != nil {
		return nil, err
	}
	cfg.Observers = append(cfg.Observers, out.Curve)
	cfg.Hourly = cfg.Hourly || c.energy != nil
	lines := q.watchTime(c, run, &cfg)
	if c.Prepare != nil {
		if err := c.Prepare(run, &cfg); err != nil {
			return nil, err
		}
	}
	if c.kueue != nil {
		out.Result, out.Study, err = c.decide(ctx, &cfg, out.Curve, lines, p.jobs)
	} else {
		out.Result, err = simulate.Run(ctx, cfg)
	}
	if err != nil {
		return nil, c.Fault(err)
	}
	if p.total == 1 {
		p.jobs(out.Result.Jobs.Read)
	}
	if err := out.bill(so); err != nil {
		return nil, err
	}
	if out.tags, err = out.tagBills(); err != nil {
		return nil, &capcli.AccountingError{Err: err}
	}
	if err := errors.Join(out.measure(), out.serviceFigures(ctx, cfg.Services, so)); err != nil {
		return nil, err
	}
	out.Recorded = out.intake.RecordedWaits()
	out.Outcome = out.figures(run, cfg.Delayer)
	out.drawTimeline(lines)
	if run == 0 && !c.Quiet {
		for _, text := range out.intake.ShapeNotes(c.Scenario) {
			q.note(text)
		}
	}
	if reading.Reader != nil && run == 0 && !c.Quiet {
		reading.describe(c.Source.Name, q.note)
		out.Cut = reading.Reader.Report().Cut
	}
	return out, nil
}

// bill makes the invoice of the run and checks that it balances.
func (r *Run) bill(so scenarios.Options) (err error) {
	if r.Invoice, err = r.Case.Scenario.Invoice(r.Result.Record, r.Result.Ended, so); err != nil {
		return err
	}
	if err := r.contract(so); err != nil {
		return err
	}
	if err := balance(r.Invoice); err != nil {
		return &capcli.AccountingError{Err: err}
	}
	return nil
}

// watchTime makes the first run of a case record itself over time, if asked.
func (q *Request) watchTime(c *Case, run int, cfg *simulate.Config) *jobLines {
	lines := newJobLines(q.Lines)
	if q.Timeline && run == 0 {
		cfg.Timeline, cfg.Zone = true, c.zone
		if !lines.over {
			cfg.Observers = append(cfg.Observers, lines)
		}
	}
	return lines
}

// drawTimeline sets the timeline of the outcome, if the run recorded itself over time.
func (r *Run) drawTimeline(lines *jobLines) {
	if t := r.Result.Timeline; t != nil {
		r.Timeline = outcome.TimelineOf(t, r.Result.Record, r.Invoice, r.Priced())
		r.Timeline.Jobs = lines.lines
	}
}

// measure computes the budget lines and the energy of a run, if the scenario has a budget or an
// energy section.
func (r *Run) measure() (err error) {
	s, until := r.Case.Scenario, r.end()
	if s.Budget != nil && r.Priced() {
		if r.budget, err = s.Budget.Follow(r.Invoice.Spending(r.Result.Record, until)); err != nil {
			return err
		}
	}
	if r.Case.energy == nil {
		return nil
	}
	if r.energy, err = r.Case.energy.OfRecord(r.Result.Record, until); err != nil {
		return &capcli.InputError{File: s.File, Field: "energy.intensity", Text: err.Error(), Hint: "give a series that has every hour of some year, or a number"}
	}
	return nil
}

// end returns the time at which the run ended.
func (r *Run) end() capcli.Time { return r.Result.Record.Start + capcli.Time(r.Result.Ended) }

// Priced reports whether every pool has a price. If not, no cost is known.
func (r *Run) Priced() bool { return len(r.Case.Scenario.Unpriced()) == 0 }

// CommittedGPUs returns the number of GPUs that the scenario commits to.
func (r *Run) CommittedGPUs() int64 {
	n := int64(0)
	for i := range r.Result.Record.Pools {
		if p := &r.Result.Record.Pools[i]; p.Terms.Committed() {
			n += int64(p.Capacity())
		}
	}
	for i := range r.Case.Scenario.Capacity {
		if c := &r.Case.Scenario.Capacity[i]; c.Floats {
			n += int64(c.GPUs + c.Nodes*c.GPUsPerNode)
		}
	}
	return n
}

// balance checks that the invoice's tables sum to its total, to the millionth of a dollar.
func balance(inv *billing.Invoice) error {
	tenants := inv.Unallocated
	for i := range inv.ByTenant {
		tenants += inv.ByTenant[i].Total
	}
	var months capcli.USD
	for i := range inv.ByMonth {
		months += inv.ByMonth[i].Line.Cost
	}
	var tiers capcli.USD
	for i := range inv.ByTier {
		tiers += inv.ByTier[i].Cost
	}
	if tenants != inv.Total.Cost || months != inv.Total.Cost || tiers != inv.Total.Cost {
		return fmt.Errorf("the invoice is %s, its tenants sum to %s, its months to %s, its tiers to %s",
			inv.Total.Cost.Decimal(), tenants.Decimal(), months.Decimal(), tiers.Decimal())
	}
	return nil
}
