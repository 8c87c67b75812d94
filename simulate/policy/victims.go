package policy

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("priority-victims", "larger priority first; the head of the line takes GPUs from jobs of less, chosen by victims", func(s simulate.Settings) simulate.Policy {
		return &victims{rule: cmp.Or(s.Choices["victims"], VictimRules[0])}
	})
	OwnChoices.Add("victims", "priority-victims: whom to preempt first: youngest, oldest, smallest, or least_lost work", VictimRules)
}

// VictimRules are the orders in which a newcomer preempts jobs of lower priority. All but least_lost
// preempt the lowest priority first.
var VictimRules = []string{"youngest", "oldest", "smallest", "least_lost"}

// victim is a running job that may be preempted.
type victim struct {
	Priority int
	GPUs     int64
	Start    capcli.Seconds
	Lost     int64 // GPU time since its last checkpoint
	ID       int64 // order of arrival
}

// compare orders victims by a rule, whom to take first: youngest (later start, then higher id),
// oldest (earlier start, then lower id), smallest (fewer GPUs, then as youngest), each within
// priority; least_lost (less lost work, then lower id).
func (a *victim) compare(b *victim, rule string) int {
	if rule == "least_lost" {
		return cmp.Or(cmp.Compare(a.Lost, b.Lost), cmp.Compare(a.ID, b.ID))
	}
	if a.Priority != b.Priority {
		return cmp.Compare(a.Priority, b.Priority)
	}
	switch rule {
	case "oldest":
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	case "smallest":
		if a.GPUs != b.GPUs {
			return cmp.Compare(a.GPUs, b.GPUs)
		}
	}
	return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.ID, a.ID))
}

// chooseVictims takes candidates in order, of n that are sorted, until there is room, and then lets go
// of each, in the order taken, that is not needed after all. room reports whether stopping the
// candidates of a list makes room. It returns false if all together do not.
func chooseVictims(n int, room func(stopped []int) bool) (taken []int, ok bool) {
	for i := 0; !room(taken); i++ {
		if i == n {
			return nil, false
		}
		taken = append(taken, i)
	}
	for k := 0; k < len(taken); {
		rest := slices.Delete(slices.Clone(taken), k, k+1)
		if room(rest) {
			taken = rest
		} else {
			k++
		}
	}
	return taken, true
}

// victims is strict priority with preemption: jobs start in order of priority, and the first that
// does not fit preempts jobs of lower priority until it does, or waits. Youngest first is the order
// of Slurm's preempt/partition_prio; letting go of victims that are not needed is that of
// kube-scheduler. With a grace the newcomer waits for it, and so does all behind it.
type victims struct {
	rule    string
	list    []loser
	leaving []*simulate.Live // jobs in their grace
}

// loser is a victim with its job.
type loser struct {
	victim
	job *simulate.Live
}

// Preempts declares that it takes GPUs away from running jobs.
func (*victims) Preempts() {}

func (*victims) Key(l *simulate.Live) int64 { return -int64(l.Priority) }

func (p *victims) Schedule(t *simulate.Turn) {
	for l := range t.Queue() {
		if !t.Start(l) && !p.makeRoom(t, l) {
			return
		}
	}
}

// makeRoom preempts jobs so that l fits in one of its pools, and starts it unless it must wait for
// the grace. It reports whether l started.
func (p *victims) makeRoom(t *simulate.Turn, l *simulate.Live) bool {
	for i, pool := range t.Planning().Pools(l) {
		if !t.Planning().FitsWindows(l, pool) {
			continue
		}
		p.list, p.leaving = p.list[:0], p.leaving[:0]
		for r := range t.Running() {
			switch {
			case r.Pool() != pool:
			case r.Leaves():
				p.leaving = append(p.leaving, r)
			case r.Priority < l.Priority && t.Preemption().Preemptible(r):
				p.list = append(p.list, p.describe(t, r))
			}
		}
		slices.SortFunc(p.list, func(a, b loser) int { return a.compare(&b.victim, p.rule) })
		chosen, ok := chooseVictims(len(p.list), func(stopped []int) bool {
			w := t.Planning().WhatIf()
			for _, r := range p.leaving {
				w.Release(r)
			}
			for _, i := range stopped {
				w.Release(p.list[i].job)
			}
			return len(w.Find(l, t.Planning().Pools(l)[i:i+1])) > 0
		})
		if ok && len(chosen) == 0 { // it waits for jobs in their grace
			return false
		}
		for _, i := range chosen {
			t.Preemption().Preempt(p.list[i].job)
		}
		if len(chosen) > 0 {
			return startWithin(t, l)
		}
	}
	return false
}

func (p *victims) describe(t *simulate.Turn, r *simulate.Live) loser {
	return loser{victim{r.Priority, int64(r.GPUs), r.Since, int64(t.Preemption().LostIfStopped(r)) * r.Milli(), r.Index()}, r}
}
