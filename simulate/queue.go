package simulate

import (
	"capcli"
	"capcli/simulate/internal/sorted"
)

// entry is a waiting or running job in a list. It holds the values that a scan reads first next to
// the pointer, so that skipping a job costs no cache miss.
type entry = sorted.Entry[figures]

// figures are the values that a scan reads first.
type figures struct {
	job   *Live
	milli int64
	est   capcli.Seconds // estimated time left when it joined the queue
}

// queue holds the waiting jobs of one partition in the policy's order, and the policy.
type queue struct {
	name     string
	list     sorted.List[figures]
	policy   Policy
	preempts bool             // the policy is a Preemptor
	resizes  bool             // the policy is a Resizer: it has turns also while no job waits
	keyed    Keyed            // nil if the order is by arrival
	tails    []capcli.Seconds // of the jobs with Config.Stages: see LongestPath
	topClass int              // largest value of the priority classes
	cell     *cell
	dirty    bool
	started  []*Live // started in the current turn; still in list until its end
	fresh    []*Live // arrived or came back since the last turn
	freed    bool    // whether capacity was freed since the last turn
	firsts   []int   // pools in the first rank of some job of the queue
	wakeAt   capcli.Seconds

	ripeN    int      // number of waiting jobs whose patience has ended; other jobs may use only firsts
	ripened  []*Live  // jobs with ended patience not yet sorted into requests
	requests requests // waiting jobs by their demand: see sort
	fitting  bool     // whether requests holds all waiting jobs, for a policy that passes over jobs that do not fit
}

// cell is a set of queues and pools that depend on each other. Different cells do not
// affect each other.
type cell struct {
	ends    sorted.List[figures] // running jobs by estimated end: see engine.running
	ordered bool                 // whether ends is maintained
	queues  []*queue
	pools   []int
}

// running returns the running jobs of a cell by estimated end. Maintaining this order costs an
// insertion and a removal per job, so it starts with the first call.
func (e *engine) running(c *cell) *sorted.List[figures] {
	if !c.ordered {
		c.ordered = true
		for i := range e.agenda.heap {
			p := &e.agenda.heap[i]
			if l := p.job; p.isEnd() && l.queue.cell == c {
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
