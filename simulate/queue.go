package simulate

import (
	"slices"

	"capcli"
)

// entry is a waiting job in a queue. What a scan looks at first is kept beside
// the pointer, so that passing over a job costs no cache miss.
type entry struct {
	key   int64
	seq   uint64
	job   *Live
	milli int64
	est   capcli.Seconds
	at    capcli.Seconds // conservative: promised start
}

func (a *entry) before(key int64, seq uint64) bool {
	return a.key < key || (a.key == key && a.seq < seq)
}

// list is a sorted list in chunks: insertion and removal move at most a chunk,
// iteration is over contiguous memory. Order is (key, seq), which is total.
type list struct {
	chunks [][]entry
	whole  [][]entry // of each chunk: the memory that it is a part of, from its beginning, empty
	n      int
	spare  [][]entry // emptied chunks to use again
}

// A chunk grows from chunkMin entries to chunkMax, and is then split.
const chunkMin, chunkMax = 16, 128

// find gives the first position not before (key, seq).
func (q *list) find(key int64, seq uint64) (int, int) {
	lo, hi := 0, len(q.chunks)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c := q.chunks[mid]
		if c[len(c)-1].before(key, seq) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(q.chunks) {
		return lo, 0
	}
	c := q.chunks[lo]
	i, j := 0, len(c)
	for i < j {
		mid := int(uint(i+j) >> 1)
		if c[mid].before(key, seq) {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return lo, i
}

func (q *list) chunk() []entry {
	if n := len(q.spare); n > 0 {
		c := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return c
	}
	return make([]entry, 0, chunkMin)
}

func (q *list) insert(e entry) {
	q.n++
	ci, i := q.find(e.key, e.seq)
	if ci == len(q.chunks) {
		if ci == 0 || len(q.chunks[ci-1]) == chunkMax {
			c := append(q.chunk(), e)
			q.chunks, q.whole = append(q.chunks, c), append(q.whole, c[:0])
			return
		}
		ci, i = ci-1, len(q.chunks[ci-1])
	}
	if len(q.chunks[ci]) == chunkMax {
		q.split(ci)
		if i > chunkMax/2 {
			ci, i = ci+1, i-chunkMax/2
		}
	}
	c := q.grow(ci)
	copy(c[i+1:], c[i:])
	c[i] = e
}

// grow makes chunk ci an entry longer. Room that removals left before it is used
// again before more is asked for.
func (q *list) grow(ci int) []entry {
	c := q.chunks[ci]
	switch w := q.whole[ci]; {
	case len(c) < cap(c):
		c = c[:len(c)+1]
	case len(c) < cap(w): // there is room before it
		n := len(c)
		c = append(w, c...)
		clear(w[n:cap(w)])
		c = c[:n+1]
	default:
		c = append(c, entry{})
		q.whole[ci] = c[:0]
	}
	q.chunks[ci] = c
	return c
}

// split cuts chunk ci in two halves.
func (q *list) split(ci int) {
	old := q.chunks[ci]
	right := append(q.chunk(), old[chunkMax/2:]...)
	clear(old[chunkMax/2:])
	q.chunks[ci] = old[:chunkMax/2]
	q.chunks = slices.Insert(q.chunks, ci+1, right)
	q.whole = slices.Insert(q.whole, ci+1, right[:0])
}

// remove takes out the entry (key, seq), which must be there. The shorter side of
// its chunk moves up: first come, first served moves nothing.
func (q *list) remove(key int64, seq uint64) {
	ci, i := q.find(key, seq)
	c := q.chunks[ci]
	if c[i].key != key || c[i].seq != seq {
		panic("simulate: a job is not where the queue has it")
	}
	q.n--
	if i < len(c)/2 {
		copy(c[1:], c[:i])
		c[0] = entry{}
		c = c[1:]
	} else {
		copy(c[i:], c[i+1:])
		c[len(c)-1] = entry{}
		c = c[:len(c)-1]
	}
	if len(c) > 0 {
		q.chunks[ci] = c
		return
	}
	q.spare = append(q.spare, q.whole[ci])
	q.chunks = slices.Delete(q.chunks, ci, ci+1)
	q.whole = slices.Delete(q.whole, ci, ci+1)
}

// queue is the jobs of one partition that wait, in the policy's order, with
// the policy that serves them.
type queue struct {
	name    string
	list    list
	policy  Policy
	keyed   Keyed // nil: by arrival
	cell    *cell
	dirty   bool
	started []*Live // started in the present turn, still in list until its end
	fresh   []*Live // arrived or came back since the last turn
	freed   bool    // capacity came free since the last turn
	firsts  []int   // pools that some job of it tries first
	wakeAt  capcli.Seconds

	ripeN    int      // waiting jobs whose patience has ended; others may use firsts alone
	ripened  []*Live  // of those, who has yet to be sorted into requests
	requests requests // waiting jobs by what they ask for: see sort
	fitting  bool     // all of them, for the policy passes over what does not fit
}

// cell is a set of queues and pools that meet each other: what happens outside
// it cannot matter inside.
type cell struct {
	ends    list // running jobs by believed end: see engine.running
	ordered bool // ends is kept
	queues  []*queue
	pools   []int
}

// running are the jobs that run in a cell, by believed end. The order costs an
// insertion and a removal a job, so it is kept from when it is first asked for.
func (e *engine) running(c *cell) *list {
	if !c.ordered {
		c.ordered = true
		for i := range e.agenda.heap {
			p := &e.agenda.heap[i]
			if l := p.job; p.kind() == Finish && l.state == running && l.run == p.run && l.queue.cell == c {
				c.ends.insert(endOf(l))
			}
		}
	}
	return &c.ends
}

// endOf is the place of a running job in its cell.
func endOf(l *Live) entry {
	return entry{key: int64(l.believes), seq: l.seq, job: l, milli: l.Milli()}
}

// reset empties the list and keeps its memory.
func (q *list) reset() {
	for i, c := range q.chunks {
		clear(c)
		q.spare = append(q.spare, q.whole[i])
		q.chunks[i], q.whole[i] = nil, nil
	}
	q.chunks, q.whole, q.n = q.chunks[:0], q.whole[:0], 0
}
