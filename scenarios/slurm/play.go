package slurm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// result is what became of the jobs. Times are seconds since the first submission's zero.
type result struct {
	Jobs   []jobResult `json:"jobs"`
	Shot   *shot       `json:"shot,omitempty"`
	Passes []pass      `json:"passes"`
}

// jobResult is a job with its attempts; a later one follows a preemption.
type jobResult struct {
	ID       string    `json:"id"`
	Attempts []attempt `json:"attempts"`
}

// attempt is a run of a job, or its wait.
type attempt struct {
	State     string `json:"state"`
	Submit    int64  `json:"submit"`
	Eligible  int64  `json:"eligible"`
	Start     *int64 `json:"start"` // null has not started
	End       *int64 `json:"end"`
	Nodes     string `json:"nodes"`
	Flags     string `json:"flags"` // SchedMain or SchedBackfill
	Partition string `json:"partition"`
	Priority  int64  `json:"priority"`
}

// shot is the queue at an instant, as squeue --start tells it.
type shot struct {
	At      float64             `json:"at"`
	Pending map[string]expected `json:"pending"`
}

// expected is a planned start.
type expected struct {
	Start    *int64 `json:"expected_start"` // null has no plan
	Nodes    string `json:"nodes"`
	Priority int64  `json:"priority"`
}

// pass is a pass of backfill that did something other than the one before.
type pass struct {
	At      float64  `json:"at"`
	Planned [][4]any `json:"planned"` // job, start, end, nodes
	Started [][2]any `json:"started"` // job, nodes
}

// maxPasses is the most passes of a result, the first ones.
const maxPasses = 1000

// clock is when the threads of slurmctld run, in milliseconds since 1970.
type clock struct {
	backfill, interval int64 // first pass, and from pass to pass
	main               int64
	calcs, period      int64 // next computation of priorities
	rounds             int64 // the first round that ends jobs past their limit
}

// Times of slurmctld's threads in milliseconds.
const (
	mainPeriod      = 1004    // of the main scheduler
	roundTime       = 30_000  // between two looks for jobs past their limit (PERIODIC_TIMEOUT)
	submitDelay     = 105     // until a submission or a command arrives after its second
	endDelay        = 45      // until it hears of the end of a job
	resumeDelay     = 700     // until a node that was drained takes jobs again
	dependencyDelay = 500     // until those that depend on a job that ended may start
	maxIdle         = 900_000 // how long a queue is watched in which nothing starts
)

// newClock returns when the threads run: backfill from its start on, the rest a quarter of a second later.
func (c *cluster) newClock(zero int64) clock {
	start := c.site.Since*1000 - 900
	if c.site.Since == 0 {
		start = zero*1000 - 1000
	}
	if ready := c.site.Submissions.Ready; ready != nil {
		start = zero*1000 + int64(*ready*1000) - 365
	}
	main := start + 265
	second := main / 1000 * 1000
	main += (zero*1000 - main) / 1000 * 1000
	if c.site.Since > 0 {
		second = (c.site.Since - 1) * 1000
	}
	period := c.rules.period * 1000
	return clock{start, c.par.interval * 1000, main, max(start+265, second) + period, period, second + roundTime}
}

// next returns the first time of a series that is not before ms.
func next(first, period, ms int64) int64 { return first + max(0, ms-first+period-1)/period*period }

// player plays the submissions of a site.
type player struct {
	*cluster
	clock
	zero     int64
	sub      *submissions
	all      []*job
	byID     map[string][]*job // by their number, and by that of their array
	jobs     int               // submissions that have come
	events   int
	nextEnd  int64 // of a running job
	lastRun  int64 // of the main scheduler
	lastPass int64 // of backfill
	busy     int64 // when something last happened
	plan     []planned
	result   result
	taken    string // the last pass, written out
}

// playSite plays the submissions and events of a site. It fails with an error that names the job or the command.
func playSite(s *site) (*result, error) {
	if s.Submissions == nil {
		return nil, fmt.Errorf("expected a file submitted.json with the jobs to play, found none")
	}
	c := newController(s)
	p := &player{cluster: c, zero: s.Submissions.Zero, sub: s.Submissions, clock: c.newClock(s.Submissions.Zero), byID: map[string][]*job{}}
	for ms, ok := p.instant(p.clock.backfill); ok; ms, ok = p.instant(ms) {
		if err := p.advance(ms); err != nil {
			return nil, err
		}
	}
	for _, j := range p.all {
		if n := len(j.attempts); j.state != running && (n == 0 || j.state == pending && j.attempts[n-1].State == "PREEMPTED") {
			j.attempts = append(j.attempts, attempt{Submit: j.Submit, Eligible: j.eligible, State: cmp.Or(j.how, "PENDING"), Nodes: "None assigned"})
		}
		for i := range j.attempts {
			a := &j.attempts[i]
			a.Submit, a.Eligible = a.Submit-p.zero, max(0, a.Eligible-p.zero)
			for _, t := range []*int64{a.Start, a.End} {
				if t != nil {
					*t -= p.zero
				}
			}
		}
		p.result.Jobs = append(p.result.Jobs, jobResult{j.id, j.attempts})
	}
	return &p.result, nil
}

// never is after all instants.
const never = int64(1) << 62

// instant returns when something happens next, from ms on.
func (p *player) instant(ms int64) (at int64, ok bool) {
	at = never
	consider := func(t int64) { at = min(at, max(t, ms)) }
	if p.jobs < len(p.sub.Jobs) {
		consider(p.arrival(p.sub.Jobs[p.jobs].At))
	}
	if p.events < len(p.sub.Events) {
		consider(p.arrival(p.sub.Events[p.events].At))
	}
	p.nextEnd = never
	for _, j := range p.runs {
		p.nextEnd = min(p.nextEnd, p.end(j))
	}
	consider(p.nextEnd)
	for _, b := range p.books {
		for _, t := range []int64{b.start * 1000, b.end * 1000} {
			if t > ms {
				consider(t)
			}
		}
	}
	begins := false // whether some wait for a time alone
	for _, j := range p.waiting {
		if len(j.deps) > 0 && ms < p.moved+2*dependencyDelay {
			consider(next(p.zero*1000, dependencyDelay, ms+1))
		}
		begins = begins || !j.held && len(j.deps) == 0
	}
	for _, d := range p.nodes {
		if d.back > 0 {
			consider(d.back)
		}
	}
	if p.sub.Shot.At > 0 && p.result.Shot == nil {
		consider(p.zero*1000 + int64(p.sub.Shot.At*1000))
	}
	if at == never && len(p.queue) == 0 && !begins {
		return 0, false
	}
	if len(p.queue)+len(p.waiting)+len(p.runs) > 0 {
		consider(p.calcs)
	}
	p.considerThreads(ms, consider)
	return at, len(p.runs) > 0 || p.jobs < len(p.sub.Jobs) || p.events < len(p.sub.Events) || at <= p.busy+maxIdle
}

// considerThreads considers the next runs of the schedulers, and when jobs may begin that wait for a time.
func (p *player) considerThreads(ms int64, consider func(int64)) {
	if len(p.queue)+len(p.waiting) == 0 {
		return
	}
	if at := max(ms, p.lastPass+1); p.dirty {
		consider(next(p.clock.backfill, p.interval, at))
	} else if len(p.runs) > 0 {
		consider(next(p.clock.backfill, p.interval, max(at, p.runs[0].limitEnd()*1000)))
	}
	if p.dirtyMain {
		consider(next(p.main, mainPeriod, max(ms, p.lastRun+1)))
	}
	for _, j := range p.waiting {
		if !j.held && len(j.deps) == 0 && j.begin*1000 > ms {
			consider(j.begin * 1000)
		}
	}
}

// makePass makes a pass of backfill and keeps what it did.
func (p *player) makePass(ms int64) {
	p.dirty, p.lastPass = false, ms
	queue := slices.Clone(p.queue)
	p.plan = p.cluster.backfill(ms)
	out := pass{At: float64(ms-p.zero*1000) / 1000, Planned: [][4]any{}, Started: [][2]any{}}
	for _, j := range queue {
		if j.state == running {
			out.Started = append(out.Started, [2]any{j.id, j.attempts[len(j.attempts)-1].Nodes})
			p.busy = ms
		}
	}
	if len(p.result.Passes) == maxPasses {
		return
	}
	for _, q := range p.plan {
		out.Planned = append(out.Planned, [4]any{q.job.id, q.start - p.zero, q.end - p.zero, p.compress(q.nodes)})
	}
	b, _ := json.Marshal([]any{out.Planned, out.Started})
	if string(b) != p.taken {
		p.result.Passes, p.taken = append(p.result.Passes, out), string(b)
	}
}

// look takes the shot when it is due.
func (p *player) look(ms int64) {
	at := p.sub.Shot.At
	if at <= 0 || p.result.Shot != nil || ms < p.zero*1000+int64(at*1000) {
		return
	}
	p.result.Shot = &shot{At: at, Pending: map[string]expected{}}
	if p.par.builtin {
		p.plan = p.inTurn(ms / 1000)
	}
	for _, j := range p.all {
		if j.state != pending {
			continue
		}
		e := expected{Priority: j.priority[0]}
		switch {
		case j.held:
			e.Priority = 0
		case j.begin*1000 > ms:
			e.Start = new(j.begin - p.zero)
		}
		for _, q := range p.plan {
			if q.job == j {
				e.Start, e.Nodes = new(q.start-p.zero), p.compress(q.nodes)
			}
		}
		id := j.id
		if j.throttle != nil { // what waits of an array is one job
			id, _, _ = strings.Cut(id, "_")
		}
		if before, ok := p.result.Shot.Pending[id]; !ok || before.Start == nil || e.Start != nil {
			p.result.Shot.Pending[id] = e
		}
	}
}

// inTurn returns the starts that sched/builtin tells: no job before the end of the one before it.
func (c *cluster) inTurn(now int64) (plan []planned) {
	last := now
	for _, rec := range c.order() {
		avail := slices.Clone(rec.part.set)
		avail.keep(c.up)
		if start, on := c.earliest(rec, avail, now); on != nil {
			start = max(start, last)
			last = start + rec.Limit
			plan = append(plan, planned{rec.job, start, last, nil})
		}
	}
	return plan
}
