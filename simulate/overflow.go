package simulate

import (
	"slices"

	"capcli"
)

// Overflow says when a job without committed capacity moves on to the next rank of pools: on-demand
// and then spot, or the order of the scenario.
type Overflow struct {
	Patience []Patience // the first that matches a job applies; if none does, the job does not wait
	QueueMax int        // longest queue; beyond it the last jobs move on at once. 0 is no limit

	// CommittedFirst says that patience is for committed capacity alone. A job that no committed pool
	// could hold, were it empty, does not wait for it; with endless patience it never runs. A job whose
	// patience ends in the second in which GPUs come free moves on after the policy had its turn, which
	// may start it on them. Without it all jobs wait, and move on before the policy's turn, as in
	// Starburst's simulator.
	CommittedFirst bool
}

// Patience is how long jobs of a class up to a length wait for committed capacity.
type Patience struct {
	Class   string         // kind of work of the jobs; "" is all
	MaxRun  capcli.Seconds // longest estimated run time of the jobs it is for; 0 is all jobs
	Wait    capcli.Seconds // negative: for ever, the jobs never move on
	PerHour float64        // extra wait in hours for each GPU-hour of the job (Starburst's linear cost, Luo et al., EuroSys 2024)
}

// patienceOf returns how long l waits for committed capacity; negative is for ever.
func (o *Overflow) patienceOf(l *Live) capcli.Seconds { return o.PatienceOf(&l.Job, l.Believed) }

// PatienceOf returns how long a job with an estimated run time waits for committed capacity;
// negative is for ever.
func (o *Overflow) PatienceOf(j *capcli.Job, believed capcli.Seconds) capcli.Seconds {
	for i := range o.Patience {
		p := &o.Patience[i]
		if p.Class != "" && p.Class != j.Class || p.MaxRun > 0 && believed > p.MaxRun {
			continue
		}
		if p.PerHour > 0 {
			return p.Wait + capcli.Seconds(p.PerHour*float64(believed)*float64(j.Milli())/1000)
		}
		return p.Wait
	}
	return 0
}

// opened reports whether l may use pools beyond the first rank.
func (e *engine) opened(l *Live) bool {
	w := e.cfg.Overflow.patienceOf(l)
	return w >= 0 && (l.ripe || e.c.now-l.opens >= w)
}

// planPatience plans a turn for the end of l's patience.
func (e *engine) planPatience(l *Live) {
	if len(l.class.ranks) < 2 {
		return
	}
	switch w := e.cfg.Overflow.patienceOf(l); {
	case w < 0:
	case e.c.now-l.opens >= w || e.cfg.Overflow.CommittedFirst && !e.classes.fitsFirst(l):
		l.queue.ripen(l, false)
	default:
		e.agenda.wake(l.opens+w, patienceEnds, l)
	}
}

// patienceEnds is the handler of the end of a job's patience.
func patienceEnds(e *engine, p planned) {
	l := p.job
	l.queue.ripen(l, l.opens == l.Submitted) // a start that was put off comes in the queue's order
	l.queue.dirty = true
	e.buy.changed = true
	for _, o := range e.watchers.ripen {
		o.Ripen(l)
	}
}

// goOn starts jobs whose patience ends at this instant on overflow pools, before the policy sees
// the queue: a job that waits at most an hour leaves after the hour and no longer delays others. A
// job without room keeps waiting for the first pool with room. If freed capacity is wanted by an
// earlier job whose patience has ended, later jobs stay behind that job: the policy has its turn
// first, and then overflow offers the capacity in the queue's order. With CommittedFirst so it is if
// the first rank has room for a job whose patience ends: the policy may start the job there.
func (e *engine) goOn(q *queue) {
	if len(q.ripened) == 0 {
		return
	}
	ripe := q.ripening()
	if !slices.ContainsFunc(ripe, isDue) {
		return
	}
	if q.freed {
		e.due = append(e.due[:0], ripe...)
		ripe = e.due
		q.sort()
		q.requests.walk(true, e.turn.Room, func(l *Live) answer {
			s := e.findBeyond(l)
			switch {
			case len(s) == 0:
				return noRoom
			case !l.due || e.hasFirst(l):
				return stop
			}
			e.start(l, s)
			return taken
		})
	} else {
		for _, l := range ripe {
			if q.freed && l.due && e.hasFirst(l) {
				break
			}
			if l.due && e.startBeyond(l) {
				q.freed = true // jobs behind it, or capacity kept for it, may start now
			}
		}
	}
	for _, l := range ripe {
		l.due = false
	}
	e.turn.sweep()
}

func isDue(l *Live) bool { return l.due }

// overflow starts jobs that the policy left waiting on overflow pools: jobs whose patience has
// ended, and the last jobs of a queue that is too long. Jobs with ended patience get freed capacity
// in the queue's order, and only beyond the first rank, because the first rank follows the policy.
func (e *engine) overflow(q *queue) {
	switch {
	case q.ripeN == 0:
	case q.freed:
		q.sort()
		q.requests.walk(true, e.turn.Room, func(l *Live) answer {
			if e.startBeyond(l) {
				return taken
			}
			return noRoom
		})
	default: // nothing was freed: jobs that ripened earlier still have no room
		for _, l := range q.ripening() {
			e.startBeyond(l)
		}
	}
	e.turn.sweep()
	for limit := e.cfg.Overflow.QueueMax; limit > 0 && q.list.Len() > limit; {
		chunk := q.list.Chunks[len(q.list.Chunks)-1]
		if !e.startBeyond(chunk[len(chunk)-1].Value.job) {
			return
		}
		e.turn.sweep()
	}
}

// startBeyond starts l beyond the first rank. It reports whether there was room.
func (e *engine) startBeyond(l *Live) bool {
	s := e.findBeyond(l)
	if len(s) > 0 {
		e.start(l, s)
	}
	return len(s) > 0
}

// hasFirst reports whether l waits for the policy's turn, because the first rank has room for it now.
// Jobs with ways follow their own rule.
func (e *engine) hasFirst(l *Live) bool {
	if !e.cfg.Overflow.CommittedFirst || l.HasWays() || len(l.class.ranks) < 2 || l.OverQuota() {
		return false
	}
	pools := l.class.ranks[0]
	if e.guard.shut > 0 {
		pools = e.guard.openPools(l, pools, -1)
	}
	return len(e.findIn(e.c, l, pools)) > 0
}

// findBeyond returns room for l in the ranks beyond the first.
func (e *engine) findBeyond(l *Live) []Slice {
	if len(l.class.ranks) < 2 || l.OverQuota() {
		return nil
	}
	for _, pools := range l.class.ranks[1:] {
		if e.guard.shut > 0 && !l.HasWays() {
			pools = e.guard.openPools(l, pools, -1)
		}
		if s := e.findIn(e.c, l, pools); len(s) > 0 {
			return s
		}
	}
	return nil
}
