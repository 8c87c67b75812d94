package simulate

import (
	"slices"

	"capcli"
)

// Overflow says when a job that found no committed capacity goes on to the
// next rank of pools: on-demand, then spot, or as the scenario orders.
type Overflow struct {
	Patience []Patience // the first that matches; none: no wait
	QueueMax int        // jobs beyond this many go on at once, the last first; 0 is without limit
}

// Patience is how long jobs of some length wait for committed capacity.
type Patience struct {
	MaxRun  capcli.Seconds // for jobs believed to run no longer; 0 is all
	Wait    capcli.Seconds // negative: for ever, they never go on
	PerHour float64        // wait in addition so many hours for each GPU-hour of the job (Starburst's linear cost, Luo et al., EuroSys 2024)
}

// patienceOf is how long l waits, negative for ever.
func (o *Overflow) patienceOf(l *Live) capcli.Seconds { return o.PatienceOf(&l.Job, l.Believed) }

// PatienceOf is how long a job that is believed to run so long waits for committed
// capacity, negative for ever.
func (o *Overflow) PatienceOf(j *capcli.Job, believed capcli.Seconds) capcli.Seconds {
	for i := range o.Patience {
		p := &o.Patience[i]
		if p.MaxRun > 0 && believed > p.MaxRun {
			continue
		}
		if p.PerHour > 0 {
			return p.Wait + capcli.Seconds(p.PerHour*float64(believed)*float64(j.Milli())/1000)
		}
		return p.Wait
	}
	return 0
}

// opened tells whether l may use pools of a rank beyond the first.
func (e *engine) opened(l *Live) bool {
	w := e.cfg.Overflow.patienceOf(l)
	return w == 0 || (w > 0 && e.c.now-l.Submitted >= w)
}

// planPatience asks for a turn when l's patience ends.
func (e *engine) planPatience(l *Live) {
	if len(l.class.ranks) < 2 {
		return
	}
	switch w := e.cfg.Overflow.patienceOf(l); {
	case w < 0:
	case e.c.now-l.Submitted >= w:
		l.queue.ripen(l, false)
	default:
		e.agenda.add(l.Submitted+w, Wake, l, l.run, 0)
	}
}

// goOn sends on the jobs whose patience ends at this instant, before the policy
// looks at the queue: a job that waits an hour at most is gone after the hour,
// and no longer in the way of others. Those that find no room wait on, for
// whatever comes free first. Where room came free that a job before them waits
// for with its patience ended, they keep their place behind it: the policy has
// its turn first, and overflow then offers the room in the queue's order.
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
			case !l.due:
				return stop
			}
			e.start(l, s)
			return taken
		})
	} else {
		for _, l := range ripe {
			if l.due && e.startBeyond(l) {
				q.freed = true // what was kept for it, or waited behind it, may start
			}
		}
	}
	for _, l := range ripe {
		l.due = false
	}
	e.turn.sweep()
}

func isDue(l *Live) bool { return l.due }

// overflow sends on the jobs whose patience has ended and that the policy did
// not start, and those for whom the queue is too long. All of the former are
// offered what came free, whatever their place, in the queue's order; only
// beyond the first rank, for there they go by the policy's order.
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
	default: // nothing came free: the others have found no room before
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

// startBeyond starts l beyond the first rank, and tells whether it found room.
func (e *engine) startBeyond(l *Live) bool {
	s := e.findBeyond(l)
	if len(s) > 0 {
		e.start(l, s)
	}
	return len(s) > 0
}

// findBeyond looks for room in the ranks beyond the first only.
func (e *engine) findBeyond(l *Live) []Slice {
	if len(l.class.ranks) < 2 || l.OverQuota() {
		return nil
	}
	for _, pools := range l.class.ranks[1:] {
		if s := e.findIn(e.c, l, pools); len(s) > 0 {
			return s
		}
	}
	return nil
}
