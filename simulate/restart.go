package simulate

import "capcli"

// Mode says what happens to a job's work when a policy preempts it. The loss of a node always
// destroys work that is in no checkpoint.
type Mode uint8

// The modes.
const (
	Suspend    Mode = iota // work is kept in memory: nothing is lost
	Checkpoint             // work falls back to the last checkpoint
	Scratch                // all work is lost
)

// Restarts say what a job loses when it loses its GPUs, by class of job.
//
// A limit is the longest time that a job may hold its GPUs, including checkpoints and restarts. It
// continues over suspended stays. It starts anew when the job restarts from a checkpoint or from
// the beginning, as in Slurm.
type Restarts struct {
	Mode    Mode
	Classes []RestartClass // the first that matches a job applies; if none does, there are no checkpoints and no overhead
}

// RestartClass is how jobs of one kind save their work.
type RestartClass struct {
	Class    string         // kind of work; "" is any
	MaxGPUs  int            // most GPUs of the jobs it is for; 0 is any
	Interval capcli.Seconds // work between checkpoints; 0 is none
	Cost     capcli.Seconds // pause for each checkpoint
	Write    capcli.Seconds // time after the pause in which it is written while the job works on; then it is safe
	Restart  capcli.Seconds // time to resume after a preemption or a loss
	Auto     bool           // the engine chooses Interval, from Cost, Pool.MTBF and Pool.Notice
	Shards   Shards         // Cost and Write follow from it if it states a size
}

var noRestart RestartClass

// ClassOf returns the first class that matches j; a class without checkpoints and overhead if none
// does.
func (r *Restarts) ClassOf(j *capcli.Job) *RestartClass {
	for i := range r.Classes {
		c := &r.Classes[i]
		if (c.Class == "" || c.Class == j.Class) && (c.MaxGPUs == 0 || j.GPUs <= c.MaxGPUs) {
			return c
		}
	}
	return &noRestart
}

// wall returns how long work takes including its checkpoints: one after each Interval of work, but
// none at the very end.
func (c *RestartClass) wall(work capcli.Seconds) capcli.Seconds {
	if c.Interval <= 0 || c.Cost <= 0 || work <= 0 {
		return work
	}
	return work + (work-1)/c.Interval*c.Cost
}

// progress splits the time since a checkpoint into work saved by later checkpoints (kept) and work
// only in memory (loose). A checkpoint that is still being written saves nothing.
func (c *RestartClass) progress(wall capcli.Seconds) (kept, loose capcli.Seconds) {
	if wall <= 0 {
		return 0, 0
	}
	if c.Interval <= 0 {
		return 0, wall
	}
	cycles := wall / (c.Interval + c.Cost)
	kept, loose = cycles*c.Interval, min(wall-cycles*(c.Interval+c.Cost), c.Interval)
	if c.Write > 0 && cycles > 0 {
		safe := max(0, wall-c.Write) / (c.Interval + c.Cost) * c.Interval
		kept, loose = safe, loose+kept-safe
	}
	return kept, loose
}

// evict takes l's GPUs away, for a policy or because a node was lost. The job then waits but is not
// yet in its queue.
func (e *engine) evict(l *Live, lost bool) {
	e.setDown(l, lost)
	l.Preempted++
	e.meter.preempted(l, lost)
	e.comeBack(l)
}

// comeBack tells that l has lost its GPUs, and gives it the form that it has while it waits.
func (e *engine) comeBack(l *Live) {
	e.tell(Preempt, l, int(l.slices[0].Pool), int(l.slices[0].Node))
	if l.mould != nil {
		e.shapes.unshape(l)
	}
}

// setDown takes l's GPUs away and keeps of its work what the run's Restarts say.
func (e *engine) setDown(l *Live, lost bool) {
	now := e.c.now
	rc := l.rc
	stay := max(0, now-l.Since)
	kept, loose := rc.progress(l.ran(now))
	e.savings.firstSaved(l, kept)
	saved := l.saved
	switch {
	case !lost && e.cfg.Restarts.Mode == Suspend:
		saved += kept + loose
	case lost && e.warned(l, rc), l.leaves > 0 && e.cfg.Restarts.Mode == Checkpoint && e.graced(rc): // the last checkpoint was taken at the end of the notice
		saved += kept + max(0, loose-rc.Cost-rc.Write)
		e.savings.savedOnNotice(l)
	case !lost && e.cfg.Restarts.Mode == Scratch, lost && rc.Interval == 0:
		saved = 0
	default:
		saved += kept
	}
	saved = min(saved, l.Run)
	e.svc.displaced(l, lost, l.saved+kept+loose-saved)
	e.stop(l, saved, stay-(saved-l.saved))
	l.state = waiting
	l.wait(1)
	if !lost && e.cfg.Restarts.Mode == Suspend {
		l.spent += stay
	} else { // it restarts, and so does its limit
		l.spent = 0
	}
	l.overhead = max(0, l.overhead-stay-max(0, l.resliced()-stay)) + rc.Restart
	e.moving.unstage(l, stay)
	l.run, l.leaves = l.run+1, 0
	l.Queued -= max(0, l.Since-now)
	l.Since = now
}

// graced reports whether the grace of preempted jobs is long enough for a last checkpoint.
func (e *engine) graced(rc *RestartClass) bool {
	return rc.Interval > 0 && e.cfg.Preempts.Grace >= rc.Cost+rc.Write
}

// warned reports whether the notice of a loss was long enough for a last checkpoint.
func (e *engine) warned(l *Live, rc *RestartClass) bool {
	if rc.Interval <= 0 {
		return false
	}
	if w := e.win.ending; w != nil {
		return w.warns(rc)
	}
	for i := range l.slices {
		nd := &e.c.nodes[l.slices[i].Node]
		if nd.broke {
			return false
		}
		if nd.lost && (!nd.leaving || e.c.now-nd.noticed < rc.Cost+rc.Write || rc.Cost+rc.Write == 0 && e.c.now == nd.noticed) {
			return false
		}
	}
	return true
}
