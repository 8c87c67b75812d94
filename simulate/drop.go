package simulate

import (
	"slices"

	"capcli"
)

// Drop gives up l, which waits or runs: it never runs again. A running job loses its GPUs and all
// that it did counts as lost. A dropped job is counted in Counts.Dropped, and its work as unserved.
func (t *Preemption) Drop(l *Live) {
	if _, ok := t.q.policy.(Dropper); !ok {
		panic("simulate: a policy dropped a job and is no Dropper")
	}
	switch l.state {
	case running:
		if slices.Contains(l.queue.started, l) {
			panic("simulate: a policy dropped a job that it started in the same turn")
		}
		t.e.halt(l)
	case waiting:
		t.leave(l)
		l.Lost += l.saved
	case finished, refused, dropped:
		panic("simulate: a policy dropped a job that is no longer there")
	}
	t.e.abandon(l)
	t.dropped = append(t.dropped, l)
}

// abandon counts l, which holds nothing and is in no queue, as dropped, and tells it.
func (e *engine) abandon(l *Live) {
	l.state = dropped
	e.meter.dropped(l)
	e.serve(l, 0)
	e.tell(Drop, l, 0, 0)
	for _, p := range e.hooks.end {
		p.ended(l)
	}
}

// leave takes the waiting job l out of its queue.
func (t *Preemption) leave(l *Live) {
	if i := slices.Index(t.preempted, l); i >= 0 { // it has not rejoined its queue yet
		l.wait(-1)
		t.preempted = slices.Delete(t.preempted, i, i+1)
		return
	}
	t.e.wanted(l, -1)
	t.e.meter.queued(t.e.c.now, -1, l.Milli())
	l.Queued += t.e.c.now - l.Since
	l.unwait()
	if l.ripe {
		l.ripe, l.due = false, false
		l.queue.ripeN--
	}
	l.queue.started = append(l.queue.started, l) // it leaves the list at the end of the turn
}

// halt takes l's GPUs away for good.
func (e *engine) halt(l *Live) {
	stay := max(0, e.c.now-l.Since)
	all := stay + l.saved
	l.Queued -= max(0, l.Since-e.c.now)
	e.stop(l, 0, stay)
	l.Lost += all - stay
	l.state = waiting
	l.run++
	e.comeBack(l)
}

// dropped counts a job that a policy gave up. Its wait counts until the end of the run, as that of
// a job that can never run.
func (m *meter) dropped(l *Live) {
	m.droppedN++
	if l.mould != nil {
		m.redone += l.mould.lost + l.mould.useful
	} else {
		m.redone += capcli.GPUTime(int64(l.Lost) * l.Milli())
	}
	if !l.waited {
		m.open = append(m.open, noDue)
	}
	m.refusals = append(m.refusals, refusal{l.Submitted, l.Run, int32(l.tenant.index), int32(sizeRange(l.GPUs)), l.payer, l.dueAt != noDue, l.waited, l.opens - l.Submitted})
}

// Rekey gives l, which waits, a new key and moves it to its new place in the queue. Call it before the queue is
// read, not in a loop over it.
func (t *Turn) Rekey(l *Live, key int64) {
	q := l.queue
	if l.state != waiting || q.keyed == nil {
		panic("simulate: a policy gave a new key to a job that does not wait, or has no keys")
	}
	if key == l.Key {
		return
	}
	sorted := l.bucket != nil
	if sorted {
		q.requests.remove(l)
	}
	q.list.Remove(l.Key, l.seq)
	l.Key = key
	q.list.Insert(entry{Key: l.Key, Seq: l.seq, Value: l.figures(t.e.c.now)})
	if sorted {
		q.requests.add(l)
	}
}

// DueTime returns the deadline of l since the run's start. It reports false if l has none.
func (l *Live) DueTime() (capcli.Seconds, bool) { return l.dueAt, l.dueAt != noDue }

// noDue is the deadline of a job without one.
const noDue = capcli.Seconds(1) << 62

// dueOf returns the deadline of j since the run's start; noDue if it has none.
func (e *engine) dueOf(j *capcli.Job) capcli.Seconds {
	if !j.Deadline.IsKnown() || j.Deadline == 0 {
		return noDue
	}
	return capcli.Seconds(j.Deadline - e.ledger.rec.Start)
}
