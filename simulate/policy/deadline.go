package policy

import (
	"container/heap"

	"capcli/simulate"

	"capcli"
)

func init() {
	OwnChoices.Add("late", "edf, llf: what becomes of jobs that can no longer meet their deadline: keep their place, go last, or are dropped", []string{"keep", "last", "drop"})
	OwnChoices.Add("preempt", "edf, llf: take GPUs away from jobs that are less urgent", []string{"false", "true"})
	OwnChoices.Add("strict", "edf, llf, critical: wait for the first job that does not fit, instead of passing over it", []string{"false", "true"})
	Catalog.Add("edf", "earliest deadline first; jobs that do not fit are passed over", func(s simulate.Settings) simulate.Policy {
		return newDeadline(s, false)
	})
	Catalog.Add("llf", "least laxity first: the job that can wait the shortest time and still meet its deadline", func(s simulate.Settings) simulate.Policy {
		return newDeadline(s, true)
	})
}

// deadline starts the jobs whose deadlines are nearest: earliest deadline first (Liu and Layland,
// "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment", JACM 1973), or, with
// laxity, least laxity first (Dertouzos, "Control Robotics: The Procedural Control of Physical
// Processes", IFIP 1974). The laxity of a job is
//
//	deadline - now - time left
//
// As now is the same for all jobs, the order is that of deadline - time left. Jobs without a
// deadline come after those with one; ties are in order of arrival.
//
// A job is late if now + time left > deadline. Late jobs keep their place, come after all others,
// or are dropped. The time left is an estimate, from the job's limit.
type deadline struct {
	laxity, strict bool
	late           lateness
	soon           capcli.Heap[lateAt] // jobs that are not late yet, by the time at which they are
}

type lateness uint8

const (
	keepLate lateness = iota
	lateLast
	dropLate
)

// Keys: jobs without a deadline come after all with one, and late jobs last after those.
const (
	noDeadline = int64(1) << 58
	lateAfter  = int64(1) << 60
)

func newDeadline(s simulate.Settings, laxity bool) simulate.Policy {
	p := deadline{laxity: laxity, strict: s.Choices["strict"] == "true"}
	switch s.Choices["late"] {
	case "last":
		p.late = lateLast
	case "drop":
		p.late = dropLate
	}
	if s.Choices["preempt"] == "true" {
		return &deadlinePreempt{deadline: p, contest: contest{byIndex: true}}
	}
	return &p
}

// Believes declares that it uses estimates of run times.
func (*deadline) Believes() {}

// Drops tells of jobs that can no longer meet their deadline.
func (p *deadline) Drops() string {
	if p.late == dropLate {
		return "the policy drops jobs that are late"
	}
	return ""
}

// Key orders the jobs by deadline or by laxity.
func (p *deadline) Key(l *simulate.Live) int64 { return p.order(l, l.Since) }

func (p *deadline) order(l *simulate.Live, now capcli.Seconds) int64 {
	due, has := l.DueTime()
	key := noDeadline
	if has {
		key = int64(due)
		if p.laxity {
			key -= int64(timeLeft(l, now))
		}
		if p.late == lateLast && now+timeLeft(l, now) > due {
			key += lateAfter
		}
	}
	return key
}

// timeLeft returns the time that l still needs, with its restart, by the estimate.
func timeLeft(l *simulate.Live, now capcli.Seconds) capcli.Seconds {
	return l.LeftBelieved(now) + l.Restarting(now)
}

func (p *deadline) Schedule(t *simulate.Turn) {
	p.enter(t)
	p.turnLate(t)
	startInOrder(t, !p.strict)
}

// enter notes when the new jobs of the queue will be late.
func (p *deadline) enter(t *simulate.Turn) {
	if p.late == keepLate {
		return
	}
	for l := range t.Fresh() {
		p.note(t, l)
	}
}

// note notes when l, which waits, will be late.
func (p *deadline) note(t *simulate.Turn, l *simulate.Live) {
	if due, has := l.DueTime(); has {
		heap.Push(&p.soon, lateAt{due - timeLeft(l, t.Now()), l.Stay(), l.Index(), l})
	}
}

// turnLate moves the jobs that have become late to the end of the queue, or drops them. It reports
// whether there was one.
func (p *deadline) turnLate(t *simulate.Turn) (any bool) {
	for len(p.soon) > 0 && p.soon[0].at < t.Now() {
		x := heap.Pop(&p.soon).(lateAt)
		if x.job.Stay() != x.stay || !x.job.Waiting() {
			continue
		}
		any = true
		if p.late == dropLate {
			t.Preemption().Drop(x.job)
		} else {
			t.Rekey(x.job, p.order(x.job, t.Now()))
		}
	}
	return any
}

// lateAt is a waiting job that is late after a time, unless it has started or ended since: stay
// then is another.
type lateAt struct {
	at    capcli.Seconds
	stay  uint32
	index int64
	job   *simulate.Live
}

// Precedes puts the first to be late first.
func (a lateAt) Precedes(b lateAt) bool { return a.at < b.at || a.at == b.at && a.index < b.index }

// deadlinePreempt is deadline with preemption: at each submission and each end, jobs in order get
// their GPUs if enough are left, whether they run or wait. Running jobs that get none are
// preempted. The order changes with time, so it also decides at the time at which a preempted job
// would have ended.
type deadlinePreempt struct {
	deadline
	contest
}

// Preempts declares that it takes GPUs away from running jobs.
func (*deadlinePreempt) Preempts() {}

func (p *deadlinePreempt) Schedule(t *simulate.Turn) {
	p.losers = p.losers[:0]
	p.enter(t)
	late := p.turnLate(t)
	if p.late == dropLate {
		late = p.dropRunning(t) || late
	}
	if p.laxity || late { // the order has changed
		p.enterAll(t, p.order)
	} else {
		p.rank(t, p.order)
	}
	for _, l := range p.losers {
		if p.late != keepLate {
			p.note(t, l)
		}
		if end := l.EndBelieved(); end > t.Now() {
			t.WakeAt(end)
		}
	}
}

// dropRunning drops the running jobs that are late. It reports whether there was one.
func (p *deadlinePreempt) dropRunning(t *simulate.Turn) bool {
	p.losers = p.losers[:0]
	for l := range t.Running() {
		if due, has := l.DueTime(); has && t.Preemption().Preemptible(l) && t.Now()+timeLeft(l, t.Now()) > due {
			p.losers = append(p.losers, l)
		}
	}
	for _, l := range p.losers {
		t.Preemption().Drop(l)
	}
	n := len(p.losers)
	p.losers = p.losers[:0]
	return n > 0
}
