package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli/profile/logs/trace"
)

// arrival returns when a submission or a command arrives.
func (p *player) arrival(at float64) int64 { return p.zero*1000 + int64(at*1000) + submitDelay }

// end returns when slurmctld hears of the end of a running job: its own, or the first round after its limit.
func (p *player) end(j *job) int64 {
	hears := j.ends + endDelay
	if limit := (j.limitEnd() + p.par.overTime) * 1000; limit < hears {
		hears = min(hears, next(p.rounds, roundTime, limit))
	}
	return hears
}

// overdue reports whether a running job is past its limit: then each pass plans anew.
func (p *player) overdue(ms int64) bool { return len(p.runs) > 0 && p.runs[0].limitEnd() <= ms/1000 }

// advance does all that is due at an instant, in the order: ends, submissions, commands, computations, the
// main scheduler, backfill.
func (p *player) advance(ms int64) error {
	p.endJobs(ms)
	for p.jobs < len(p.sub.Jobs) && p.arrival(p.sub.Jobs[p.jobs].At) <= ms {
		if err := p.arrive(ms); err != nil {
			return err
		}
	}
	for p.events < len(p.sub.Events) && p.arrival(p.sub.Events[p.events].At) <= ms {
		if err := p.command(&p.sub.Events[p.events], ms); err != nil {
			return err
		}
		p.events++
		p.dirty, p.dirtyMain, p.busy = true, true, ms
	}
	if ms >= p.calcs {
		p.compute(ms)
	}
	for i, d := range p.nodes {
		if d.back > 0 && d.back <= ms {
			d.back, p.dirty, p.dirtyMain = 0, true, true
			p.up.add(i)
		}
	}
	for _, b := range p.books {
		if t := ms / 1000; t == b.start || t == b.end {
			p.dirty, p.dirtyMain = true, true
		}
	}
	p.wake(ms)
	p.look(ms)
	if p.dirtyMain && ms > p.lastRun && ms == next(p.main, mainPeriod, ms) {
		p.dirtyMain, p.lastRun = false, ms
		p.schedule(ms)
	}
	if !p.par.builtin && ms > p.lastPass && ms == next(p.clock.backfill, p.interval, ms) && (p.dirty || p.overdue(ms)) {
		p.makePass(ms)
	} else if p.par.builtin {
		p.dirty = false
	}
	return nil
}

// endJobs ends the running jobs that are due.
func (p *player) endJobs(ms int64) {
	if p.nextEnd > ms {
		return
	}
	for _, j := range slices.Clone(p.runs) {
		if p.end(j) > ms {
			continue
		}
		how := "COMPLETED"
		if j.ends+endDelay > ms {
			how = "TIMEOUT"
		}
		p.stop(j, ms, how)
		p.busy = ms
	}
}

// arrive takes the next submission. One that was refused has no number.
func (p *player) arrive(ms int64) error {
	s := &p.sub.Jobs[p.jobs]
	p.jobs++
	p.busy = ms
	if s.ID == "" {
		return nil
	}
	jobs, err := p.submit(s, p.jobs, ms/1000)
	for _, j := range jobs {
		p.prioritise(j, ms/1000)
		p.waiting, p.all = append(p.waiting, j), append(p.all, j)
		p.byID[s.ID] = append(p.byID[s.ID], j)
		if j.id != s.ID {
			p.byID[j.id] = append(p.byID[j.id], j)
		}
	}
	return err
}

// wake moves jobs that may start now into the queue.
func (p *player) wake(ms int64) {
	second := ms / 1000
	p.waiting = slices.DeleteFunc(p.waiting, func(j *job) bool {
		if j.state != pending {
			return true
		}
		if j.held || j.begin > second || !p.satisfied(j, ms) {
			return false
		}
		j.Accrue, j.eligible = second, max(second, j.begin)
		if j.begin > j.Submit {
			j.eligible = j.begin
		}
		p.queue = append(p.queue, j)
		p.stale, p.dirty, p.dirtyMain = true, true, true
		return true
	})
}

// satisfied reports whether the dependencies of a job are met, and forgets those that are.
func (p *player) satisfied(j *job, ms int64) bool {
	j.deps = slices.DeleteFunc(j.deps, func(d dependency) bool {
		return !slices.ContainsFunc(p.byID[d.on], func(o *job) bool {
			over := o.state == ended && o.ended+dependencyDelay <= ms
			switch d.kind {
			case "after":
				return o.state == pending && o.how == ""
			case "afterok":
				return !over || o.how != "COMPLETED"
			case "afternotok":
				return !over || o.how == "COMPLETED"
			}
			return !over
		})
	})
	return len(j.deps) == 0
}

// command does what an administrator did.
func (p *player) command(e *event, ms int64) error {
	words := strings.Fields(e.Command)
	if strings.Contains(e.Answer, "rror") || len(words) == 0 {
		return nil
	}
	switch e.What {
	case "cancel", "release":
		for _, j := range p.byID[words[len(words)-1]] {
			switch {
			case e.What == "release":
				j.held = false
				p.prioritise(j, ms/1000)
			case j.state == running:
				p.stop(j, ms, "CANCELLED")
			case j.state == pending:
				j.state, j.ended, j.how, p.moved = ended, ms, "CANCELLED", ms
				p.queue = slices.DeleteFunc(p.queue, func(o *job) bool { return o == j })
			}
		}
	case "drain", "resume":
		for _, w := range words {
			names, _ := strings.CutPrefix(w, "nodename=")
			list, _ := trace.ExpandHosts(names)
			for i := range p.setOf(list).members {
				p.up.drop(i)
				p.nodes[i].back = 0
				if e.What == "resume" {
					p.nodes[i].back = ms + resumeDelay
				}
			}
		}
	case "reserve":
		return p.reserve(e, words, ms/1000)
	}
	return nil
}

// reserve makes a reservation.
func (p *player) reserve(e *event, words []string, now int64) error {
	b := &booking{nodes: newSet(len(p.nodes))}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch strings.ToLower(key) {
		case "starttime":
			n, err := strconv.ParseInt(strings.TrimPrefix(value, "now+"), 10, 64)
			if err != nil {
				return fmt.Errorf("%s: starttime: expected now+SECONDS, found %q", e.Command, value)
			}
			b.start = now + n
		case "duration":
			n, _ := parseLimit(value)
			b.end = b.start + n
		case "nodes":
			names, _ := trace.ExpandHosts(value)
			b.nodes = p.setOf(names)
		case "users":
			b.users = strings.Split(value, ",")
		}
	}
	p.books = append(p.books, b)
	return nil
}

// compute decays and books usage and computes the priorities of all jobs that wait.
func (p *player) compute(ms int64) {
	p.rules.decay(math.Pow(p.rules.keep, float64(p.rules.period)))
	for _, j := range p.runs {
		p.charge(j, ms/1000)
	}
	p.rules.rank()
	for _, list := range [][]*job{p.queue, p.waiting} {
		for _, j := range list {
			p.prioritise(j, ms/1000)
		}
	}
	p.calcs = next(p.calcs, p.period, ms+1)
	p.dirty, p.dirtyMain = true, true
}
