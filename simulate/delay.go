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
func partBegins(e *engine, p planned) { e.delays.release(p.job) }

func partEnds(e *engine, p planned) { e.delays.pause(p.job) }

// delays are the jobs that were put off and are in no queue.
type delays struct {
	e *engine
	Delays
	jobs []*Live // each at its place
	of   notes[putOffJob]
}

// putOffJob is what is known of a job that was put off.
type putOffJob struct {
	parts []Part // times since the run's start in which it runs; nil is without pauses
	place int    // in delays.jobs while it is in no queue
}

// allPutOff yields the jobs that were put off and are in no queue.
func (d *delays) allPutOff() iter.Seq[*Live] { return slices.Values(d.jobs) }

// putOff asks when l may run. It reports whether l has to wait outside its queue.
func (d *delays) putOff(l *Live) bool {
	at := d.e.cfg.Delayer.Delay(l, d.e.ledger.rec.Start+capcli.Time(d.e.c.now))
	if len(at.Parts) == 0 {
		return false
	}
	first := max(0, at.Parts[0].From)
	l.opens = d.e.c.now + first
	if len(at.Parts) > 1 {
		parts := slices.Clone(at.Parts)
		for i := range parts {
			parts[i].From += d.e.c.now
			parts[i].To += d.e.c.now
		}
		d.of.noteOf(l).parts = parts
	}
	if first == 0 || at.CommittedFirst {
		return false
	}
	d.leaveOut(l, l.opens)
	return true
}

// leaveOut keeps l, which is in no queue, out of it until a time.
func (d *delays) leaveOut(l *Live, until capcli.Seconds) {
	l.state, l.putOff, l.Since = waiting, true, until
	d.of.noteOf(l).place = len(d.jobs)
	d.jobs = append(d.jobs, l)
	d.e.agenda.wake(until, partBegins, l)
}

// release puts l into its queue: its start or its next part has come.
func (d *delays) release(l *Live) {
	if !l.putOff {
		return
	}
	l.putOff, l.Since = false, d.e.c.now
	jobs := d.jobs
	last := jobs[len(jobs)-1]
	at := d.of.noteOf(l).place
	jobs[at] = last
	d.of.noteOf(last).place = at
	d.jobs = jobs[:len(jobs)-1]
	if l.Preempted == 0 {
		d.e.admit(l)
		return
	}
	d.e.enqueue(l)
	d.e.planPatience(l)
}

// began plans the end of the part in which l starts, if another part follows and the stay, which
// ends at a time, is longer. A job that starts between two parts, because it had to wait for
// capacity, runs on until the end of the next.
func (d *delays) began(l *Live, ends capcli.Seconds) {
	parts := d.of.get(l).parts
	if i := partAt(parts, l.Since); i+1 < len(parts) && parts[i].To < ends {
		d.e.agenda.wake(parts[i].To, partEnds, l)
	}
}

// partAt returns the first part that ends after a time.
func partAt(parts []Part, at capcli.Seconds) int {
	i, _ := slices.BinarySearchFunc(parts, at, func(p Part, t capcli.Seconds) int {
		if p.To <= t {
			return -1
		}
		return 1
	})
	return i
}

// pause preempts l at the end of a part, until the next.
func (d *delays) pause(l *Live) {
	parts := d.of.get(l).parts
	next := partAt(parts, d.e.c.now)
	if next == len(parts) || l.Leaves() {
		return
	}
	d.Pauses++
	d.Paused += parts[next].From - d.e.c.now
	d.e.evict(l, false)
	d.leaveOut(l, max(d.e.c.now, parts[next].From))
}

// ended counts l, if it has finished.
func (d *delays) ended(l *Live) {
	if l.state == finished {
		d.count(l, d.e.c.now)
	}
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
	if d.e.cfg.Delayer == nil {
		return nil
	}
	return &d.Delays
}
