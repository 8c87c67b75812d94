package simulate

import (
	"slices"

	"capcli"
)

// Preemption is the Turn of a policy that takes GPUs away, or gives jobs up.
type Preemption Turn

// Preemption returns what a policy that takes GPUs away may ask.
func (t *Turn) Preemption() *Preemption { return (*Preemption)(t) }

// PreemptRules bound what policies may take away. They hold for every policy: Preemption.Preemptible is
// false where they forbid it, and Preemption.Preempt then does nothing.
type PreemptRules struct {
	Grace     capcli.Seconds // a preempted job keeps its GPUs for so long, and may save its work in that time
	Spare     capcli.Seconds // a job believed to end within this is left alone
	PerJob    int            // most preemptions of one job by policies; 0 is any number
	PerTenant int            // most preemptions of a tenant's jobs in any hour
	PerHour   int            // most preemptions in any hour
}

// budgetHour is the length of time that PerTenant and PerHour are for.
const budgetHour = capcli.Hour

// preempts is the state of the rules in a run.
type preempts struct {
	e        *engine
	all      []capcli.Seconds   // times of preemptions in the last hour, for PerHour
	tenants  [][]capcli.Seconds // by tenant, for PerTenant
	wakeAt   capcli.Seconds     // a turn is planned then, because a budget is there again
	done     int64              // preemptions by policies, where there are rules
	graceUse capcli.GPUTime     // GPU time held in grace
}

// mayPreempt reports whether the rules allow to preempt l now.
func (ps *preempts) mayPreempt(l *Live) bool {
	r := &ps.e.cfg.Preempts
	if l.leaves > 0 || r.PerJob > 0 && l.Yielded >= r.PerJob {
		return false
	}
	if r.Spare > 0 && l.believes-ps.e.c.now <= r.Spare && l.believes > ps.e.c.now {
		return false
	}
	return ps.hasBudget(r.PerHour, &ps.all) && (r.PerTenant == 0 || ps.hasBudget(r.PerTenant, ps.timesOf(l.tenant)))
}

// timesOf returns the times of preemptions of a tenant's jobs.
func (p *preempts) timesOf(t *Tenant) *[]capcli.Seconds {
	for len(p.tenants) <= t.index {
		p.tenants = append(p.tenants, nil)
	}
	return &p.tenants[t.index]
}

// hasBudget reports whether fewer than most preemptions of the list are in the last hour; most 0 is
// any number. If not, it plans a turn for when there is one again.
func (ps *preempts) hasBudget(most int, list *[]capcli.Seconds) bool {
	if most == 0 {
		return true
	}
	old := 0
	for old < len(*list) && (*list)[old] <= ps.e.c.now-budgetHour {
		old++
	}
	*list = slices.Delete(*list, 0, old)
	if len(*list) < most {
		return true
	}
	if at := (*list)[len(*list)-most] + budgetHour; ps.wakeAt != at {
		ps.wakeAt = at
		ps.e.agenda.call(at, renewBudget)
	}
	return false
}

// preempt takes l's GPUs away for a policy, at once or after the grace. It reports whether they are
// free now.
func (ps *preempts) preempt(l *Live) bool {
	r := &ps.e.cfg.Preempts
	if !ps.mayPreempt(l) {
		return false
	}
	l.Yielded++
	if *r != (PreemptRules{}) {
		ps.done++
	}
	if r.PerHour > 0 {
		ps.all = append(ps.all, ps.e.c.now)
	}
	if r.PerTenant > 0 {
		list := ps.timesOf(l.tenant)
		*list = append(*list, ps.e.c.now)
	}
	if r.Grace == 0 || l.Since > ps.e.c.now { // what is not delivered yet needs no grace
		ps.e.evict(l, false)
		return true
	}
	l.leaves = ps.e.c.now + r.Grace
	ps.e.agenda.wake(l.leaves, leave, l)
	return false
}

// leave is the handler of the end of the grace of a job.
func leave(e *engine, p planned) {
	l := p.job
	e.preempts.graceUse += capcli.GPUTime(int64(e.cfg.Preempts.Grace) * l.Milli())
	e.evict(l, false)
	e.enqueue(l)
	e.planPatience(l)
}

// Leaves reports whether the job was preempted and keeps its GPUs for the grace.
func (l *Live) Leaves() bool { return l.leaves > 0 && l.state == running }

// renewBudget is the handler of a time at which a budget of preemptions is there again: all queues get a
// turn in which running jobs count again.
func renewBudget(e *engine, _ planned) {
	for _, q := range e.queues {
		q.dirty, q.freed = true, true
	}
}

// Restarts returns what a job loses when it is preempted.
func (t *Preemption) Restarts() *Restarts { return &t.e.cfg.Restarts }

// Preemptible reports whether preempting the running job l would free GPUs for this queue: the job
// belongs to the queue, runs in a pool of its first rank, did not go first by the
// guard against starvation, is in no pool that it has closed, and has no part on a draining node. The
// run's PreemptRules must allow it.
func (t *Preemption) Preemptible(l *Live) bool {
	if l.queue != t.q || l.GPUs == 0 || t.e.guard.letsFirst(l) || t.e.guard.shut > 0 && t.e.guard.until[l.slices[0].Pool] >= 0 || !t.e.preempts.mayPreempt(l) ||
		!slices.Contains(l.class.ranks[0], int(l.slices[0].Pool)) {
		return false
	}
	for i := range l.slices {
		if t.e.c.nodes[l.slices[i].Node].draining {
			return false
		}
	}
	return true
}

// Preempt takes l's GPUs away, after the grace of the run's PreemptRules, if they allow it. The job
// rejoins its queue at the end of the turn or of its grace. The run's Restarts decide how much of its
// work is kept. Preempt panics if the policy is no Preemptor.
func (t *Preemption) Preempt(l *Live) {
	if !t.q.preempts {
		panic("simulate: a policy preempted a job and is no Preemptor")
	}
	if l.state != running || slices.Contains(l.queue.started, l) {
		panic("simulate: a policy preempted a job that did not run before this turn")
	}
	if t.e.preempts.preempt(l) {
		t.preempted = append(t.preempted, l)
	}
}

// LostIfStopped returns the time of the current stay that l would have to repeat if it were preempted
// now: since its last checkpoint, whatever the mode of the run's Restarts.
func (t *Preemption) LostIfStopped(l *Live) capcli.Seconds {
	_, loose := l.rc.progress(l.ran(t.e.c.now))
	if l.rc.Interval == 0 {
		loose += l.saved
	}
	return loose
}
