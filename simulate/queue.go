package simulate

import "capcli"

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
	n      int
	spare  [][]entry // emptied chunks to use again
}

const chunkMax = 128

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
	return make([]entry, 0, chunkMax)
}

func (q *list) insert(e entry) {
	q.n++
	ci, i := q.find(e.key, e.seq)
	if ci == len(q.chunks) {
		if ci == 0 || len(q.chunks[ci-1]) == chunkMax {
			q.chunks = append(q.chunks, append(q.chunk(), e))
			return
		}
		q.chunks[ci-1] = append(q.chunks[ci-1], e)
		return
	}
	if len(q.chunks[ci]) == chunkMax {
		q.split(ci)
		if i > chunkMax/2 {
			ci, i = ci+1, i-chunkMax/2
		}
	}
	c := append(q.chunks[ci], entry{})
	copy(c[i+1:], c[i:])
	c[i] = e
	q.chunks[ci] = c
}

// split cuts chunk ci in two halves.
func (q *list) split(ci int) {
	old := q.chunks[ci]
	right := append(q.chunk(), old[chunkMax/2:]...)
	clear(old[chunkMax/2:])
	q.chunks[ci] = old[:chunkMax/2]
	q.chunks = append(q.chunks, nil)
	copy(q.chunks[ci+2:], q.chunks[ci+1:])
	q.chunks[ci+1] = right
}

// remove takes out the entry (key, seq), which must be there.
func (q *list) remove(key int64, seq uint64) {
	ci, i := q.find(key, seq)
	c := q.chunks[ci]
	if c[i].key != key || c[i].seq != seq {
		panic("simulate: a job is not where the queue has it")
	}
	q.n--
	copy(c[i:], c[i+1:])
	c[len(c)-1] = entry{}
	c = c[:len(c)-1]
	if len(c) > 0 {
		q.chunks[ci] = c
		return
	}
	q.spare = append(q.spare, c)
	copy(q.chunks[ci:], q.chunks[ci+1:])
	q.chunks[len(q.chunks)-1] = nil
	q.chunks = q.chunks[:len(q.chunks)-1]
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
	ripe    []ripe  // jobs whose patience has ended; others may use firsts alone
	ripened bool    // some of them since the last turn
	wakeAt  capcli.Seconds
}

// cell is a set of queues and pools that meet each other: what happens outside
// it cannot matter inside.
type cell struct {
	running list // by believed end
	queues  []*queue
	pools   []int
}

// reset empties the list and keeps its memory.
func (q *list) reset() {
	for i, c := range q.chunks {
		clear(c)
		q.spare = append(q.spare, c[:0])
		q.chunks[i] = nil
	}
	q.chunks, q.n = q.chunks[:0], 0
}
