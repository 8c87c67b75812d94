package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"capcli"
)

// Config describes one run: its capacity, its jobs and its rules.
type Config struct {
	Start capcli.Time    // time 0 of the run; NoTime is the first job's submission
	Until capcli.Seconds // end of the run; 0 is when the last job has ended
	Pools []Pool
	Jobs  capcli.Jobs
	List  []capcli.Job // jobs in memory, used if Jobs is nil; runs may share them and do not change them
	// Seeded is the number of first jobs that already run when the run begins. They are submitted at
	// Start, with the run time and limit that they have left, and get their GPUs before any policy
	// has a turn and whatever is withheld. One that does not fit waits as the others do.
	Seeded int
	// Stages are the dependencies between the jobs; nil is none. The run then plays the list that they
	// were made of, and Jobs and List are nil. A run of a List whose jobs depend on each other makes them itself.
	Stages     *Stages
	Policy     NewPolicy
	Settings   Settings
	Placement  Placement
	Overflow   Overflow
	Chooser    Chooser // picks the ways of jobs with a Shape; nil is as asked
	Restarts   Restarts
	Tenants    []Tenant // tenants with a weight, a quota, caps or a budget; others are added as their jobs arrive
	Preempts   PreemptRules
	Retries    Retries
	Defragment Defragment
	Delayer    Delayer        // puts starts off; nil puts none off
	Places     *Places        // what lies between the places of pools; nil is nothing
	Coster     Coster         // orders the pools of a rank by cost; nil keeps their order
	Guard      capcli.Seconds // a job that has waited so long goes first: see guard; 0 is no guard
	Priorities []PriorityClass
	EachTenant Caps // caps of every tenant that states none of its own
	// Charges returns the price of a GPU-hour in a pool for jobs that start there at an instant, which
	// budgets of money count; nil where no tenant has one.
	Charges     func(pool int, at capcli.Time) capcli.Rate
	CPUJobs     bool // also run jobs that want no GPU; else they are left out
	KillAtLimit bool // end a job when it has held its GPUs for its limit: see Restarts
	// Cuts are times that divide the months of the record. A price that changes at such a time is
	// then billed exactly: see Record.Cuts.
	Cuts      []capcli.Time
	Observers []Observer
	Services  []Service      // hold capacity beside the jobs
	Hourly    bool           // also record the use by clock hour
	Timeline  bool           // also record the run over time: see Result.Timeline
	Zone      *time.Location // of the hours of the week of Timeline; nil is UTC
}

// Tenant is a user, team or account that pays for jobs.
type Tenant struct {
	Name   string
	Weight float64      // its share relative to the weights of others; 0 is 1
	Quota  int          // most GPUs at once; 0 is without limit
	Caps   Caps         // further limits, which count the tenants below it too
	Budget *Budget      // GPU time or money in each period; nil is without limit
	Tags   *capcli.Tags // tags of its jobs, where they have none of that name

	index int
	used  int      // GPUs held, which count against the quota
	milli int64    // GPU capacity held, in thousandths
	host  [2]int64 // CPUs in thousandths and memory in MiB held

	allowances []*allowance    // what its jobs count against: see gate
	now        *capcli.Seconds // the time of the run, for allowances
}

// Index returns the tenant's index in Turn.Tenants and in the record.
func (t *Tenant) Index() int { return t.index }

// GPUs returns the number of GPUs that count against the tenant's quota now.
func (t *Tenant) GPUs() int { return t.used }

// Holdings returns what the tenant's jobs hold now: thousandths of GPUs and of CPUs,
// and MiB of memory.
func (t *Tenant) Holdings() (gpuMilli, cpuMilli, memMiB int64) { return t.milli, t.host[0], t.host[1] }

// horizon limits a run without a period to fifty years after the last arrival.
const horizon = capcli.Seconds(50 * 366 * 86400)

// engine is the kernel of a run: what every run has. What only some have is in parts.
type engine struct {
	cfg      Config
	c        *Cluster
	in       stream
	classes  classes
	tenants  tenants
	payers   payers
	agenda   agenda
	slab     slab
	queues   []*queue
	ledger   ledger
	meter    meter
	turn     Turn
	view     View
	hooks    hooks
	watchers watchers
	whatIf   WhatIf  // see Planning.WhatIf
	counts   bool    // whether the placement is Counting
	others   []int   // buffer of pools
	due      []*Live // see goOn
	failed   int64   // jobs given up after too many failures
	runningN int
	stopped  bool // ended at Until or at the horizon with jobs open
	endless  bool // ended at the horizon with jobs open
	parts
}

// stream is the jobs that are still to come.
type stream struct {
	e           *engine
	seq, number uint64      // of the last job
	next        *capcli.Job // the next job to arrive, already read; it is not kept
	nextAt      capcli.Seconds
	more        bool
	source      source
	countable   capcli.Seconds // longest run whose GPU time fits the accounts
}

// source is where the jobs of a run come from: a list or a stream, or Stages.
type source interface {
	pull() (*capcli.Job, error, bool) // reads the next job, which holds until the next call
	submit()                          // the job that was read last arrives now
	seed() *Live                      // the same, of a job that runs already; nil where it never can
	come() bool                       // lets jobs arrive that others have let in, and reports whether there was one
	retry(l *Live) bool               // puts l, whose work is done, back into its queue if this try of it failed
	earliest(l *Live) capcli.Seconds  // when l could have started at the earliest
	isOpen() bool                     // something is to come that no live job stands for
}

// plainSource is a source of jobs that do not depend on each other.
type plainSource struct {
	e    *engine
	next func() (*capcli.Job, error, bool)
}

func (s *plainSource) pull() (*capcli.Job, error, bool) {
	j, err, ok := s.next()
	if ok && err == nil && j.Stage != nil && needsStages(j) {
		err = &StagesError{ID: j.ID}
	}
	return j, err, ok
}

func (s *plainSource) submit()                         { s.e.arrive(s.e.in.next) }
func (s *plainSource) seed() *Live                     { return s.e.arrive(s.e.in.next) }
func (s *plainSource) come() bool                      { return false }
func (s *plainSource) retry(*Live) bool                { return false }
func (s *plainSource) earliest(l *Live) capcli.Seconds { return l.Submitted }
func (s *plainSource) isOpen() bool                    { return false }

// Run simulates the jobs on the pools. It reads the stream of jobs once and keeps only jobs that
// wait or run. The same Config gives the same Result on any number of cores.
//
// Run fails with the first error of the stream, with the error of ctx when that ends,
// with an *OrderError when the jobs are not in order of submission, with a
// *capcli.InputError when a job comes too late to be counted, and with an *AccountError
// when the accounts do not balance.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Jobs == nil && cfg.Stages == nil && anyNeedsStages(cfg.List) {
		var err error
		if cfg.Stages, err = NewStages(cfg.List); err != nil {
			return nil, err
		}
	}
	e, err := newEngine(cfg)
	if err != nil {
		return nil, err
	}
	switch {
	case cfg.Stages != nil:
		e.stages = newStageRun(e, cfg.Stages)
		e.in.source = e.stages
	case cfg.Jobs == nil:
		e.in.source = &plainSource{e, pullSlice(cfg.List)}
	default:
		pull, stop := iter.Pull2(cfg.Jobs)
		defer stop()
		e.in.source = &plainSource{e, pullStream(pull)}
	}
	if err := e.pullFirst(); err != nil {
		return nil, err
	}
	if err := e.loop(ctx); err != nil {
		return nil, err
	}
	return e.result()
}

// pullSlice returns a function that returns the jobs of a list one by one. It avoids a coroutine,
// which matters when a search runs the same jobs thousands of times.
func pullSlice(list []capcli.Job) func() (*capcli.Job, error, bool) {
	i := 0
	return func() (*capcli.Job, error, bool) {
		if i >= len(list) {
			return nil, nil, false
		}
		i++
		return &list[i-1], nil, true
	}
}

// pullStream returns pull with each job at one place in memory.
func pullStream(pull func() (capcli.Job, error, bool)) func() (*capcli.Job, error, bool) {
	var j capcli.Job
	return func() (*capcli.Job, error, bool) {
		var err error
		var ok bool
		j, err, ok = pull()
		return &j, err, ok
	}
}

func newEngine(cfg Config) (*engine, error) {
	if cfg.Policy == nil || cfg.Placement == nil || (cfg.Jobs == nil && cfg.List == nil && cfg.Stages == nil) {
		return nil, errors.New("simulate: a run needs jobs, a policy and a placement")
	}
	if len(cfg.Pools) == 0 {
		return nil, errors.New("simulate: a run needs at least one pool")
	}
	e := &engine{cfg: cfg, c: newCluster(cfg.Pools)}
	e.in.e, e.payers.e, e.savings.e, e.gpus.e, e.preempts.e, e.svc.e, e.defrag.e, e.win.e, e.delays.e, e.shapes.e = e, e, e, e, e, e, e, e, e, e
	e.tenants = tenants{e: e, byName: map[string]*Tenant{}}
	e.classes = classes{e: e, partitions: map[string]bool{}, byKey: map[classKey]*Reach{}, needs: newNeedSets(cfg.Pools)}
	e.ledger.rec.Pools = cfg.Pools
	var err error
	if e.buy, err = newBuying(e); err != nil {
		return nil, err
	}
	if e.topo, err = newTopo(e); err != nil {
		return nil, err
	}
	e.moving = newMoving(e)
	e.gate, e.guard, e.contention = newGate(e), newGuard(e), newContention(e)
	if e.classes.needs.divide {
		if err := e.classes.divide(); err != nil {
			return nil, err
		}
	}
	for i := range cfg.Tenants {
		t := cfg.Tenants[i]
		e.tenants.addTenant(&t)
	}
	milli := int64(1)
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		if p.Partition != "" {
			e.classes.partitions[p.Partition] = true
		}
		if p.PaidWhole() {
			milli += 1000 * int64(p.Capacity())
		}
	}
	e.in.countable = capcli.Seconds(math.MaxInt64 / milli)
	_, e.counts = cfg.Placement.(Counting)
	_, e.classes.draws = cfg.Placement.(Drawing)
	_, resizes := cfg.Policy(cfg.Settings).(Resizer)
	e.shapes.asks = cfg.Chooser == nil && !resizes
	e.shapes.looks, _ = cfg.Chooser.(Waiter)
	e.turn.e = e
	e.watch()
	return e, nil
}

// pullFirst reads the first job, sets the start of the run and brings up the capacity.
func (e *engine) pullFirst() error {
	start := e.cfg.Start
	j, err, ok := e.in.source.pull()
	if err != nil {
		return err
	}
	if !start.IsKnown() {
		start = 0
		if ok {
			start = j.Submit
		}
	}
	e.ledger.rec.Start = start
	e.gate.open(start)
	if e.cfg.Hourly {
		e.ledger.rec.Hourly = newHourly(start)
	}
	e.ledger.cut(e.cfg.Cuts)
	if e.cfg.Timeline {
		e.ledger.over = newOverTime(&e.ledger, e.cfg.Zone, e.cfg.Until)
		e.meter.over = e.ledger.over
	}
	if e.in.next, e.in.more = j, ok; ok {
		e.in.nextAt = capcli.Seconds(j.Submit - start)
		if e.in.nextAt < 0 {
			return fmt.Errorf("job %s is submitted at %s, before the period begins at %s", j.ID, j.Submit, start)
		}
		if err := e.in.reach(); err != nil {
			return err
		}
	}
	e.bringUp()
	e.openParts()
	if err := e.svc.openServices(); err != nil {
		return err
	}
	err = e.seed()
	if e.cfg.Delayer != nil {
		e.hooks.hold = append(e.hooks.hold, &e.delays)
	}
	e.win.guard = len(e.win.list) > 0
	return err
}

// seed starts the first Config.Seeded jobs.
func (e *engine) seed() error {
	e.shapes.seeding = true
	for n := e.cfg.Seeded; n > 0 && e.in.more && e.in.nextAt == 0; n-- {
		if l := e.in.source.seed(); l != nil {
			if s := e.find(l); len(s) > 0 {
				e.start(l, s)
			}
		}
		if err := e.in.advance(); err != nil {
			return err
		}
	}
	e.shapes.seeding = false
	e.turn.sweep()
	return nil
}

// loop processes one instant after another until the run ends.
func (e *engine) loop(ctx context.Context) error {
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at, ok := e.upcoming()
		if !ok || at > e.horizon() || (e.cfg.Until > 0 && at >= e.cfg.Until) {
			e.endRun(at)
			return nil
		}
		e.c.now = at
		for _, p := range e.hooks.step {
			p.step()
		}
		if err := e.instant(at); err != nil {
			return err
		}
		for _, p := range e.hooks.settle {
			p.settle()
		}
		e.meter.settle()
		for _, o := range e.watchers.settle {
			o.Settle()
		}
	}
}

// horizon returns the time at which a run without a period stops although jobs are still open.
func (e *engine) horizon() capcli.Seconds { return min(e.in.nextAt+horizon, e.in.countable) }

// endRun ends the run. Jobs that end exactly at the end of the period count as finished.
func (e *engine) endRun(at capcli.Seconds) {
	if e.cfg.Until > 0 && at == e.cfg.Until {
		e.c.now = at
		for p := e.agenda.next(); p != nil && p.at == at && p.kind() == Finish; p = e.agenda.next() {
			e.handle(e.agenda.pop())
		}
	}
	e.stopped = e.in.more || e.slab.live > 0
	e.endless = e.stopped && e.cfg.Until == 0 && at > e.horizon()
}

// reach refuses the next arrival if the GPU time until then exceeds what the accounts can hold.
func (in *stream) reach() error {
	if in.e.cfg.Until > 0 || in.nextAt <= in.countable {
		return nil
	}
	return &capcli.InputError{
		Field: "submit",
		Text: fmt.Sprintf("job %s was submitted at %s and the first at %s: the committed GPUs offer more GPU time in between than can be counted",
			in.next.ID, in.next.Submit, in.e.ledger.rec.Start),
		Hint: "is one of the times wrong? give the scenario a period to leave out what is not in it",
	}
}

// upcoming returns the time of the next event; false when the run is over. Without open jobs, node
// events matter only until the end of a period.
func (e *engine) upcoming() (capcli.Seconds, bool) {
	p := e.agenda.next()
	switch {
	case !e.in.more && e.cfg.Until == 0 && (e.slab.live == 0 || e.runningN == 0 && e.topo.isStuck()) && !e.svc.isOpen(e.c.now) && !e.in.source.isOpen():
		return 0, false
	case p == nil && !e.in.more:
		return 0, false
	case p == nil || (e.in.more && e.in.nextAt < p.at):
		return e.in.nextAt, true
	}
	return p.at, true
}

// instant handles all events of one instant in the order of their kinds: finishes,
// losses, gains, arrivals, wakes.
func (e *engine) instant(at capcli.Seconds) error {
	for p := e.agenda.next(); p != nil && p.at == at && p.kind() < Arrive; p = e.agenda.next() {
		e.handle(e.agenda.pop())
	}
	for e.in.more && e.in.nextAt == at {
		e.in.source.submit()
		if err := e.in.advance(); err != nil {
			return err
		}
	}
	e.in.source.come()
	for p := e.agenda.next(); p != nil && p.at == at && p.kind() == Wake; p = e.agenda.next() {
		e.handle(e.agenda.pop())
	}
	e.in.source.come()
	return nil
}

// advance reads the next job of the stream.
func (in *stream) advance() error {
	last := in.next.Submit
	j, err, ok := in.source.pull()
	if err != nil {
		return err
	}
	if in.more = ok; !ok {
		return nil
	}
	at := capcli.Seconds(j.Submit - in.e.ledger.rec.Start)
	if at < in.nextAt {
		return &OrderError{ID: j.ID, Submit: j.Submit, After: last}
	}
	in.next, in.nextAt = j, at
	return in.reach()
}

// OrderError is the error of a job that was submitted before its predecessor in the stream.
type OrderError struct {
	ID            string
	Submit, After capcli.Time
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("job %s was submitted at %s but comes after one of %s: jobs must be in order of submission", e.ID, e.Submit, e.After)
}

// handle carries out one planned event, unless it is for a wait or a stay of a job that has ended.
func (e *engine) handle(p planned) {
	if l := p.job; l == nil || l.run == uint32(p.arg) && l.state <= running {
		p.do(e, p)
	}
}

// end is the handler of the end of a stay.
func end(e *engine, p planned) {
	if p.isEnd() && !e.contention.isLater(p.job) {
		e.finish(p.job)
	}
}

// turns gives a turn to each queue that an event affected. It repeats this until no turn affects
// another queue, at most maxPasses times.
func (e *engine) turns() {
	if len(e.guard.first) > 0 {
		e.guard.protect()
	}
	for range maxPasses {
		again := false
		for _, q := range e.queues {
			if !q.dirty || e.betweenRounds(q) {
				continue
			}
			again = true
			if q.list.Len() > 0 || q.resizes {
				e.turn.q = q
				e.goOn(q)
				q.policy.Schedule(&e.turn)
				e.turn.sweep()
				e.overflow(q)
				e.gate.degrade(q)
				q.freed = false
			}
			q.sort()
			q.fresh = q.fresh[:0]
			q.dirty = false
		}
		if !again || len(e.queues) == 1 {
			return
		}
	}
}

// maxPasses limits how often queues with shared pools react to each other within one
// instant, for their preemptions could repeat without end.
const maxPasses = 4

// betweenRounds reports whether q's policy decides in rounds and now is not the time of one. It
// then plans a turn for the next round.
func (e *engine) betweenRounds(q *queue) bool {
	r := e.cfg.Settings.Round
	if r <= 0 {
		return false
	}
	past := (capcli.Seconds(e.ledger.rec.Start) + e.c.now) % r
	if past == 0 {
		return false
	}
	e.wake(q, e.c.now+r-past)
	return true
}
