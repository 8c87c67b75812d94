package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// Ways is the Turn of a policy that chooses the ways of jobs with a Shape, and as a Resizer those of running jobs.
type Ways Turn

// Ways returns what a policy that chooses ways may ask.
func (t *Turn) Ways() *Ways { return (*Ways)(t) }

// All appends all ways of l to dst in the pools that it may use now. A job without ways has one for each
// pool, with Way -1. Left tells how long the rest takes, by the estimate.
func (t *Ways) All(l *Live, dst []Choice) []Choice {
	e := t.e
	for r, pools := range l.class.ranks {
		if r > 0 && !e.opened(l) {
			break
		}
		dst = l.waysAt(pools, t.e.c.now, dst)
	}
	return dst
}

// BestChoice returns the index of the choice that the run's Chooser would plan for l: each starts at its From. If
// the Chooser is no Ranker it is the one that ends first, of equal ones the first. The list must not be empty.
func (t *Ways) BestChoice(l *Live, choices []Choice) int {
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

// findAs returns where l, which waits, would go in a way if it started now; nil if it does not fit, or may not use the
// pool yet. The slices are valid until the next search.
func (t *Ways) findAs(l *Live, to Choice) []Slice {
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
		return (*Turn)(t).keep(l, e.findIn(e.c, l, e.shapes.one[:]))
	}
	return (*Turn)(t).keep(l, e.shapes.tryWay(e.c, l, to.Way, e.shapes.one[:]))
}

// WouldTake returns what l, which waits, would hold in a choice, in thousandths of GPUs, and for how long by
// its estimate, without restart and checkpoints.
func (t *Ways) WouldTake(l *Live, c Choice) (milli int64, est capcli.Seconds) {
	if c.Way < 0 {
		return l.Milli(), l.LeftBelieved(t.e.c.now)
	}
	d := demandIn(l, &l.Shape.Ways[c.Way])
	return d.milli, d.left
}

// FindIf is Find for a job with ways, where only room will do that allow reports true for; FoundAs tells it
// of the room. The ways are tried in the order of the run's Chooser.
func (t *Ways) FindIf(l *Live, allow func(s []Slice) bool) []Slice {
	e := t.e
	e.shapes.accept = func(s []Slice) bool {
		(*Turn)(t).keep(l, s)
		return allow(s)
	}
	s := (*Turn)(t).keep(l, e.findBut(l, -1))
	e.shapes.accept = nil
	return s
}

// SortByCost puts the choices of each way of l, which follow each other, in the order of the run's Coster: the
// cheapest pool first. Without one they keep their order.
func (t *Ways) SortByCost(l *Live, choices []Choice) {
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

// keep notes the way of the room that was found for l, and returns the room.
func (t *Turn) keep(l *Live, s []Slice) []Slice {
	if t.found = l; l.mould != nil {
		t.foundWay = l.mould.found
	}
	return s
}

// StartAs starts l, which waits, in a way. It reports false when l does not fit so, or its tenant may not
// hold so much.
func (t *Ways) StartAs(l *Live, to Choice) bool {
	if l.state != waiting {
		panic("simulate: a policy started a job that does not wait")
	}
	s := t.findAs(l, to)
	if len(s) == 0 {
		return false
	}
	t.e.start(l, s)
	return true
}

// StartAsked starts l, which waits, with the GPUs that it asks for, whatever the run's Chooser. It reports
// false if it does not fit.
func (t *Ways) StartAsked(l *Live) bool {
	t.e.shapes.seeding = true
	started := (*Turn)(t).Start(l)
	t.e.shapes.seeding = false
	return started
}

// FoundAs returns what l, for which the last Find found room, would hold there, in thousandths of GPUs, and
// for how long by its estimate, without restart and checkpoints.
func (t *Ways) FoundAs(l *Live) (milli int64, est capcli.Seconds) {
	now := t.e.c.now
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

// Reassignment is a job and the choices at which it goes on, best first.
type Reassignment struct {
	Job *Live
	To  []Choice
}

// Reassign stops all running jobs of moves, then starts all in order, each in the first of its choices with
// room. So jobs change places without a GPU that is free, and wide jobs that come first find whole nodes.
// What a job that ran loses is as of a preemption, and it counts as a resize. If it finds no room after all, it
// waits and counts as preempted. Jobs that may not change go on as they are. Reassign reports in how many moves the job
// runs as asked. It panics if the policy is no Resizer.
func (t *Ways) Reassign(moves []Reassignment) (done int) {
	e := t.e
	if _, ok := t.q.policy.(Resizer); !ok {
		panic("simulate: a policy resized a job and is no Resizer")
	}
	stopped := make([]bool, len(moves))
	for i := range moves {
		m := &moves[i]
		if l := m.Job; l.state == running {
			if m.To = slices.DeleteFunc(m.To, func(c Choice) bool { return !t.mayMove(l, c) }); len(m.To) == 0 {
				m.Job = nil
				continue
			}
			e.setDown(l, false)
			e.comeBack(l)
			stopped[i] = true
		}
	}
	for i := range moves {
		if l := moves[i].Job; l != nil && t.land(l, moves[i].To, stopped[i]) {
			done++
		}
	}
	return done
}

// mayMove reports whether running job l may be resized to a choice, but for room.
func (t *Ways) mayMove(l *Live, to Choice) bool {
	return l.queue == t.q && !l.Leaves() && l.Since <= t.e.c.now && !t.e.guard.letsFirst(l) && !slices.Contains(t.q.started, l) && t.e.mayGo(l, to)
}

// land starts l, which waits or was stopped by Reassign (moved), in the first choice with room.
func (t *Ways) land(l *Live, to []Choice, moved bool) bool {
	e := t.e
	for _, c := range to {
		s := t.findAs(l, c)
		if len(s) == 0 {
			continue
		}
		if moved {
			e.wanted(l, 1)
			e.meter.queued(e.c.now, 1, l.Milli())
		}
		e.start(l, s)
		if moved { // it was never in the list
			l.queue.started = l.queue.started[:len(l.queue.started)-1]
			e.meter.resizes++
		}
		return true
	}
	if moved {
		l.Preempted++
		l.Yielded++
		e.meter.preempted(l, false)
		t.preempted = append(t.preempted, l)
	}
	return false
}
