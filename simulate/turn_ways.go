package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// Ways appends all ways of l to dst in the pools that it may use now. A job without ways has one for each
// pool, with Way -1. Left tells how long the rest takes, by the estimate.
func (t *Turn) Ways(l *Live, dst []Choice) []Choice {
	e := t.e
	for r, pools := range l.class.ranks {
		if r > 0 && !e.opened(l) {
			break
		}
		dst = l.waysAt(pools, t.Now(), dst)
	}
	return dst
}

// BestChoice returns the index of the choice that the run's Chooser would plan for l: each starts at its From. If
// the Chooser is no Ranker it is the one that ends first, of equal ones the first. The list must not be empty.
func (t *Turn) BestChoice(l *Live, choices []Choice) int {
	if r, ok := t.e.cfg.Chooser.(Ranker); ok {
		return r.BestChoice(t.e.c, l, choices)
	}
	best := 0
	for i := range choices {
		if choices[i].From+choices[i].Left < choices[best].From+choices[best].Left {
			best = i
		}
	}
	return best
}

// FindAs returns where l, which waits, would go in a way if it started now; nil if it does not fit, or may not use the
// pool yet. The
// slices are valid until the next search. StartFound starts it there.
func (t *Turn) FindAs(l *Live, to Choice) []Slice {
	e := t.e
	t.found = l
	e.c.found = e.c.found[:0]
	if !e.mayUse(l, to.Pool) {
		return nil
	}
	e.shapes.one[0] = to.Pool
	if to.Way < 0 {
		if l.OverQuota() || !e.guard.admits(l, to.Pool) {
			return nil
		}
		return e.keep(t, l, e.findIn(e.c, l, e.shapes.one[:]))
	}
	return e.keep(t, l, e.shapes.tryWay(e.c, l, to.Way, e.shapes.one[:]))
}

// WouldTake returns what l, which waits, would hold in a choice, in thousandths of GPUs, and for how long by
// its estimate, without restart and checkpoints.
func (t *Turn) WouldTake(l *Live, c Choice) (milli int64, est capcli.Seconds) {
	if c.Way < 0 {
		return l.Milli(), l.LeftBelieved(t.Now())
	}
	w := &l.Shape.Ways[c.Way]
	if milli = int64(w.GPUs) * 1000; l.GPUMilli > 0 {
		milli = l.Milli()
	}
	return milli, l.leftIn(w, t.Now())
}

// FindIf is Find for a job with ways, where only room will do that allow reports true for; FoundAs tells it
// of the room. The ways are tried in the order of the run's Chooser.
func (t *Turn) FindIf(l *Live, allow func(s []Slice) bool) []Slice {
	e := t.e
	e.shapes.accept = func(s []Slice) bool {
		e.keep(t, l, s)
		return allow(s)
	}
	t.found = l
	s := e.keep(t, l, e.findBut(l, -1))
	e.shapes.accept = nil
	return s
}

// SortByCost puts the choices of each way of l, which follow each other, in the order of the run's Coster: the
// cheapest pool first. Without one they keep their order.
func (t *Turn) SortByCost(l *Live, choices []Choice) {
	by := t.e.cfg.Coster
	if by == nil {
		return
	}
	for i := 0; i < len(choices); {
		j := i + 1
		for j < len(choices) && choices[j].Way == choices[i].Way {
			j++
		}
		slices.SortStableFunc(choices[i:j], func(a, b Choice) int {
			return cmp.Compare(by.Cost(l, a.Pool, t.e.moving.transfer(l, a.Pool)), by.Cost(l, b.Pool, t.e.moving.transfer(l, b.Pool)))
		})
		i = j
	}
}

// keep notes the way of the room that a turn found.
func (e *engine) keep(t *Turn, l *Live, s []Slice) []Slice {
	if l.mould != nil {
		t.foundWay = l.mould.found
	}
	return s
}

// StartAs starts l, which waits, in a way. It reports false when l does not fit so, or its tenant may not
// hold so much.
func (t *Turn) StartAs(l *Live, to Choice) bool {
	if l.state != waiting {
		panic("simulate: a policy started a job that does not wait")
	}
	s := t.FindAs(l, to)
	if len(s) == 0 {
		return false
	}
	t.e.start(l, s)
	return true
}

// StartAsked starts l, which waits, with the GPUs that it asks for, whatever the run's Chooser. It reports
// false if it does not fit.
func (t *Turn) StartAsked(l *Live) bool {
	t.e.shapes.seeding = true
	started := t.Start(l)
	t.e.shapes.seeding = false
	return started
}

// FoundAs returns what l, for which the last Find found room, would hold there, in thousandths of GPUs, and
// for how long by its estimate, without restart and checkpoints.
func (t *Turn) FoundAs(l *Live) (milli int64, est capcli.Seconds) {
	now := t.Now()
	if !l.HasWays() || len(t.e.c.found) == 0 {
		return l.Milli(), l.LeftBelieved(now)
	}
	m, way := l.mould, t.foundWay
	if way < 0 {
		way = m.askedIn(l, int(t.e.c.found[0].Pool))
	}
	w := &l.Shape.Ways[way]
	m.put(l, w, w.Num, w.Den)
	milli, est = l.Milli(), l.LeftBelieved(now)
	m.back(l)
	return milli, est
}

// Resize stops l, which runs, and starts it at once in another way or pool. What it loses is as the
// run's Restarts say of a preemption; it counts as a resize, and not as a preemption. It reports false, and
// changes nothing, if there is no room for it so, or its tenant may not hold so much. Resize panics if the
// policy is no Resizer.
func (t *Turn) Resize(l *Live, to Choice) bool {
	e := t.e
	if _, ok := t.q.policy.(Resizer); !ok {
		panic("simulate: a policy resized a job and is no Resizer")
	}
	if l.state != running || slices.Contains(l.queue.started, l) {
		panic("simulate: a policy resized a job that did not run before this turn")
	}
	if l.queue != t.q || l.Leaves() || l.Since > e.c.now || e.guard.letsFirst(l) || !e.mayGo(l, to) {
		return false
	}
	w := e.c.copyTo(e.shapes.resized)
	e.shapes.resized = w
	w.release(l.slices)
	s := e.findResized(w, l, to)
	if len(s) == 0 {
		return false
	}
	s = append(e.shapes.room[:0], s...)
	e.shapes.room = s
	e.setDown(l, false)
	e.comeBack(l)
	e.wanted(l, 1)
	e.meter.queued(e.c.now, 1, l.Milli())
	if m := l.mould; m != nil {
		m.found = int32(to.Way)
	}
	e.start(l, s)
	l.queue.started = l.queue.started[:len(l.queue.started)-1] // it was never in the list
	e.meter.resizes++
	return true
}

// mayGo reports whether l, which runs, may go to a choice by its pools and by what its tenant may hold.
func (e *engine) mayGo(l *Live, to Choice) bool {
	for i := range l.slices {
		if e.c.nodes[l.slices[i].Node].draining && to.Pool == l.Pool() {
			return false
		}
	}
	more := 0
	if to.Way >= 0 {
		more = l.Shape.Ways[to.Way].GPUs - l.GPUs
	}
	if q := l.tenant.Quota; more > 0 && q > 0 && l.tenant.used+more > q {
		return false
	}
	for _, a := range l.allowances {
		// What it would still need is known only once it has stopped: such a job keeps its way.
		if a.caps.GPUTime > 0 || a.budget != nil && a.budget.Reserve {
			return false
		}
		if more > 0 && a.caps.GPUs > 0 && a.gpus+more > a.caps.GPUs {
			return false
		}
	}
	return e.mayUse(l, to.Pool)
}

// mayUse reports whether l may run in a pool now: one of its first rank or, once its patience has ended, of any.
func (e *engine) mayUse(l *Live, pool int) bool {
	for r, pools := range l.class.ranks {
		if slices.Contains(pools, pool) {
			return r == 0 || e.opened(l)
		}
	}
	return false
}

// findResized returns room for l in a way on a copy of the cluster.
func (e *engine) findResized(w *Cluster, l *Live, to Choice) []Slice {
	e.shapes.one[0] = to.Pool
	if to.Way < 0 {
		return w.Find(e.cfg.Placement, l, e.shapes.one[:])
	}
	m, way := l.mould, &l.Shape.Ways[to.Way]
	gpus, cpu, mem := l.GPUs, l.CPUMilli, l.MemMiB
	l.GPUs = way.GPUs
	l.CPUMilli, l.MemMiB = m.share(way)
	s := w.Find(e.cfg.Placement, l, e.shapes.one[:])
	l.GPUs, l.CPUMilli, l.MemMiB = gpus, cpu, mem
	return s
}

// Resizes counts how often running jobs were given another way.
func (t *Turn) Resizes() int64 { return t.e.meter.resizes }
