package simulate

import (
	"slices"

	"capcli"
)

// guard keeps jobs from starving: a job that has waited for a time, over all its waits, goes first.
// As long as it does not fit, its pools are closed to all other jobs, whatever the policy, so that
// no job that comes later can delay it. A job that a cap, a quota or a budget holds has to wait for
// that; a pool that could not hold the job if it were empty stays open.
//
// If the policy uses estimates, other jobs may start in a closed pool if they are estimated to end
// by the time at which the first promise to the job falls due, as in EASY backfilling (Lifka, JSSPP
// 1995). The promise is never moved, so a job starts at the latest when all jobs have ended that
// were there before it went first.
type guard struct {
	e     *engine
	after capcli.Seconds   // 0 is no guard
	first []*Live          // waiting jobs that go first, in order
	until []capcli.Seconds // by pool: -1 where it is open, else the time by which other jobs must end
	shut  int              // closed pools
	free  []int64          // scratch, by pool
	one   [1]int           // scratch
	jobs  notes[guarded]
}

// guarded is what the guard knows of a job.
type guarded struct {
	first    bool           // it waits, and the guard lets it go first; or it runs since it did
	promised capcli.Seconds // 0 before the promise
}

// letsFirst reports whether l goes first, or runs since it did.
func (g *guard) letsFirst(l *Live) bool { return g.jobs.get(l).first }

func newGuard(e *engine) guard {
	n := len(e.cfg.Pools)
	g := guard{e: e, after: e.cfg.Guard, until: make([]capcli.Seconds, n), free: make([]int64, n)}
	g.open()
	return g
}

func (g *guard) open() {
	g.shut = 0
	for p := range g.until {
		g.until[p] = -1
	}
}

// joined plans the time at which l, which has joined its queue, goes first.
func (g *guard) joined(l *Live) {
	*g.jobs.noteOf(l) = guarded{}
	g.e.agenda.wake(max(g.e.c.now, l.Since+g.after-l.Queued), goFirst, l)
}

// goFirst is the handler of the time from which a job that has waited for long goes first.
func goFirst(e *engine, p planned) {
	l := p.job
	k := e.guard.jobs.noteOf(l)
	if k.first {
		return
	}
	k.first = true
	e.guard.first = append(e.guard.first, l)
	l.queue.dirty, l.queue.freed = true, true
}

// protect starts the jobs that go first, and closes the pools that the others of them wait for.
func (g *guard) protect() {
	was := g.shut
	g.open()
	g.first = slices.DeleteFunc(g.first, func(l *Live) bool { return !g.letsFirst(l) || l.state != waiting })
	for _, l := range g.first {
		if g.shut == len(g.until) {
			break
		}
		if l.OverQuota() {
			continue
		}
		if s := g.e.find(l); len(s) > 0 {
			g.e.start(l, s)
		} else {
			g.closePools(l)
		}
	}
	g.e.turn.sweep()
	g.first = slices.DeleteFunc(g.first, func(l *Live) bool { return l.state != waiting })
	if g.shut >= was {
		return
	}
	for _, q := range g.e.queues { // pools are open again
		q.dirty, q.freed = true, true
	}
}

// closePools closes the pools that l may use now and that could hold it if their jobs had ended.
func (g *guard) closePools(l *Live) {
	k := g.jobs.noteOf(l)
	if k.promised == 0 {
		k.promised = g.promiseTo(l)
	}
	var empty *Cluster
	for r, pools := range l.class.ranks {
		if r > 0 && !g.e.opened(l) {
			return
		}
		for _, p := range pools {
			if g.until[p] >= 0 {
				continue
			}
			if empty == nil {
				empty = g.withoutJobs(l)
			}
			if g.one[0] = p; len(g.e.findIn(empty, l, g.one[:])) == 0 {
				continue
			}
			g.until[p] = k.promised
			g.shut++
		}
	}
}

// withoutJobs returns a copy of the cluster without the running jobs that could make room for l.
func (g *guard) withoutJobs(l *Live) *Cluster {
	w := &g.e.whatIf
	w.c = g.e.c.copyTo(w.c)
	for en := range g.e.running(l.queue.cell).All() {
		w.c.release(en.Value.job.slices)
	}
	return w.c
}

// promiseTo returns the first estimated end of a running job after which a pool has as many GPUs as
// l wants. If the policy uses no estimates it is now.
func (g *guard) promiseTo(l *Live) capcli.Seconds {
	if _, believes := l.queue.policy.(Believer); !believes {
		return g.e.c.now
	}
	clear(g.free)
	for en := range g.e.running(l.queue.cell).All() {
		r := en.Value.job
		p := r.Pool()
		g.free[p] += r.Milli()
		if g.free[p]+g.e.c.Usable(p) >= l.Milli() && slices.ContainsFunc(l.class.ranks, func(pools []int) bool { return slices.Contains(pools, p) }) {
			return max(g.e.c.now, r.believes)
		}
	}
	return g.e.c.now
}

// admits reports whether the guard lets l start in pool p now.
func (g *guard) admits(l *Live, p int) bool {
	until := g.until[p] // all are open where there is no guard
	return until < 0 || until > g.e.c.now && !g.letsFirst(l) && g.e.c.now+l.LeftBelieved(g.e.c.now)+l.overhead <= until
}

// openPools returns those of the pools that the guard lets l use, and that are not pool but.
func (g *guard) openPools(l *Live, pools []int, but int) []int {
	g.e.others = g.e.others[:0]
	for _, p := range pools {
		if p != but && g.admits(l, p) {
			g.e.others = append(g.e.others, p)
		}
	}
	return g.e.others
}
