package simulate

import (
	"slices"

	"capcli"

	"capcli/simulate/internal/sorted"
)

// request is the demand and the pools that jobs have in common. Jobs with the same request fit, or
// do not fit, at the same time.
type request struct {
	class      *Reach
	gpus, part int
	cpu, mem   int64
	gpuMem     int32          // memory of the GPU that it shares, in MiB
	tenant     *Tenant        // nil for a tenant without a quota, a cap and a budget
	ripe       bool           // patience has ended: may use pools beyond the first rank
	heldBack   bool           // see Live.heldBack
	rule       *PriorityClass // if caps or a budget hold for it
	resting    bool           // see Live.resting
	alone      uint64         // tells jobs apart whose Chooser looks at each: see UniformChooser
	stay       capcli.Seconds // believed time left, where windows, caps or a budget make it matter: see Window
}

// requests holds the waiting jobs by request, each bucket in the queue's order. A walk asks only
// once for a request without room, where a scan of the queue would ask for each job.
type requests struct {
	timed   bool // whether the believed time left tells requests apart
	alone   bool // whether each job with ways is a request of its own
	at      map[request]*bucket
	buckets []*bucket
	spare   []*bucket
	heads   []*bucket // of the walk in progress, as a heap by next
}

// bucket holds the waiting jobs of one request.
type bucket struct {
	key          request
	milli        int64
	list         sorted.List[figures]
	place        int // index in requests.buckets
	chunk, index int // position of the next job of the walk in progress
}

// requestOf returns the request of l. CPUs and memory count only if one of its pools limits them.
func requestOf(l *Live) request {
	r := request{class: l.class, gpus: l.GPUs, part: l.GPUMilli, ripe: l.ripe, resting: l.resting}
	if l.GPUMilli > 0 {
		r.gpuMem = int32(l.GPUMemMiB)
	}
	if l.class.hosted {
		r.cpu, r.mem = l.CPUMilli, l.MemMiB
	}
	if l.IsLimited() {
		r.tenant, r.heldBack = l.tenant, l.heldBack
		if len(l.allowances) > 0 {
			r.rule = l.priority
			r.stay = l.Believed - l.saved
		}
	}
	return r
}

// add adds the waiting job l.
func (r *requests) add(l *Live) {
	key := requestOf(l)
	if r.timed {
		key.stay, key.tenant = l.overhead+l.LeftBelieved(0), l.tenant
	}
	if r.alone && l.HasWays() {
		key.alone = l.seq
	}
	b := r.at[key]
	if b == nil {
		b = &bucket{}
		if n := len(r.spare); n > 0 {
			b, r.spare = r.spare[n-1], r.spare[:n-1]
		}
		if r.at == nil {
			r.at = map[request]*bucket{}
		}
		b.key, b.milli, b.place = key, l.LeastMilli(), len(r.buckets)
		r.at[key] = b
		r.buckets = append(r.buckets, b)
	}
	b.list.Insert(entry{Key: l.Key, Seq: l.seq, Value: figures{job: l}})
	l.bucket = b
}

// remove removes l, which must have been added.
func (r *requests) remove(l *Live) {
	b := l.bucket
	l.bucket = nil
	b.list.Remove(l.Key, l.seq)
	if b.list.Len() > 0 {
		return
	}
	last := len(r.buckets) - 1
	r.buckets[b.place] = r.buckets[last]
	r.buckets[b.place].place = b.place
	r.buckets[last] = nil
	r.buckets = r.buckets[:last]
	delete(r.at, b.key)
	r.spare = append(r.spare, b)
}

// answer is the result of offering a job in a walk.
type answer uint8

const (
	taken  answer = iota // started: go on
	noRoom               // no job of the same request has room either
	stop                 // end the walk
)

// walk offers jobs in the queue's order: those whose patience has ended, or all. After
// a job without room it skips the rest of its request. room returns the largest
// capacity that a job can get, in thousandths of GPUs; larger requests are skipped.
func (r *requests) walk(ripeOnly bool, room func() int64, offer func(*Live) answer) {
	most := room()
	r.heads = r.heads[:0]
	for _, b := range r.buckets {
		if b.milli <= most && (b.key.ripe || !ripeOnly) {
			if b.chunk, b.index = 0, 0; b.waits() {
				r.heads = append(r.heads, b)
			}
		}
	}
	for i := len(r.heads)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
	for len(r.heads) > 0 {
		b := r.heads[0]
		if b.milli <= most {
			switch offer(b.next()) {
			case stop:
				return
			case taken:
				most = room()
				if b.index++; b.waits() {
					r.sink(0)
					continue
				}
			case noRoom:
			}
		}
		last := len(r.heads) - 1
		r.heads[0] = r.heads[last]
		r.heads = r.heads[:last]
		r.sink(0)
	}
}

// waits moves to the next job of b that still waits. It reports false if there is none.
func (b *bucket) waits() bool {
	for ; b.chunk < len(b.list.Chunks); b.chunk, b.index = b.chunk+1, 0 {
		for c := b.list.Chunks[b.chunk]; b.index < len(c); b.index++ {
			if c[b.index].Value.job.state == waiting {
				return true
			}
		}
	}
	return false
}

// next returns the job that waits moved to.
func (b *bucket) next() *Live { return b.list.Chunks[b.chunk][b.index].Value.job }

// sink moves the head at i down to its place in the heap.
func (r *requests) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(r.heads); child++ {
			if inOrder(r.heads[child].next(), r.heads[least].next()) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		r.heads[i], r.heads[least] = r.heads[least], r.heads[i]
		i = least
	}
}

// ripen records that l's patience has ended. due says that it ended at this instant rather than
// before l joined the queue.
func (q *queue) ripen(l *Live, due bool) {
	l.ripe, l.due = true, due
	q.ripeN++
	q.ripened = append(q.ripened, l)
}

// ripening returns the waiting jobs whose patience ended since the last turn, in the
// queue's order.
func (q *queue) ripening() []*Live {
	q.ripened = slices.DeleteFunc(q.ripened, func(l *Live) bool { return !l.ripe })
	slices.SortFunc(q.ripened, inOrder)
	return q.ripened
}

// sort adds the jobs whose patience has ended since the last call to requests. If the policy passes
// over jobs that do not fit, it also adds all new jobs.
func (q *queue) sort() {
	for _, l := range q.ripened {
		if !l.ripe {
			continue
		}
		if l.bucket != nil {
			q.requests.remove(l)
		}
		q.requests.add(l)
	}
	q.ripened = q.ripened[:0]
	if !q.fitting {
		return
	}
	for _, l := range q.fresh {
		if l.state == waiting && l.bucket == nil {
			q.requests.add(l)
		}
	}
}

// sortAll adds all waiting jobs to requests, now and in later calls of sort.
func (q *queue) sortAll() {
	if !q.fitting {
		q.fitting = true
		for en := range q.list.All() {
			if l := en.Value.job; l.state == waiting && l.bucket == nil {
				q.requests.add(l)
			}
		}
	}
	q.sort()
}
