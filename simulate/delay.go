package simulate

import (
	"iter"
	"slices"

	"capcli"
)

// Delayer puts off the starts of jobs, because a later time is cheaper or cleaner. The engine asks it
// once for each job, when the job arrives. Jobs that already run when the run begins are not asked
// for.
type Delayer interface {
	// Delay returns when l, which arrives now, may run.
	Delay(l *Live, now capcli.Time) Delay
}

// Delay is when a job may run. The zero value is at once.
type Delay struct {
	// Parts are the times since its arrival in which the job runs. It is in no queue before the
	// first, and is preempted between two: it waits for the next. After the last it runs until it has
	// ended, because jobs that wait for capacity or restart take longer than was chosen.
	Parts []Part
	// CommittedFirst lets the job use capacity of its first rank from its arrival on: it is in its
	// queue, and only its patience begins with the first part.
	CommittedFirst bool
}

// Part is a time in which a job may run.
type Part struct{ From, To capcli.Seconds }

// Delays are the figures of starts that were put off.
type Delays struct {
	Jobs    int64          `json:"jobs"`          // whose start was put off
	Time    capcli.Seconds `json:"put_off_s"`     // sum of the times from submission until they waited for capacity, or had it
	Pauses  int64          `json:"pauses"`        // of Counts.Preemptions, between two parts
	Paused  capcli.Seconds `json:"paused_s"`      // sum of the times of the pauses
	Longest capcli.Seconds `json:"put_off_max_s"` // longest of Time
}

// partBegins is the handler of the start of a job that was put off, or of its next part.
func partBegins(e *engine, p planned) { e.release(p.job) }

// partEnds is the handler of the end of a part.
func partEnds(e *engine, p planned) { e.pause(p.job) }

// delays are the jobs that were put off and are in no queue.
type delays struct {
	Delays
	ask  Delayer
	jobs []*Live // each at its place
}

// openDelays makes the engine ask the Delayer, if there is one.
func (e *engine) openDelays() {
	if e.cfg.Delayer != nil {
		e.delays = &delays{ask: e.cfg.Delayer}
	}
}

// allPutOff yields the jobs that were put off and are in no queue.
func (d *delays) allPutOff() iter.Seq[*Live] {
	if d == nil {
		return func(func(*Live) bool) {}
	}
	return slices.Values(d.jobs)
}

// putOff asks when l may run. It reports whether l has to wait outside its queue.
func (e *engine) putOff(l *Live) bool {
	d := e.delays.ask.Delay(l, e.ledger.rec.Start+capcli.Time(e.c.now))
	if len(d.Parts) == 0 {
		return false
	}
	first := max(0, d.Parts[0].From)
	l.opens = e.c.now + first
	if len(d.Parts) > 1 {
		l.parts = slices.Clone(d.Parts)
		for i := range l.parts {
			l.parts[i].From += e.c.now
			l.parts[i].To += e.c.now
		}
	}
	if first == 0 || d.CommittedFirst {
		return false
	}
	e.leaveOut(l, l.opens)
	return true
}

// leaveOut keeps l, which is in no queue, out of it until a time.
func (e *engine) leaveOut(l *Live, until capcli.Seconds) {
	l.state, l.putOff, l.Since = waiting, true, until
	l.place = len(e.delays.jobs)
	e.delays.jobs = append(e.delays.jobs, l)
	e.agenda.wake(until, partBegins, l)
}

// release puts l into its queue: its start or its next part has come.
func (e *engine) release(l *Live) {
	if !l.putOff {
		return
	}
	l.putOff, l.Since = false, e.c.now
	jobs := e.delays.jobs
	last := jobs[len(jobs)-1]
	jobs[l.place], last.place = last, l.place
	e.delays.jobs = jobs[:len(jobs)-1]
	if l.Preempted == 0 {
		e.admit(l)
		return
	}
	e.enqueue(l)
	e.planPatience(l)
}

// planEnd plans the end of l's stay.
func (e *engine) planEnd(l *Live, at capcli.Seconds) {
	e.agenda.add(at, Finish, end, l, int(l.run))
	if l.parts != nil {
		e.planPause(l, at)
	}
}

// planPause plans the end of the part in which l starts, if another part follows and the stay, which
// ends at a time, is longer. A job that starts between two parts, because it had to wait for
// capacity, runs on until the end of the next.
func (e *engine) planPause(l *Live, ends capcli.Seconds) {
	i := l.partAt(l.Since)
	if i+1 < len(l.parts) && l.parts[i].To < ends {
		e.agenda.wake(l.parts[i].To, partEnds, l)
	}
}

// partAt returns the first part that ends after a time.
func (l *Live) partAt(at capcli.Seconds) int {
	i, _ := slices.BinarySearchFunc(l.parts, at, func(p Part, t capcli.Seconds) int {
		if p.To <= t {
			return -1
		}
		return 1
	})
	return i
}

// pause preempts l at the end of a part, until the next.
func (e *engine) pause(l *Live) {
	next := l.partAt(e.c.now)
	if next == len(l.parts) || l.Leaves() {
		return
	}
	e.delays.Pauses++
	e.delays.Paused += l.parts[next].From - e.c.now
	e.evict(l, false)
	e.leaveOut(l, max(e.c.now, l.parts[next].From))
}

// count adds a job that has ended, or is open at the end of the run.
func (d *delays) count(l *Live, end capcli.Seconds) {
	until := end
	if l.FirstStart >= 0 {
		until = min(until, l.FirstStart)
	}
	if off := min(until, l.opens) - l.Submitted; off > 0 {
		d.Jobs++
		d.Time += off
		d.Longest = max(d.Longest, off)
	}
}

// result returns the figures; nil without a Delayer.
func (d *delays) result() *Delays {
	if d == nil {
		return nil
	}
	return &d.Delays
}
