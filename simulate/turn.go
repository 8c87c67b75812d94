package simulate

import (
	"iter"
	"slices"

	"capcli"
)

// Turn is a policy's opportunity to act on one queue at the end of an instant. The policy asks; the
// engine acts or refuses. It has what every policy needs. What few need is in Planning, Preemption and Ways.
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

// Room returns the largest free capacity of a pool of OpenPools, in thousandths of GPUs. No larger
// job can start.
func (t *Turn) Room() int64 {
	var most int64
	for _, p := range t.Planning().OpenPools() {
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

// RunningJobs returns the number of running jobs in all pools.
func (t *Turn) RunningJobs() int { return t.e.runningN }

// CPUJobs reports whether the run has jobs that want no GPU.
func (t *Turn) CPUJobs() bool { return t.e.cfg.CPUJobs }

// Tenants returns all tenants so far, each at its Index.
func (t *Turn) Tenants() []*Tenant { return t.e.tenants.list }

// Tenant returns the tenant called name, or nil if the run does not know it.
func (t *Turn) Tenant(name string) *Tenant { return t.e.tenants.byName[name] }

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

// WakeAt asks for a turn at a later time.
func (t *Turn) WakeAt(at capcli.Seconds) { t.e.wake(t.q, max(at, t.e.c.now+1)) }

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
