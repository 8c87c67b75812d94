package simulate

import "capcli"

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

// of is how long l waits, negative for ever.
func (o *Overflow) of(l *Live) capcli.Seconds { return o.Of(&l.Job, l.Believed) }

// Of is how long a job that is believed to run so long waits for committed
// capacity, negative for ever.
func (o *Overflow) Of(j *capcli.Job, believed capcli.Seconds) capcli.Seconds {
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
	w := e.cfg.Overflow.of(l)
	return w == 0 || (w > 0 && e.c.now-l.Submitted >= w)
}

// planPatience asks for a turn when l's patience ends.
func (e *engine) planPatience(l *Live) {
	if len(l.class.ranks) < 2 {
		return
	}
	switch w := e.cfg.Overflow.of(l); {
	case w < 0:
	case e.c.now-l.Submitted >= w:
		l.queue.ripen(l, false)
	default:
		e.agenda.add(l.Submitted+w, Wake, l, l.run, 0)
	}
}

// ripe is a job whose patience has ended; run tells whether it still waits the
// same wait, due whether its patience ended just now.
type ripe struct {
	job *Live
	run uint32
	due bool
}

func (q *queue) ripen(l *Live, due bool) {
	q.ripe = append(q.ripe, ripe{l, l.run, due})
	q.ripened = true
}

// goOn sends on the jobs whose patience ends at this instant, before the policy
// looks at the queue: a job that waits an hour at most is gone after the hour,
// and no longer in the way of others. Those that find no room wait on, for
// whatever comes free first.
func (e *engine) goOn(q *queue) {
	if !q.ripened {
		return
	}
	kept := q.ripe[:0]
	for _, r := range q.ripe {
		if r.job.state != waiting || r.job.run != r.run {
			continue
		}
		if r.due {
			r.due = false
			if s := e.findBeyond(r.job); len(s) > 0 {
				e.start(r.job, s)
				q.freed = true // what was kept for it, or waited behind it, may start
				continue
			}
		}
		kept = append(kept, r)
	}
	q.ripe = kept
	e.turn.sweep()
}

// overflow sends on the jobs whose patience has ended and that the policy did
// not start, whatever their place in the queue, and those for whom the queue
// is too long.
func (e *engine) overflow(q *queue) {
	if len(q.ripe) > 0 && (q.freed || q.ripened) {
		kept := q.ripe[:0]
		for _, r := range q.ripe {
			if r.job.state != waiting || r.job.run != r.run {
				continue
			}
			// Only beyond the first rank: there it goes by the policy's order.
			if s := e.findBeyond(r.job); len(s) > 0 {
				e.start(r.job, s)
			} else {
				kept = append(kept, r)
			}
		}
		q.ripe, q.ripened = kept, false
		e.turn.sweep()
	}
	for limit := e.cfg.Overflow.QueueMax; limit > 0 && q.list.n > limit; {
		chunk := q.list.chunks[len(q.list.chunks)-1]
		l := chunk[len(chunk)-1].job
		s := e.findBeyond(l)
		if len(s) == 0 {
			return
		}
		e.start(l, s)
		e.turn.sweep()
	}
}

// findBeyond looks for room in the ranks beyond the first only.
func (e *engine) findBeyond(l *Live) []Slice {
	if len(l.class.ranks) < 2 || l.overQuota() {
		return nil
	}
	for _, pools := range l.class.ranks[1:] {
		if s := e.findIn(e.c, l, pools); len(s) > 0 {
			return s
		}
	}
	return nil
}
