package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("gang", "time slicing: gangs take turns on the GPUs, a quantum each", func(s simulate.Settings) simulate.Policy {
		q := s.Quantum
		if q <= 0 {
			q = capcli.Minute
		}
		return &timeSlices{quantum: q, next: noBorder}
	})
}

// timeSlices lets gangs take turns (Ousterhout, "Scheduling Techniques for Concurrent Systems",
// ICDCS 1982; Xiao et al., Gandiva, OSDI 2018, for GPUs). Jobs are in the order in which they last
// joined the line. A job that has run for a quantum rejoins it at the end, and keeps running if no
// job before it needs its GPUs. A job may run ahead of a larger one that does not fit, and then
// yields to it before its quantum is over.
//
// If preemption loses work, the quantum is long enough to save some. If it loses all work, jobs run
// to their end.
type timeSlices struct {
	quantum  capcli.Seconds
	next     capcli.Seconds // end of the next quantum of a running job
	restarts *simulate.Restarts
	contest
}

// Preempts declares that it takes GPUs away from running jobs.
func (*timeSlices) Preempts() {}

func (p *timeSlices) Schedule(t *simulate.Turn) {
	p.restarts = t.Preemption().Restarts()
	if t.Now() >= p.next {
		p.enterAll(t, p.joined)
	} else {
		p.rank(t, p.joined)
	}
	p.next = noBorder
	if t.Waiting() == 0 && len(p.losers) == 0 {
		return
	}
	for l := range t.Running() {
		if t.Preemption().Preemptible(l) {
			p.next = min(p.next, p.ends(l, t.Now()))
		}
	}
	if p.next < noBorder {
		t.WakeAt(p.next)
	}
}

// Key returns the time at which l joins the line, in seconds.
func (p *timeSlices) Key(l *simulate.Live) int64 { return int64(l.Since) }

// joined returns the time at which running job l last joined the line, in seconds.
func (p *timeSlices) joined(l *simulate.Live, now capcli.Seconds) int64 {
	q := p.quantumOf(l)
	if q == 0 || now-l.Since < q {
		return l.Key
	}
	return int64(now - (now-l.Since)%q)
}

// ends returns the end of the current quantum of running job l.
func (p *timeSlices) ends(l *simulate.Live, now capcli.Seconds) capcli.Seconds {
	q := p.quantumOf(l)
	if q == 0 {
		return noBorder
	}
	return l.Since + (max(0, now-l.Since)/q+1)*q
}

// quantumOf returns l's quantum; 0 if l runs to its end.
func (p *timeSlices) quantumOf(l *simulate.Live) capcli.Seconds {
	c := l.Saves()
	switch {
	case p.restarts.Mode == simulate.Suspend:
		return p.quantum + l.Overhead()
	case p.restarts.Mode == simulate.Checkpoint && c.Interval > 0:
		return max(p.quantum, c.Interval+c.Cost) + l.Overhead()
	}
	return 0
}
