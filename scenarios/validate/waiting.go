package validate

import (
	"cmp"
	"container/heap"
	"slices"

	"capcli"
)

// waiting goes through the recorded past instant by instant. It knows what is
// free and the smallest waiting job of each tenant.
type waiting struct {
	log     *Log
	moments []moment
	next    int
	tenants []tenantQueue
	tenant  []int  // of each job, into tenants
	gone    []bool // of all jobs: started

	now      capcli.Time
	free     int64
	capacity int64 // now
	started  bool  // a job started at now
}

// moment is one change: a job joins the queue, starts or ends.
type moment struct {
	at   capcli.Time
	job  int
	kind momentKind
}

type momentKind int8

const (
	jobQueued momentKind = iota
	jobStarted
	jobEnded
	capacityChanged // the field job is of Log.Steps
)

// tenantQueue holds the waiting jobs of a tenant, the smallest first. Jobs that
// have started leave it when they come first.
type tenantQueue struct {
	log  *Log
	jobs []int
	gone []bool // of all jobs: started
}

func (q *tenantQueue) Len() int { return len(q.jobs) }
func (q *tenantQueue) Less(a, b int) bool {
	return q.log.Jobs[q.jobs[a]].Units < q.log.Jobs[q.jobs[b]].Units
}
func (q *tenantQueue) Swap(a, b int) { q.jobs[a], q.jobs[b] = q.jobs[b], q.jobs[a] }
func (q *tenantQueue) Push(job any)  { q.jobs = append(q.jobs, job.(int)) }

func (q *tenantQueue) Pop() any {
	last := q.jobs[len(q.jobs)-1]
	q.jobs = q.jobs[:len(q.jobs)-1]
	return last
}

func newWaiting(l *Log) *waiting {
	w := &waiting{log: l, free: l.Capacity}
	known := map[string]int{}
	gone := make([]bool, len(l.Jobs))
	w.gone = gone
	for i := range l.Jobs {
		j := &l.Jobs[i]
		w.moments = append(w.moments, moment{j.Queued, i, jobQueued}, moment{j.Start, i, jobStarted}, moment{j.End, i, jobEnded})
		k, ok := known[j.Tenant]
		if !ok {
			k = len(known)
			known[j.Tenant] = k
			w.tenants = append(w.tenants, tenantQueue{log: l, gone: gone})
		}
		w.tenant = append(w.tenant, k)
	}
	for i, s := range l.Steps {
		w.moments = append(w.moments, moment{s.At, i, capacityChanged})
	}
	w.capacity = l.Capacity
	slices.SortStableFunc(w.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return w
}

// advance goes to the next instant at which something changes. It returns false
// when there is none.
func (w *waiting) advance() bool {
	if w.next == len(w.moments) {
		return false
	}
	w.now, w.started = w.moments[w.next].at, false
	for ; w.next < len(w.moments) && w.moments[w.next].at == w.now; w.next++ {
		m := w.moments[w.next]
		switch m.kind {
		case capacityChanged:
			w.free += w.log.Steps[m.job].Units - w.capacity
			w.capacity = w.log.Steps[m.job].Units
		case jobQueued:
			heap.Push(&w.tenants[w.tenant[m.job]], m.job)
		case jobStarted:
			w.gone[m.job] = true
			w.started = true
			w.free -= w.log.Jobs[m.job].Units
		case jobEnded:
			w.free += w.log.Jobs[m.job].Units
		}
	}
	return true
}

// fits tells whether a waiting job of at least so many tenants would fit.
func (w *waiting) fits(tenants int) bool {
	for i := range w.tenants {
		q := &w.tenants[i]
		for len(q.jobs) > 0 && q.gone[q.jobs[0]] {
			heap.Pop(q)
		}
		if len(q.jobs) > 0 && w.log.Jobs[q.jobs[0]].Units <= w.free {
			if tenants--; tenants == 0 {
				return true
			}
		}
	}
	return false
}
