package simulate

import "slices"

// Reassignment is a job and the choices at which it goes on, best first.
type Reassignment struct {
	Job *Live
	To  []Choice
}

// Reassign stops all running jobs of moves, then starts all in order, each in the first of its choices with
// room. So jobs change places without a GPU that is free, and wide jobs that come first find whole nodes.
// What a job that ran loses is as of Resize. If it finds no room after all, it waits and counts as
// preempted. Jobs that Resize would refuse go on as they are. Reassign reports in how many moves the job
// runs as asked. It panics if the policy is no Resizer.
func (t *Turn) Reassign(moves []Reassignment) (done int) {
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
func (t *Turn) mayMove(l *Live, to Choice) bool {
	return l.queue == t.q && !l.Leaves() && l.Since <= t.Now() && !t.e.guard.letsFirst(l) && !slices.Contains(t.q.started, l) && t.e.mayGo(l, to)
}

// land starts l, which waits or was stopped by Reassign (moved), in the first choice with room.
func (t *Turn) land(l *Live, to []Choice, moved bool) bool {
	e := t.e
	for _, c := range to {
		s := t.FindAs(l, c)
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
