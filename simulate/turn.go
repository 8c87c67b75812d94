package simulate

import (
	"iter"
	"slices"

	"capcli"
)

// Turn is a policy's chance to act on one queue, once an instant has settled.
// The policy asks; the engine does, or says no.
type Turn struct {
	e         *engine
	q         *queue
	preempted []*Live
	found     *Live // the job of the last Find
}

// Now is the present instant.
func (t *Turn) Now() capcli.Seconds { return t.e.c.now }

// Cluster is the capacity, to read.
func (t *Turn) Cluster() *Cluster { return t.e.c }

// Waiting is the number of jobs in the queue.
func (t *Turn) Waiting() int { return t.q.list.Len() - len(t.q.started) }

// Freed tells whether capacity came free since this queue's last turn. If not,
// no job can start that could not start then, but for those of Fresh.
func (t *Turn) Freed() bool { return t.q.freed }

// Fresh are the jobs that joined the queue since its last turn and still wait,
// in the queue's order.
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

// inOrder compares two jobs as a queue does: by key, then by arrival. No two
// jobs have one place.
func inOrder(a, b *Live) int {
	switch {
	case a.Key != b.Key && a.Key < b.Key, a.Key == b.Key && a.seq < b.seq:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// Queue are the jobs that wait, in the policy's order. Jobs may be started
// while it is read. Those whose tenant is at its quota are passed over.
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

// Fitting are the jobs of the queue that could start by what they ask for, in
// order, for policies that pass over what does not fit: a job that is left
// waiting speaks for all that ask for the same, which are passed over too.
// Where nothing came free since the last turn only the fresh ones are looked at.
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

// OpenPools returns the pools in which a job of the queue may start now: those that
// are tried first, and all of AllPools once the patience of some job has ended.
func (t *Turn) OpenPools() []int {
	if t.q.ripeN == 0 {
		return t.q.firsts
	}
	return t.q.cell.pools
}

// Room returns the most that any one pool of Open has free, in thousandths of
// GPUs. No larger job can start.
func (t *Turn) Room() int64 {
	var most int64
	for _, p := range t.OpenPools() {
		most = max(most, t.e.c.state[p].account.usable)
	}
	return most
}

// AllPools returns the pools that jobs of this queue may ever use, and with them
// those that the queues beside it may use. They do not change in order, but grow.
func (t *Turn) AllPools() []int { return t.q.cell.pools }

// Shared reports whether another queue may use some of AllPools.
func (t *Turn) Shared() bool { return len(t.q.cell.queues) > 1 }

// Running are the jobs that run in AllPools, soonest believed end first.
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

// Pools are the pools where l may run without waiting for overflow, for
// policies that plan: the first that would be tried.
func (t *Turn) Pools(l *Live) []int {
	if len(l.class.ranks) == 0 {
		return nil
	}
	return l.class.ranks[0]
}

// RunningJobs returns the number of jobs that run, in all pools.
func (t *Turn) RunningJobs() int { return t.e.runningN }

// CPUJobs reports whether the run has jobs that want no GPU.
func (t *Turn) CPUJobs() bool { return t.e.cfg.CPUJobs }

// Tenants returns all tenants that came so far, each at its Index.
func (t *Turn) Tenants() []*Tenant { return t.e.tenantList }

// Tenant returns the tenant of that name, nil where the run states none and no
// job of it came.
func (t *Turn) Tenant(name string) *Tenant { return t.e.tenants[name] }

// Restarts returns what a job loses when it is preempted.
func (t *Turn) Restarts() *Restarts { return &t.e.cfg.Restarts }

// CountsGPUs reports whether the placement looks at numbers of GPUs alone: see
// Counting. Then a job fits where a pool has as many free as it wants.
func (t *Turn) CountsGPUs() bool { return t.e.counts }

// Start starts l, and reports whether it could: false when it does not fit, or
// when its tenant is at its quota.
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

// Find returns where l would go if it were started now; empty when it does not
// fit. The answer holds until the next question of its kind.
func (t *Turn) Find(l *Live) []Slice { return t.FindOutside(l, -1) }

// FindOutside is Find with one pool left out.
func (t *Turn) FindOutside(l *Live, pool int) []Slice {
	t.found = l
	return t.e.findBut(l, pool)
}

// StartFound starts l where the last Find or FindOutside, which was for l, found
// room.
func (t *Turn) StartFound(l *Live) {
	if t.found != l || l.state != waiting || len(t.e.c.found) == 0 {
		panic("simulate: a policy started a job where nothing was found for it")
	}
	t.found = nil
	t.e.start(l, t.e.c.found)
}

// Preemptible reports whether running job l belongs to this queue, holds GPUs of
// the pools that it tries first, and would free them if it were preempted: none
// is on a node that is about to go.
func (t *Turn) Preemptible(l *Live) bool {
	if l.queue != t.q || l.GPUs == 0 || !slices.Contains(l.class.ranks[0], int(l.slices[0].Pool)) {
		return false
	}
	for i := range l.slices {
		if t.e.c.nodes[l.slices[i].Node].draining {
			return false
		}
	}
	return true
}

// Preempt takes the GPUs of l away. The job joins its queue again when the turn
// is over; what becomes of its work is the run's rule, not the policy's. It
// panics when the policy is no Preemptor.
func (t *Turn) Preempt(l *Live) {
	if !t.q.preempts {
		panic("simulate: a policy preempted a job and is no Preemptor")
	}
	if l.state != running || slices.Contains(l.queue.started, l) {
		panic("simulate: a policy preempted a job that did not run before this turn")
	}
	t.e.evict(l, false)
	t.preempted = append(t.preempted, l)
}

// WakeAt asks for a turn at an instant to come.
func (t *Turn) WakeAt(at capcli.Seconds) {
	t.e.wake(t.q, max(at, t.e.c.now+1))
}

// wake plans a turn for q, unless one is planned for then already.
func (e *engine) wake(q *queue, at capcli.Seconds) {
	if q.wakeAt == at && at > e.c.now {
		return
	}
	q.wakeAt = at
	e.agenda.add(at, Wake, nil, 0, int32(slices.Index(e.queues, q)))
}

// sweep ends a turn: what started leaves the queue, what was preempted joins
// its own again.
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
}
