package simulate

import "capcli"

// Mode is what a policy's preemption does to the work of a job. The loss of a
// node always destroys what no checkpoint holds.
type Mode uint8

// The modes.
const (
	Suspend    Mode = iota // kept in memory: nothing is lost
	Checkpoint             // back to the last checkpoint
	Scratch                // from the beginning
)

// Restarts say what a job loses when it loses its GPUs, by class of job.
//
// A limit is the longest that a job may hold its GPUs, with its checkpoints and
// restarts. It goes on through stays that are suspended, and begins anew when
// the job does, from a checkpoint or from the beginning, as in Slurm.
type Restarts struct {
	Mode    Mode
	Classes []RestartClass // the first that matches; none: no checkpoints, no overhead
}

// RestartClass is how jobs of one kind save their work.
type RestartClass struct {
	Class    string         // kind of work; "" is any
	MaxGPUs  int            // for jobs of at most so many GPUs; 0 is any
	Interval capcli.Seconds // work between checkpoints; 0 is none
	Cost     capcli.Seconds // pause for each
	Restart  capcli.Seconds // time to get going again after a preemption or a loss
}

var noRestart RestartClass

// ClassOf returns how jobs like j save their work: the first class that matches.
func (r *Restarts) ClassOf(j *capcli.Job) *RestartClass {
	for i := range r.Classes {
		c := &r.Classes[i]
		if (c.Class == "" || c.Class == j.Class) && (c.MaxGPUs == 0 || j.GPUs <= c.MaxGPUs) {
			return c
		}
	}
	return &noRestart
}

// wall is how long work takes with its checkpoints: one after each Interval of
// work, none at the very end.
func (c *RestartClass) wall(work capcli.Seconds) capcli.Seconds {
	if c.Interval <= 0 || c.Cost <= 0 || work <= 0 {
		return work
	}
	return work + (work-1)/c.Interval*c.Cost
}

// progress splits a stretch of wall time into work that a checkpoint holds and work
// that only memory holds. The stretch begins just after a checkpoint.
func (c *RestartClass) progress(wall capcli.Seconds) (kept, loose capcli.Seconds) {
	if wall <= 0 {
		return 0, 0
	}
	if c.Interval <= 0 {
		return 0, wall
	}
	cycles := wall / (c.Interval + c.Cost)
	return cycles * c.Interval, min(wall-cycles*(c.Interval+c.Cost), c.Interval)
}

// evict takes l's GPUs away, by a policy or because a node went (lost). The job
// is waiting afterwards, but in no queue yet.
func (e *engine) evict(l *Live, lost bool) {
	now := e.c.now
	rc := e.cfg.Restarts.ClassOf(&l.Job)
	stay := max(0, now-l.Since)
	kept, loose := rc.progress(stay - l.overhead)
	saved := l.saved
	switch {
	case !lost && e.cfg.Restarts.Mode == Suspend:
		saved += kept + loose
	case lost && e.warned(l, rc): // the last checkpoint took the end of the notice
		saved += kept + max(0, loose-rc.Cost)
	case !lost && e.cfg.Restarts.Mode == Scratch, lost && rc.Interval == 0:
		saved = 0
	default:
		saved += kept
	}
	saved = min(saved, l.Run)
	e.stop(l, saved, stay-(saved-l.saved))
	l.state = waiting
	if !lost && e.cfg.Restarts.Mode == Suspend {
		l.spent += stay
	} else { // it begins anew, and so does its limit
		l.spent = 0
	}
	l.overhead = max(0, l.overhead-stay) + rc.Restart
	l.run++
	l.Queued -= max(0, l.Since-now)
	l.Since = now
	l.Preempted++
	e.meter.preempted(l, lost)
	e.tell(Preempt, l, int(l.slices[0].Pool), int(l.slices[0].Node))
}

// warned tells whether notice of the loss was long enough for a last
// checkpoint.
func (e *engine) warned(l *Live, rc *RestartClass) bool {
	if rc.Interval <= 0 {
		return false
	}
	for i := range l.slices {
		nd := &e.c.nodes[l.slices[i].Node]
		if nd.lost && (!nd.draining || e.c.now-nd.noticed < rc.Cost || rc.Cost == 0 && e.c.now == nd.noticed) {
			return false
		}
	}
	return true
}
