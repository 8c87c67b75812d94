package policy

import (
	"fmt"

	"capcli/simulate"

	"capcli"
)

// allowance bounds the work for promises. Work is counted in steps of plans that searches read; a
// step takes some nanoseconds.
type allowance struct {
	first      int // number of jobs that have promises while not all have one
	short      int // a queue of so many jobs is short: all have promises again
	work, each int // work allowed from the beginning, and for each job that comes
}

// A queue of a few hundred jobs, or a burst of two thousand, stays within it.
var usualAllowance = allowance{first: 16, short: 32, work: 140_000_000, each: 2_000}

// Remark says when not all waiting jobs had promises.
func (p *conservative) Remark() string {
	if !p.remarked {
		return ""
	}
	return fmt.Sprintf("the queue grew so long that from %s on not every waiting job was promised a start: while it is long, only its first %d are, and a later job starts where it delays none of them",
		p.since, p.allowed.first)
}

// ledge is a capacity that is free for a length of time from now on.
type ledge struct {
	free   int64
	length capcli.Seconds
}

// overworked counts the work of the turn. If more was done than is allowed, it reports true: only
// the first jobs will have promises.
func (p *conservative) overworked(t *simulate.Turn) bool {
	for _, q := range p.pools {
		p.allowed.work -= p.plans[q].work
		p.plans[q].work = 0
	}
	if p.allowed.work > 0 || t.Waiting() <= p.allowed.short {
		return false
	}
	if !p.remarked {
		p.since, p.remarked = t.Now(), true
	}
	p.again = true
	return true
}

// span is a promise: a capacity in a pool over [from, to).
type span struct {
	pool     int
	from, to capcli.Seconds
	milli    int64
}

// startFirst is the turn when only the first jobs have promises. It makes them anew, in order of
// arrival, from the running jobs alone. Then it starts each later job that delays none of them.
// With one promise this is EASY; Slurm's backfill plans so for its first bf_max_job_test jobs.
func (p *conservative) startFirst(t *simulate.Turn) {
	for _, q := range p.pools {
		// A job that overflow or another queue started is not in the plan.
		p.again = p.again || p.plans[q].freeAt(t.Now()) != t.Cluster().Usable(q)
	}
	if p.again {
		p.forgetAll(t)
	}
	p.made = p.made[:0]
	tried := 0
	for l := range t.Queue() {
		if tried == p.allowed.first || !p.hasRoom(t) {
			break
		}
		tried++
		if est := l.LeftBelieved(t.Now()); !p.startHarmless(t, l, est) {
			p.keep(t, l, est)
		}
	}
	if tried == p.allowed.first {
		p.startOthers(t)
	}
	for _, m := range p.made {
		p.plans[m.pool].add(m.from, m.to, m.milli)
	}
}

// hasRoom reports whether some job might start now.
func (p *conservative) hasRoom(t *simulate.Turn) bool { return t.Room() > 0 || t.CPUJobs() }

// keep promises l the earliest start that the plans leave.
func (p *conservative) keep(t *simulate.Turn, l *simulate.Live, est capcli.Seconds) {
	var b booking
	b.est, b.milli = est, l.Milli()
	if l.HasWays() {
		p.chooseWay(t, l, &b)
	} else {
		b.at, b.pool = p.earliest(t, l, est)
	}
	if b.pool >= 0 {
		m := span{b.pool, b.at, b.at + b.est, b.milli}
		p.plans[b.pool].add(m.from, m.to, -m.milli)
		p.made = append(p.made, m)
	}
}

// startHarmless starts l if it fits and delays no promise.
func (p *conservative) startHarmless(t *simulate.Turn, l *simulate.Live, est capcli.Seconds) bool {
	now, milli := t.Now(), l.Milli()
	if l.HasWays() {
		s := t.Ways().FindIf(l, func(s []simulate.Slice) bool {
			milli, est := t.Ways().FoundAs(l)
			return p.plans[s[0].Pool].isFree(now, est, milli)
		})
		if len(s) == 0 {
			return false
		}
		t.Planning().StartFound(l)
		p.occupy(l, now)
		return true
	}
	s := t.Planning().Find(l)
	if len(s) > 0 && !p.plans[s[0].Pool].isFree(now, est, milli) {
		s = t.Planning().FindOutside(l, int(s[0].Pool))
	}
	if len(s) == 0 || !p.plans[s[0].Pool].isFree(now, est, milli) {
		return false
	}
	t.Planning().StartFound(l)
	p.occupy(l, now)
	return true
}

// startOthers starts jobs without promises, in order of arrival, where they delay none. If no
// capacity was freed since the last turn, only fresh jobs can start.
func (p *conservative) startOthers(t *simulate.Turn) {
	p.seeLedges(t)
	if !t.Freed() {
		for l := range t.Fresh() {
			if est := l.LeftBelieved(t.Now()); (l.HasWays() || p.mayStart(l.Milli(), est)) && !l.OverQuota() && p.startHarmless(t, l, est) {
				p.seeLedges(t)
			}
		}
		return
	}
	for w := t.Scan(); w.HasMore(); w.Next() {
		if !p.mayStart(w.Milli(), w.TimeLeft()) {
			continue
		}
		if l := w.Job(); l.Waiting() && !l.OverQuota() && p.startHarmless(t, l, w.TimeLeft()) {
			if p.seeLedges(t); !p.hasRoom(t) {
				return
			}
		}
	}
}

// seeLedges finds what the plans have free from now on.
func (p *conservative) seeLedges(t *simulate.Turn) {
	p.ledges = p.ledges[:0]
	for _, q := range p.pools {
		p.ledges = p.plans[q].ledges(p.ledges, t.Now())
	}
}

// mayStart reports whether a pool has milli free for est from now on.
func (p *conservative) mayStart(milli int64, est capcli.Seconds) bool {
	for i := range p.ledges {
		if p.ledges[i].free >= milli && p.ledges[i].length >= est {
			return true
		}
	}
	return false
}
