package policy

import (
	"cmp"
	"slices"

	"capcli/simulate"

	"capcli"
)

func init() {
	Catalog.Add("las", "least attained service (Tiresias): jobs with the least GPU time so far go first and preempt others", func(s simulate.Settings) simulate.Policy {
		return newLAS(s.Limits, s.BySubmit)
	})
}

// lasLimits are the borders in the Tiresias simulator.
var lasLimits = []capcli.GPUTime{3250 * capcli.GPUSecond, 7200 * capcli.GPUSecond}

// las is discretised two-dimensional least attained service (Gu et al., "Tiresias: A
// GPU Cluster Manager for Distributed Deep Learning", NSDI 2019). A job begins in the
// first queue and moves to the next when its attained GPU time reaches a border.
// Earlier queues go first. Within a queue running jobs go first, in the order in which
// they started there, so that equals do not take turns; then waiting jobs in order of
// arrival. It uses no estimates of run times.
type las struct {
	limits   []capcli.GPUTime
	bySubmit bool
	levels   [][]served
	size     int            // entries in all levels
	lower    bool           // whether a preemptible job runs beyond the first level
	cross    capcli.Seconds // next time a running job reaches a border
	contest
}

// served is a job in a level. It is stale when the Live belongs to another job.
type served struct {
	job   *simulate.Live
	index int64
}

func (s served) alive() bool { return s.job.Index() == s.index && (s.job.Waiting() || s.job.Running()) }

const noBorder = capcli.Seconds(1) << 62

// tidySlack is the number of stale entries that are always tolerated.
const tidySlack = 128

func newLAS(limits []capcli.GPUTime, bySubmit bool) *las {
	if len(limits) == 0 {
		limits = lasLimits
	}
	limits = slices.Sorted(slices.Values(limits))
	return &las{bySubmit: bySubmit, limits: limits, levels: make([][]served, len(limits)+1), cross: noBorder}
}

// Preempts declares that it takes GPUs away from running jobs.
func (*las) Preempts() {}

func (p *las) Schedule(t *simulate.Turn) {
	fresh := false
	for l := range t.Fresh() {
		fresh = true
		if l.Mark == 0 { // not a job that was preempted
			l.Mark = 1
			p.levels[0] = append(p.levels[0], served{l, l.Index()})
			p.size++
		}
	}
	switch {
	case t.Freed(), p.unmet, t.Now() >= p.cross, fresh && p.lower:
		p.contestAll(t)
	case fresh: // no job can be preempted for the new ones
		for l := range t.Fresh() {
			if t.Start(l) {
				p.cross = min(p.cross, p.border(l, 0, t.Now()))
			}
		}
		p.tidy(t)
	}
	if p.cross < noBorder && (t.Waiting() > 0 || len(p.losers) > 0) {
		t.WakeAt(p.cross)
	}
}

// contestAll holds a contest over all levels.
func (p *las) contestAll(t *simulate.Turn) {
	p.demote(t.Now())
	p.open(t)
	if p.bySubmit {
		for _, level := range p.levels {
			slices.SortFunc(level, func(a, b served) int { return cmp.Compare(a.index, b.index) })
		}
	}
	for _, level := range p.levels {
		for _, s := range level {
			switch l := s.job; {
			case l.IsPutOff():
			case l.Waiting():
				p.admit(t, l)
			case t.Preemption().Preemptible(l):
				p.keep(l)
			}
		}
	}
	p.settle(t)
	p.cross, p.lower = noBorder, false
	for i, level := range p.levels {
		runningFirst(level)
		for _, s := range level {
			if !s.job.Running() {
				break
			}
			p.lower = p.lower || (i > 0 && t.Preemption().Preemptible(s.job))
			p.cross = min(p.cross, p.border(s.job, i, t.Now()))
		}
	}
}

// demote removes stale entries and moves jobs that have reached a border to the end of the next
// level.
func (p *las) demote(now capcli.Seconds) {
	p.size = 0
	for i := range p.levels {
		kept := p.levels[i][:0]
		for _, s := range p.levels[i] {
			if !s.alive() {
				continue
			}
			p.size++
			if i < len(p.limits) && s.job.Attained(now) >= p.limits[i] {
				p.size-- // counted again in the next level
				p.levels[i+1] = append(p.levels[i+1], s)
				continue
			}
			kept = append(kept, s)
		}
		clear(p.levels[i][len(kept):])
		p.levels[i] = kept
	}
}

// border returns the time at which running job l of level i reaches its border.
func (p *las) border(l *simulate.Live, i int, now capcli.Seconds) capcli.Seconds {
	if i == len(p.limits) || l.Milli() == 0 {
		return noBorder
	}
	lacks := int64(p.limits[i] - l.Attained(now))
	return max(now, l.Since) + l.Restarting(now) + capcli.Seconds((max(0, lacks)+l.Milli()-1)/l.Milli())
}

// tidy removes stale entries if they are the majority.
func (p *las) tidy(t *simulate.Turn) {
	if p.size > 2*(t.Waiting()+t.RunningJobs())+tidySlack {
		p.demote(t.Now())
	}
}

// runningFirst moves the running jobs of a level before the others and keeps the order
// within both parts.
func runningFirst(level []served) {
	slices.SortStableFunc(level, func(a, b served) int {
		return int(runsLast(a)) - int(runsLast(b))
	})
}

func runsLast(s served) int8 {
	if s.job.Running() {
		return 0
	}
	return 1
}
