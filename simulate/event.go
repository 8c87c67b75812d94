package simulate

import "capcli"

// Kind is the kind of an event. Within an instant, events are handled in order of kind.
type Kind uint8

// The kinds of event, in the order in which they are handled within an instant. Start, Preempt and
// Drop are never planned: they tell observers the result of a turn.
const (
	Finish  Kind = iota // a job ends
	Drain               // a node gets notice of its loss and takes no new work
	Lose                // a node is lost, with every gang that has a part on it
	Gain                // a node is delivered or comes back
	Arrive              // a job is submitted
	Wake                // a turn is due, requested by a policy or a patience
	Start               // a job gets its GPUs
	Preempt             // a job loses its GPUs and waits again
	Drop                // a policy gives up a waiting job, which never runs again
)

var kindNames = [...]string{"finish", "drain", "lose", "gain", "arrive", "wake", "start", "preempt", "drop"}

// String returns the kind in one word.
func (k Kind) String() string { return kindNames[k] }

// Event is something that happened in a run, for observers.
type Event struct {
	At   capcli.Seconds // since the run's start
	Kind Kind
	Job  *Live // nil for node events and wakes
	Pool int   // for node events
	Node int   // for node events: index in the cluster
}

// planned is a future event.
type planned struct {
	at  capcli.Seconds
	ord uint64 // kind in the top byte, then order of planning, which makes the order total
	do  handler
	job *Live
	arg int // of an event of a job the stay that it is for: the event of an old stay has no effect
}

// handler carries out a planned event. It captures nothing, so that planning an event allocates nothing.
type handler func(e *engine, p planned)

func (a *planned) kind() Kind { return Kind(a.ord >> 56) }

// isEnd reports whether the event is that with which the current stay of a running job ends.
func (a *planned) isEnd() bool {
	l := a.job
	return a.kind() == Finish && l.state == running && l.run == uint32(a.arg) && (!l.pace.isOn() || l.pace.plan == a.arg>>32)
}

func (a *planned) precedes(b *planned) bool {
	return a.at < b.at || (a.at == b.at && a.ord < b.ord)
}

// agenda is a 4-ary heap of planned events. It stores values, so it does not allocate once it has
// grown, and it is flatter than a binary heap.
type agenda struct {
	heap []planned
	seq  uint64
}

// add plans an event. Events of the same time and kind are handled in the order of
// planning.
func (q *agenda) add(at capcli.Seconds, k Kind, do handler, job *Live, arg int) {
	q.seq++
	p := planned{at: at, ord: uint64(k)<<56 | q.seq, do: do, job: job, arg: arg}
	q.heap = append(q.heap, p)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !p.precedes(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = p
}

// wake plans what happens to a job at a time, unless its wait or stay has ended by then.
func (q *agenda) wake(at capcli.Seconds, do handler, job *Live) {
	q.add(at, Wake, do, job, int(job.run))
}

// call plans what happens at a time.
func (q *agenda) call(at capcli.Seconds, do handler) { q.add(at, Wake, do, nil, 0) }

// nothing is the handler of an instant at which there is something to settle.
func nothing(*engine, planned) {}

// next returns the earliest event, or nil.
func (q *agenda) next() *planned {
	if len(q.heap) == 0 {
		return nil
	}
	return &q.heap[0]
}

// pop removes the earliest event and returns it.
func (q *agenda) pop() planned {
	top := q.heap[0]
	last := len(q.heap) - 1
	p := q.heap[last]
	q.heap[last] = planned{}
	q.heap = q.heap[:last]
	if last > 0 {
		q.sink(p)
	}
	return top
}

// sink moves p down from the root to its place in the heap.
func (q *agenda) sink(p planned) {
	i, n := 0, len(q.heap)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if q.heap[c].precedes(&q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].precedes(&p) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = p
}
