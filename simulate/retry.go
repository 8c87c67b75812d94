package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// Retries say how often a job tries again after a failure took its GPUs, as the back-off limit of a
// Kubernetes Job does. After the k-th failure it waits Backoff x 2^(k-1), at most MaxBackoff, before
// it may start. After more than Most failures it fails for good: it is counted in Counts.Dropped and
// in Interruptions.
type Retries struct {
	Most       int            // 0 is any number
	Backoff    capcli.Seconds // 0 is none
	MaxBackoff capcli.Seconds // 0 is without bound
}

// tryAgain puts l, whose GPUs were lost, back into its queue, or gives it up.
func (e *engine) tryAgain(l *Live) {
	r := &e.cfg.Retries
	n := e.gpus.failures.noteOf(l)
	*n++
	if r.Most > 0 && *n > r.Most {
		e.giveUp(l)
		return
	}
	if r.Backoff > 0 {
		wait := r.Backoff << min(*n-1, 30)
		if r.MaxBackoff > 0 {
			wait = min(wait, r.MaxBackoff)
		}
		l.resting = true
		e.agenda.wake(e.c.now+wait, rested, l)
	}
	e.enqueue(l)
	e.planPatience(l)
}

// rested is the handler of the end of a back-off.
func rested(e *engine, p planned) {
	p.job.resting = false
	p.job.queue.letIn(p.job)
}

// giveUp ends l, which has lost its GPUs and is in no queue: it has failed too often. All that it did
// is lost.
func (e *engine) giveUp(l *Live) {
	l.unwait()
	l.Lost += l.saved
	e.failed++
	e.abandon(l)
	e.slab.put(l)
}

// gpuFailures are the GPUs that have failed by themselves.
type gpuFailures struct {
	e        *engine
	failures notes[int]      // losses of the GPUs of a job: see Retries
	broken   map[[2]int]bool // by node and GPU
	skipped  int64           // failures left out: see breakGPU
}

// breakGPU takes one GPU of node n away, or gives it back. It is the k-th of those that work, counted
// over the jobs on the node in order of arrival, then over replicas of services, and then the free ones;
// if a job or a replica holds it, that loses all its GPUs. GPUs that jobs share do not fail by themselves: from the first job on that wants
// a share of a GPU, such failures are left out and counted.
func (f *gpuFailures) breakGPU(n, gpu int, gone bool) {
	nd, key := &f.e.c.nodes[n], [2]int{n, gpu}
	if !gone {
		if f.broken[key] {
			delete(f.broken, key)
			f.mend(n)
		}
		return
	}
	working := f.e.c.pools[nd.pool].GPUsPerNode - int(nd.broken)
	if f.e.c.shares != nil || working <= 0 {
		f.skipped++
		return
	}
	f.e.touchPool(int(nd.pool))
	if l := f.holderOf(n, gpu%working); l != nil {
		nd.broke = true
		f.e.evict(l, true)
		nd.broke = false
		f.e.tryAgain(l)
	} else {
		f.e.svc.breakReplica(n, gpu%working)
	}
	if f.broken == nil {
		f.broken = map[[2]int]bool{}
	}
	f.broken[key] = true
	nd.broken++
	f.e.c.addFree(n, -1)
}

// holderOf returns the job that holds the k-th working GPU of node n; nil if it is free.
func (f *gpuFailures) holderOf(n, k int) *Live {
	var held []*Live
	for l := range f.e.runningIn(int(f.e.c.nodes[n].pool)) {
		if slices.ContainsFunc(l.slices, func(s Slice) bool { return int(s.Node) == n }) {
			held = append(held, l)
		}
	}
	slices.SortFunc(held, func(a, b *Live) int { return cmp.Compare(a.seq, b.seq) })
	for _, l := range held {
		for i := range l.slices {
			if s := &l.slices[i]; int(s.Node) == n {
				if k -= int(s.GPUs); k < 0 {
					return l
				}
			}
		}
	}
	return nil
}

// mend gives a GPU of node n back.
func (f *gpuFailures) mend(n int) {
	nd := &f.e.c.nodes[n]
	f.e.touchPool(int(nd.pool))
	nd.broken--
	f.e.c.addFree(n, 1)
	for _, q := range f.e.c.state[nd.pool].queues {
		q.dirty, q.freed = true, true
	}
}

// mendAll gives all GPUs back that have failed by themselves, before the first job shares a GPU.
func (f *gpuFailures) mendAll() {
	for n := range f.e.c.nodes {
		for f.e.c.nodes[n].broken > 0 {
			f.mend(n)
		}
	}
	clear(f.broken)
}

// addFree changes the number of free GPUs of node n.
func (c *Cluster) addFree(n int, gpus int32) {
	nd := &c.nodes[n]
	if nd.up && !nd.draining {
		c.state[nd.pool].account.usable += 1000 * int64(gpus)
	}
	c.setFree(n, nd.free+gpus)
}
