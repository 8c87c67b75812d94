package simulate

import (
	"slices"

	"capcli"
)

// PreemptRules bound what policies may take away. They hold for every policy: Turn.Preemptible is
// false where they forbid it, and Turn.Preempt then does nothing.
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
