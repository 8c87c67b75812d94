package simulate

import (
	"iter"
	"slices"

	"capcli"
)

// Turn is a policy's opportunity to act on one queue at the end of an instant. The policy asks; the
// engine acts or refuses.
type Turn struct {
	e         *engine
	q         *queue
	preempted []*Live
	dropped   []*Live
	found     *Live // the job of the last Find
	foundWay  int32 // and its way
}

// Now returns the current time of the run.
func (t *Turn) Now() capcli.Seconds { return t.e.c.now }

// Cluster returns the cluster, for reading.
func (t *Turn) Cluster() *Cluster { return t.e.c }

// Waiting returns the number of jobs in the queue.
func (t *Turn) Waiting() int { return t.q.list.Len() - len(t.q.started) }

// Freed reports whether capacity was freed since this queue's last turn. If not, of the jobs that
// could not start then, none can start now: only jobs of Fresh can.
func (t *Turn) Freed() bool { return t.q.freed }

// Fresh yields the waiting jobs that joined the queue since its last turn, in the queue's order.
func (t *Turn) Fresh() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		if len(t.q.fresh) > 1 {
			slices.SortFunc(t.q.fresh, inOrder)
		}
		for _, l := range t.q.fresh {
			if l.state == waiting && !yield(l) {
				return
			}
		}
	}
}

// inOrder compares two jobs by key, then by arrival. It is 0 only for the same job.
func inOrder(a, b *Live) int {
	switch {
	case a.Key != b.Key && a.Key < b.Key, a.Key == b.Key && a.seq < b.seq:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// Queue yields the waiting jobs in the policy's order, without those whose tenant is at
// its quota. The policy may start jobs during the loop.
func (t *Turn) Queue() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for _, chunk := range t.q.list.Chunks {
			for i := range chunk {
				l := chunk[i].Value.job
				if l.state != waiting || l.OverQuota() {
					continue
				}
				if !yield(l) {
					return
				}
			}
		}
	}
}

// Fitting yields, in order, the jobs that could start by their demands, for policies that pass over
// jobs that do not fit. After a job that is left waiting it skips all jobs with the same demands.
// If no capacity was freed since the last turn, it yields only fresh jobs.
func (t *Turn) Fitting() iter.Seq[*Live] {
	if !t.q.freed {
		return t.Fresh()
	}
	return func(yield func(*Live) bool) {
		t.q.sortAll()
		t.q.requests.walk(false, t.Room, func(l *Live) answer {
			switch {
			case !yield(l):
				return stop
			case l.state == waiting:
				return noRoom
			}
			return taken
		})
	}
}

// OpenPools returns the pools in which a job of the queue may start now: the pools of first ranks,
// or AllPools once the patience of some job has ended.
func (t *Turn) OpenPools() []int {
	if t.q.ripeN == 0 {
		return t.q.firsts
	}
	return t.q.cell.pools
}

// Room returns the largest free capacity of a pool of OpenPools, in thousandths of GPUs. No larger
// job can start.
func (t *Turn) Room() int64 {
	var most int64
	for _, p := range t.OpenPools() {
		room := t.e.c.state[p].account.usable
		if t.e.win.guard {
			room += t.e.win.keptIn(p)
		}
		most = max(most, room)
	}
	return most
}

// AllPools returns the pools that jobs of this queue, and of queues that share pools
// with it, may ever use. The list may grow but keeps its order.
func (t *Turn) AllPools() []int { return t.q.cell.pools }

// Shared reports whether another queue may use one of AllPools.
func (t *Turn) Shared() bool { return len(t.q.cell.queues) > 1 }

// Running yields the running jobs in AllPools, earliest estimated end first.
func (t *Turn) Running() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for _, chunk := range t.e.running(t.q.cell).Chunks {
			for i := range chunk {
				if !yield(chunk[i].Value.job) {
					return
				}
			}
		}
	}
}

// Pools returns the pools that l may use without overflow, for policies that plan ahead. For a job with
// ways it returns those in which l can run as it asks, if there are any; the list is valid until the next
// call.
func (t *Turn) Pools(l *Live) []int {
	if len(l.class.ranks) == 0 {
		return nil
	}
	if l.HasWays() {
		return t.e.shapes.poolsAsAsked(l)
	}
	return l.class.ranks[0]
}

// FitsWindows reports whether l, if it started now in pool p, would leave the coming Windows what
// they take. Start refuses it otherwise.
func (t *Turn) FitsWindows(l *Live, p int) bool {
	if e := t.e; e.win.guard && e.win.counted[p] {
		return e.win.fitsWindows(l, e.win.byPool[p], e.c.now+e.stayBelieved(l, p))
	}
	return true
}

// Closure is a time in which a part of a pool is there for nobody. End 0 is never.
type Closure struct {
	Start, End capcli.Seconds
	Milli      int64 // thousandths of GPUs
}

// Closures yields the closures of pool p that are known and have not ended; of nodes, those that have
// not begun.
func (t *Turn) Closures(p int) iter.Seq[Closure] {
	return func(yield func(Closure) bool) {
		if !t.e.win.guard {
			return
		}
		for _, w := range t.e.win.byPool[p] {
			known := w.knownAt(t.Now()) || w.open && w.Nodes == 0
			if known && len(w.For) == 0 && !yield(Closure{w.Start, w.End, t.e.win.takes(w)}) {
				return
			}
		}
	}
}

// AfterWindows returns the earliest time, not before at, from which no known Window of pool p keeps l
// from running as long as it is believed to, if all the rest of the pool is free then.
func (t *Turn) AfterWindows(l *Live, p int, at capcli.Seconds) capcli.Seconds {
	if !t.e.win.guard {
		return at
	}
	return t.e.win.afterWindows(l, p, at)
}

// RunningJobs returns the number of running jobs in all pools.
func (t *Turn) RunningJobs() int { return t.e.runningN }

// CPUJobs reports whether the run has jobs that want no GPU.
func (t *Turn) CPUJobs() bool { return t.e.cfg.CPUJobs }

// Tenants returns all tenants so far, each at its Index.
func (t *Turn) Tenants() []*Tenant { return t.e.tenants.list }

// Tenant returns the tenant called name, or nil if the run does not know it.
func (t *Turn) Tenant(name string) *Tenant { return t.e.tenants.byName[name] }

// Restarts returns what a job loses when it is preempted.
func (t *Turn) Restarts() *Restarts { return &t.e.cfg.Restarts }

// CountsGPUs reports whether the placement is Counting. A job then fits if a pool has enough free
// GPUs.
func (t *Turn) CountsGPUs() bool { return t.e.counts }

// Start starts l. It reports false when l does not fit or its tenant is at its quota.
func (t *Turn) Start(l *Live) bool {
	if l.state != waiting {
		panic("simulate: a policy started a job that does not wait")
	}
	s := t.e.find(l)
	if len(s) == 0 {
		return false
	}
	t.e.start(l, s)
	return true
}

// Find returns where l would go if it started now; nil if it does not fit. The slices are valid
// until the next call of Find or FindOutside.
func (t *Turn) Find(l *Live) []Slice { return t.FindOutside(l, -1) }

// FindOutside is Find without one pool.
func (t *Turn) FindOutside(l *Live, pool int) []Slice {
	t.found = l
	return t.e.keep(t, l, t.e.findBut(l, pool))
}

// StartFound starts l in the slices of the last Find or FindOutside, which must have been for l and
// must have found some.
func (t *Turn) StartFound(l *Live) {
	if t.found != l || l.state != waiting || len(t.e.c.found) == 0 {
		panic("simulate: a policy started a job where nothing was found for it")
	}
	t.found = nil
	if l.mould != nil {
		l.mould.found = t.foundWay
	}
	t.e.start(l, t.e.c.found)
}

// Preemptible reports whether preempting the running job l would free GPUs for this queue: the job
// belongs to the queue, runs in a pool of its first rank, did not go first by the
// guard against starvation, is in no pool that it has closed, and has no part on a draining node. The
// run's PreemptRules must allow it.
func (t *Turn) Preemptible(l *Live) bool {
	if l.queue != t.q || l.GPUs == 0 || t.e.guard.letsFirst(l) || t.e.guard.shut > 0 && t.e.guard.until[l.slices[0].Pool] >= 0 || !t.e.preempts.mayPreempt(l) ||
		!slices.Contains(l.class.ranks[0], int(l.slices[0].Pool)) {
		return false
	}
	for i := range l.slices {
		if t.e.c.nodes[l.slices[i].Node].draining {
			return false
		}
	}
	return true
}

// Preempt takes l's GPUs away, after the grace of the run's PreemptRules, if they allow it. The job
// rejoins its queue at the end of the turn or of its grace. The run's Restarts decide how much of its
// work is kept. Preempt panics if the policy is no Preemptor.
func (t *Turn) Preempt(l *Live) {
	if !t.q.preempts {
		panic("simulate: a policy preempted a job and is no Preemptor")
	}
	if l.state != running || slices.Contains(l.queue.started, l) {
		panic("simulate: a policy preempted a job that did not run before this turn")
	}
	if t.e.preempts.preempt(l) {
		t.preempted = append(t.preempted, l)
	}
}

// LostIfStopped returns the time of the current stay that l would have to repeat if it were preempted
// now: since its last checkpoint, whatever the mode of the run's Restarts.
func (t *Turn) LostIfStopped(l *Live) capcli.Seconds {
	_, loose := l.rc.progress(l.ran(t.Now()))
	if l.rc.Interval == 0 {
		loose += l.saved
	}
	return loose
}

// WakeAt asks for a turn at a later time.
func (t *Turn) WakeAt(at capcli.Seconds) {
	t.e.wake(t.q, max(at, t.e.c.now+1))
}

// turnComes is the handler of a turn that a policy asked for.
func turnComes(e *engine, p planned) { e.queues[p.arg].dirty = true }

// wake plans a turn for q, unless one is planned for that time.
func (e *engine) wake(q *queue, at capcli.Seconds) {
	if q.wakeAt == at && at > e.c.now {
		return
	}
	q.wakeAt = at
	e.agenda.add(at, Wake, turnComes, nil, slices.Index(e.queues, q))
}

// sweep ends a turn: started jobs leave their queues, and preempted jobs rejoin theirs.
func (t *Turn) sweep() {
	for _, q := range t.e.queues {
		for _, l := range q.started {
			q.list.Remove(l.Key, l.seq)
			if l.bucket != nil {
				q.requests.remove(l)
			}
		}
		q.started = q.started[:0]
	}
	for _, l := range t.preempted {
		t.e.enqueue(l)
		t.e.planPatience(l)
	}
	t.preempted = t.preempted[:0]
	for _, l := range t.dropped {
		t.e.slab.put(l)
	}
	t.dropped = t.dropped[:0]
}
