package play

import (
	"slices"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// jobLines is an observer of a run that follows each job over time, as long as the run has at most
// a number of jobs.
type jobLines struct {
	most  int
	over  bool // there were more
	lines []outcome.JobLine
	open  map[int]*openLine // by the job's slot
	pools []string
	end   func() capcli.Seconds
}

// openLine is a job that waits or runs.
type openLine struct {
	line  int
	since capcli.Seconds
	pool  string // where it runs; "" while it waits
}

func newJobLines(most int) *jobLines {
	return &jobLines{most: most, open: map[int]*openLine{}, over: most <= 0}
}

// Watch implements simulate.Watcher.
func (k *jobLines) Watch(v *simulate.View) {
	for p := range v.Cluster().Pools() {
		k.pools = append(k.pools, v.Cluster().Pool(p).Name)
	}
	k.end = v.Now
}

// Observe implements simulate.Observer.
func (k *jobLines) Observe(e simulate.Event, _ *simulate.Cluster) {
	if k.over || e.Job == nil {
		return
	}
	l := e.Job
	if e.Kind == simulate.Arrive {
		k.arrive(l)
		return
	}
	x := k.open[l.Slot()]
	if x == nil {
		return
	}
	switch e.Kind {
	case simulate.Start:
		k.close(x, l.Since, outcome.SpellWaiting)
		x.since, x.pool = l.Since, k.pools[e.Pool]
	case simulate.Finish:
		k.close(x, e.At, outcome.SpellRunning)
		k.lines[x.line].State = outcome.JobFinished
		delete(k.open, l.Slot())
	case simulate.Preempt:
		k.close(x, e.At, outcome.SpellPreempted)
		x.since, x.pool = e.At, ""
	case simulate.Drop:
		k.close(x, e.At, outcome.SpellWaiting)
		k.lines[x.line].State = outcome.JobDropped
		delete(k.open, l.Slot())
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake:
	}
}

func (k *jobLines) arrive(l *simulate.Live) {
	if len(k.lines) == k.most {
		k.over, k.lines, k.open = true, nil, nil
		return
	}
	line := outcome.JobLine{ID: l.ID, Tenant: l.Tenant, GPUs: float64(l.Milli()) / 1000, Submit: int64(l.Submitted), Spells: []outcome.Spell{}, State: outcome.JobUnplaceable}
	if !l.Refused() {
		k.open[l.Slot()] = &openLine{line: len(k.lines), since: l.Submitted}
	}
	k.lines = append(k.lines, line)
}

// close ends the current spell of a job. A wait of no time is left out, and so is a run that ended
// before its GPUs were delivered.
func (k *jobLines) close(x *openLine, at capcli.Seconds, state outcome.SpellKind) {
	if at < x.since || at == x.since && x.pool == "" {
		return
	}
	line := &k.lines[x.line]
	line.Spells = append(line.Spells, outcome.Spell{From: int64(x.since), To: int64(at), State: state, Pool: x.pool})
}

// Close implements simulate.Closer.
func (k *jobLines) Close(l *simulate.Live) {
	if k.over {
		return
	}
	x := k.open[l.Slot()]
	if x == nil {
		return
	}
	state, ending := outcome.SpellRunning, outcome.JobRunning
	if x.pool == "" {
		state, ending = outcome.SpellWaiting, outcome.JobWaiting
	}
	k.close(x, k.end(), state)
	k.lines[x.line].State = ending
}

func (k *jobLines) fill(h *simulate.History) {
	if k.over || len(h.Jobs) > k.most {
		return
	}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		line := outcome.JobLine{ID: j.ID, Tenant: h.Tenants[j.Tenant].Name, GPUs: float64(j.GPUs), Submit: int64(j.Submit), Spells: []outcome.Spell{}, State: outcome.JobWaiting}
		since := j.Submit
		for _, s := range j.Stays {
			if s.From > since {
				line.Spells = append(line.Spells, outcome.Spell{From: int64(since), To: int64(s.From), State: outcome.SpellWaiting})
			}
			state := outcome.SpellRunning
			if s.Preempted {
				state = outcome.SpellPreempted
			}
			pool := ""
			if len(s.Holds) > 0 {
				pool = h.Pools[s.Holds[0].Pool].Name
			}
			line.Spells = append(line.Spells, outcome.Spell{From: int64(s.From), To: int64(s.To), State: state, Pool: pool})
			since, line.State = s.To, outcome.JobRunning
			if s.Preempted {
				line.State = outcome.JobWaiting
			}
		}
		switch {
		case j.Done:
			line.State = outcome.JobFinished
		case j.NeverFits != "" && len(j.Stays) == 0:
			line.State = outcome.JobUnplaceable
		case line.State == outcome.JobWaiting && h.End > since:
			line.Spells = append(line.Spells, outcome.Spell{From: int64(since), To: int64(h.End), State: outcome.SpellWaiting})
		}
		k.lines = append(k.lines, line)
	}
	k.lines = slices.Clip(k.lines)
}
