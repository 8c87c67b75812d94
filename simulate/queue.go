package simulate

import (
	"capcli"
	"capcli/simulate/internal/sorted"
)

// entry is a waiting or running job in a list. It holds what a scan reads first beside
// the pointer, so that skipping a job costs no cache miss.
type entry = sorted.Entry[figures]

// figures are what a scan reads first.
type figures struct {
	job   *Live
	milli int64
	est   capcli.Seconds // believed time left when it joined the queue
}

// queue holds the waiting jobs of one partition in the policy's order, and the policy.
type queue struct {
	name     string
	list     sorted.List[figures]
	policy   Policy
	preempts bool  // the policy is a Preemptor
	keyed    Keyed // nil: by arrival
	cell     *cell
	dirty    bool
	started  []*Live // started in the present turn, still in list until its end
	fresh    []*Live // arrived or came back since the last turn
	freed    bool    // capacity came free since the last turn
	firsts   []int   // pools that some job of it tries first
	wakeAt   capcli.Seconds

	ripeN    int      // waiting jobs whose patience has ended; others may use firsts alone
	ripened  []*Live  // of those, who has yet to be sorted into requests
	requests requests // waiting jobs by what they ask for: see sort
	fitting  bool     // all of them, for the policy passes over what does not fit
}

// cell is a set of queues and pools that depend on each other. Different cells do not
// affect each other.
type cell struct {
	ends    sorted.List[figures] // running jobs by believed end: see engine.running
	ordered bool                 // ends is kept
	queues  []*queue
	pools   []int
}

// running returns the running jobs of a cell by estimated end. Keeping this order costs
// an insertion and a removal per job, so the engine keeps it from the first call on.
func (e *engine) running(c *cell) *sorted.List[figures] {
	if !c.ordered {
		c.ordered = true
		for i := range e.agenda.heap {
			p := &e.agenda.heap[i]
			if l := p.job; p.kind() == Finish && l.state == running && l.run == p.run && l.queue.cell == c {
				c.ends.Insert(endOf(l))
			}
		}
	}
	return &c.ends
}

// endOf returns the entry of a running job in its cell.
func endOf(l *Live) entry {
	return entry{Key: int64(l.believes), Seq: l.seq, Value: figures{job: l, milli: l.Milli()}}
}
