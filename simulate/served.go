package simulate

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"capcli"
)

// Served compares the work that was done with the work that was possible.
//
// Possible work is what the jobs could have done by the end of the period if each had started at
// its submission: GPUs x min(run, end - submission), less the pauses of its checkpoints. Without a
// period it is all of their work. A job that was killed at its limit could have run up to its
// limit. So a job that could not have ended in the period is unserved only for the time that it
// waited.
type Served struct {
	Possible capcli.GPUTime // work of all jobs: finished, running, waiting or never startable
	Done     capcli.GPUTime // part of Possible: progress by the end, without lost work
	Backlog  capcli.GPUTime // all remaining work of the jobs waiting at the end
	Refused  capcli.GPUTime // all work of the jobs that can never run
	GivenUp  capcli.GPUTime // all work of the jobs that the policy dropped

	Waiting, Unplaceable, Dropped int64 // jobs: waiting at the end, never startable, dropped
}

// Unserved returns the possible work that was not done.
func (s *Served) Unserved() capcli.GPUTime { return s.Possible - s.Done }

// UnservedShare returns the unserved share of the possible work; 0 if none was possible.
func (s *Served) UnservedShare() float64 {
	if s.Possible == 0 {
		return 0
	}
	return float64(s.Unserved()) / float64(s.Possible)
}

// LeftOver returns the remaining work of jobs that hold no GPU at the end: Backlog, Refused and
// GivenUp.
func (s *Served) LeftOver() capcli.GPUTime { return s.Backlog + s.Refused + s.GivenUp }

// Jobs returns the number of unserved jobs: those that wait at the end, that can never run and that
// were dropped.
func (s *Served) Jobs() int64 { return s.Waiting + s.Unplaceable + s.Dropped }

func (s *Served) add(o *Served) {
	s.Possible += o.Possible
	s.Done += o.Done
	s.Backlog += o.Backlog
	s.Refused += o.Refused
	s.GivenUp += o.GivenUp
	s.Waiting += o.Waiting
	s.Unplaceable += o.Unplaceable
	s.Dropped += o.Dropped
}

// check fails if work done, unserved or left over is negative.
func (s *Served) check() error {
	if s.Done < 0 || s.Unserved() < 0 || s.LeftOver() < 0 {
		return &AccountError{fmt.Sprintf("of %d possible work %d was done and %d is left over (thousandths of GPU-seconds)", s.Possible, s.Done, s.LeftOver())}
	}
	return nil
}

// ServedClass is the Served of the jobs of one partition that want one GPU model.
type ServedClass struct {
	Partition, GPUModel string
	Pools               []int // pools that the jobs may use, in order of preference
	Served
}

// serve counts a job that finished, was refused or is open at the end of the run, with its progress
// by then.
func (e *engine) serve(l *Live, progress capcli.Seconds) {
	s := &l.class.served
	whole := l.askedRun()
	possible := whole
	if l.state != finished {
		fits := func(wall capcli.Seconds) capcli.Seconds {
			kept, loose := l.rc.progress(wall)
			return kept + loose
		}
		if e.cfg.KillAtLimit && l.Limit > 0 {
			whole = min(whole, fits(l.Limit))
		}
		possible = whole
		if e.cfg.Until > 0 {
			possible = min(whole, fits(e.cfg.Until-e.in.source.earliest(l)))
		}
	}
	milli := l.askedMilli()
	might, did := capcli.GPUTime(milli*int64(possible)), capcli.GPUTime(milli*int64(min(progress, possible)))
	s.Possible += might
	s.Done += did
	g := &e.meter.byTenant[l.tenant.index]
	g.possible += might
	g.done += did
	if e.meter.byPayer != nil {
		g = &e.meter.byPayer[l.payer]
		g.possible += might
		g.done += did
	}
	left := capcli.GPUTime(milli * int64(whole-min(progress, whole)))
	switch l.state {
	case waiting:
		s.Waiting++
		s.Backlog += left
	case refused:
		s.Unplaceable++
		s.Refused += left
	case dropped:
		s.Dropped++
		s.GivenUp += left
	case running, finished:
	}
}

// progress returns the work that l has done so far, in checkpoints or in memory.
func (e *engine) progress(l *Live) capcli.Seconds {
	kept, loose := l.rc.progress(l.ran(e.c.now))
	done := min(l.Run, l.saved+kept+loose)
	if l.mould != nil {
		return l.mould.workDone(l, done)
	}
	return done
}

// served returns the sums over all classes, and those of each partition, GPU model and list of pools. All
// jobs must have been counted.
func (cs *classes) served() (Served, []ServedClass) {
	var all Served
	out := make([]ServedClass, 0, len(cs.list))
	for _, c := range cs.list {
		all.add(&c.served)
		out = append(out, ServedClass{c.partition, c.model, slices.Concat(c.ranks...), c.served})
	}
	slices.SortFunc(out, func(a, b ServedClass) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.GPUModel, b.GPUModel), slices.Compare(a.Pools, b.Pools))
	})
	rows := out[:0]
	for i := range out { // jobs of several shapes
		if n := len(rows); n > 0 && rows[n-1].Partition == out[i].Partition && rows[n-1].GPUModel == out[i].GPUModel && slices.Equal(rows[n-1].Pools, out[i].Pools) {
			rows[n-1].add(&out[i].Served)
			continue
		}
		rows = append(rows, out[i])
	}
	return all, rows
}

// allOpen yields the jobs that wait, then those that run.
func (e *engine) allOpen() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for _, jobs := range []iter.Seq[*Live]{e.allWaiting(), e.delays.allPutOff(), e.allRunning()} {
			for l := range jobs {
				if !yield(l) {
					return
				}
			}
		}
	}
}
