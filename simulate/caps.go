package simulate

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Caps limit what the jobs of one tenant may have at once. The tenants below it count too: the caps
// of "lab" hold for the jobs of "lab" and "lab/ana" together. A cap of 0 is none. No cap is ever
// exceeded: a job that would exceed one waits, and later jobs of others pass it.
type Caps struct {
	RunningJobs int            // jobs that hold GPUs
	GPUs        int            // GPUs held
	GPUTime     capcli.GPUTime // sum over the running jobs of GPUs x remaining estimated run time (Slurm's GrpTRESRunMins)
	PendingJobs int            // waiting jobs that the scheduler considers: see below
	Hoard       Hoard
}

// Pending jobs: a tenant at its cap has no more jobs considered. A further job is held, as if its
// user submitted it later: it is considered when an earlier job of the tenant has started. No job is
// refused. The wait counts from the submission. A job that lost its GPUs is considered at once.

// Hoard limits how long a tenant may hold many GPUs: if it has held more than GPUs without a break
// for the time For, none of its jobs starts until it holds at most GPUs. A zero For is no limit.
type Hoard struct {
	GPUs int
	For  capcli.Seconds
}

func (c *Caps) isSet() bool { return *c != Caps{} }

// allowance is the current state of the caps and the budget of one tenant and the tenants below it.
type allowance struct {
	name   string
	caps   Caps
	budget *Budget
	stated bool // in the run's tenants; else it has the caps of each tenant

	index      int // in gate.all
	jobs, gpus int
	pending    int            // waiting jobs that are considered
	above      capcli.Seconds // since when it holds more than Hoard.GPUs; -1 when it does not
	running    []charged      // kept if caps.GPUTime or a budget needs it
	heldBack   []*Live        // jobs over PendingJobs, in order of arrival
	fitsAt     capcli.Seconds // earliest time at which a job refused for GPUTime may fit; 0 is none

	purse
}

// charged is a running job, and what it spends of a budget.
type charged struct {
	*Live
	spot bool  // its stay is on a spot pool, which does not count
	rate int64 // thousandths of GPUs; of money, times the price when it started
}

// gate enforces caps and budgets.
type gate struct {
	e       *engine
	on      bool // some tenant or class has a cap or a budget
	each    Caps // of every tenant that states none
	all     []*allowance
	timed   []*allowance // those that let jobs start as time passes
	holding []*allowance // those that hold back jobs
	byName  map[string]*allowance
	byClass map[classTenant][]*allowance // of jobs of a priority class with caps
	wakeAt  capcli.Seconds               // the next planned wake
	pledges Pledges
}

func newGate(e *engine) gate {
	cfg := &e.cfg
	g := gate{e: e, each: cfg.EachTenant, byName: map[string]*allowance{}, byClass: map[classTenant][]*allowance{}, wakeAt: -1}
	for i := range cfg.Tenants {
		if t := &cfg.Tenants[i]; t.Caps.isSet() || t.Budget != nil {
			a := g.add(t.Name, t.Caps, t.Budget)
			a.charges, a.spotPool = cfg.Charges, func(p int) bool { return cfg.Pools[p].Terms == Spot }
			a.stated, g.byName[t.Name] = true, a
		}
	}
	classes := slices.ContainsFunc(cfg.Priorities, func(c PriorityClass) bool { return c.Caps.isSet() || c.EachTenant.isSet() })
	g.on = len(g.all) > 0 || g.each.isSet() || classes
	return g
}

func (g *gate) add(name string, c Caps, b *Budget) *allowance {
	a := &allowance{name: name, caps: c, budget: b, above: -1}
	if b != nil || c.GPUTime > 0 {
		g.timed = append(g.timed, a)
	}
	a.index = len(g.all)
	g.all = append(g.all, a)
	return a
}

// open begins the accounts of budgets at the start of the run.
func (g *gate) open(start capcli.Time) {
	for _, a := range g.all {
		if a.budget != nil {
			a.open(start)
		}
	}
}

// join gives a tenant the allowances that its jobs count against: its own first, then those above.
func (g *gate) join(t *Tenant) {
	own := g.byName[t.Name]
	if own == nil && g.each.isSet() {
		own = g.add(t.Name, g.each, nil)
		g.byName[t.Name] = own
	}
	if own != nil {
		t.allowances = append(t.allowances, own)
	}
	for name := t.Name; ; {
		i := strings.LastIndexByte(name, '/')
		if i <= 0 {
			return
		}
		name = name[:i]
		if a := g.byName[name]; a != nil && a.stated {
			t.allowances = append(t.allowances, a)
		}
	}
}

// Limited reports whether jobs of the tenant can be held back by a quota, a cap or a budget.
func (t *Tenant) Limited() bool {
	return t.Quota > 0 || len(t.allowances) > 0 || t.Caps.isSet() || t.Budget != nil
}

// heldNow returns the number of waiting jobs that a quota, a cap or a budget holds.
func (e *engine) heldNow() (n int64) {
	for l := range e.allWaiting() {
		if l.OverQuota() {
			n++
		}
	}
	return n
}

// IsLimited reports whether l can be held back by a quota, a cap or a budget.
func (l *Live) IsLimited() bool { return l.tenant.Quota > 0 || len(l.allowances) > 0 }

// classTenant is a priority class, and a tenant if its caps are those of each; nil is all tenants.
type classTenant struct {
	class  *PriorityClass
	tenant *Tenant
}

// allowancesOf returns what l counts against: those of its tenant, and of its priority class.
func (g *gate) allowancesOf(l *Live) []*allowance {
	c := l.priority
	if c == nil || !c.Caps.isSet() && !c.EachTenant.isSet() {
		return l.tenant.allowances
	}
	key := classTenant{c, l.tenant}
	all, known := g.byClass[key]
	if known {
		return all
	}
	all = slices.Clone(l.tenant.allowances)
	if c.EachTenant.isSet() {
		all = append(all, g.add("class "+c.Name+" of "+l.tenant.Name, c.EachTenant, nil))
	}
	if c.Caps.isSet() {
		group := g.byClass[classTenant{c, nil}]
		if group == nil {
			group = []*allowance{g.add("class "+c.Name, c.Caps, nil)}
			g.byClass[classTenant{c, nil}] = group
		}
		all = append(all, group...)
	}
	g.byClass[key] = all
	return all
}

// isHeld reports whether a cap or a budget forbids the waiting job l to start now.
func (l *Live) isHeld(now capcli.Seconds) bool {
	if l.heldBack {
		return true
	}
	for _, a := range l.allowances {
		if !a.allows(l, now) {
			return true
		}
	}
	return false
}

// allows reports whether the caps and the budget of a let the waiting job l start.
func (a *allowance) allows(l *Live, now capcli.Seconds) bool {
	return a.capsAllow(l, now) && (a.budget == nil || a.affords(l, now))
}

// capsAllow reports whether the caps of a let the waiting job l start.
func (a *allowance) capsAllow(l *Live, now capcli.Seconds) bool {
	c := &a.caps
	if c.RunningJobs > 0 && a.jobs >= c.RunningJobs || c.GPUs > 0 && a.gpus+l.LeastGPUs() > c.GPUs || a.hoards(now) {
		return false
	}
	if c.GPUTime > 0 {
		if over := a.ahead(now) + l.ahead(now) - c.GPUTime; over > 0 {
			a.noteFit(over, now)
			return false
		}
	}
	return true
}

// ahead returns the GPU time that the running jobs still need, by their estimates.
func (a *allowance) ahead(now capcli.Seconds) (sum capcli.GPUTime) {
	for _, l := range a.running {
		sum += l.ahead(now)
	}
	return sum
}

// ahead returns the GPU time that l still needs, by its estimate; at least that of a second.
func (l *Live) ahead(now capcli.Seconds) capcli.GPUTime {
	return capcli.GPUTime(int64(l.LeftBelieved(now)) * l.Milli())
}

// noteFit notes when the running jobs will need less by over, at the earliest.
func (a *allowance) noteFit(over capcli.GPUTime, now capcli.Seconds) {
	var milli int64
	for _, l := range a.running {
		milli += l.Milli()
	}
	if milli == 0 {
		return
	}
	at := now + capcli.Seconds((int64(over)+milli-1)/milli)
	if a.fitsAt <= now || at < a.fitsAt {
		a.fitsAt = at
	}
}

// hoards reports whether the tenant has held many GPUs for too long.
func (a *allowance) hoards(now capcli.Seconds) bool {
	return a.caps.Hoard.For > 0 && a.above >= 0 && now-a.above >= a.caps.Hoard.For
}

// hold counts a job that starts in pool p (sign +1) or stops (-1).
func (a *allowance) hold(l *Live, sign, p int, now capcli.Seconds) {
	if a.budget != nil {
		a.accrue(now)
	}
	a.jobs += sign
	a.gpus += sign * l.GPUs
	switch many := a.caps.Hoard.For > 0 && a.gpus > a.caps.Hoard.GPUs; {
	case !many:
		a.above = -1
	case a.above < 0:
		a.above = now
	}
	if a.caps.GPUTime == 0 && a.budget == nil {
		return
	}
	if sign > 0 {
		c := charged{Live: l}
		if a.budget != nil && !a.spotPool(p) {
			c.rate = a.rateIn(l, p, now)
		} else {
			c.spot = true
		}
		a.rate += c.rate
		a.running = append(a.running, c)
	} else if i := slices.IndexFunc(a.running, func(c charged) bool { return c.Live == l }); i >= 0 {
		a.rate -= a.running[i].rate
		a.running = slices.Delete(a.running, i, i+1)
	}
}

// neverAllows returns why a cap or a budget forbids d for ever; "" if none does.
func (a *allowance) neverAllows(d demand, spot bool) string {
	switch need := capcli.GPUTime(int64(d.left) * d.milli); {
	case a.caps.GPUs > 0 && d.gpus > a.caps.GPUs:
		return fmt.Sprintf("wants %d GPUs, the cap of %s is %d", d.gpus, a.name, a.caps.GPUs)
	case a.caps.GPUTime > 0 && need > a.caps.GPUTime:
		return fmt.Sprintf("needs %.1f GPU-hours by its limit, the running jobs of %s may need %.1f", need.Hours(), a.name, a.caps.GPUTime.Hours())
	case a.budget != nil:
		return a.neverAffords(d, spot)
	}
	return ""
}

// whyHeld returns why the caps or the budget of a tenant forbid a demand of l for ever; "" if they do not.
func (cs *classes) whyHeld(l *Live, d demand) string {
	spot := slices.ContainsFunc(l.class.ranks, func(pools []int) bool {
		return slices.ContainsFunc(pools, func(p int) bool { return cs.e.c.pools[p].Terms == Spot })
	})
	for _, a := range l.allowances {
		if why := a.neverAllows(d, spot); why != "" {
			return why
		}
	}
	return ""
}

// arrived counts the new job l among the pending jobs, or holds it back.
func (g *gate) arrived(l *Live) {
	for _, a := range l.allowances {
		if a.caps.PendingJobs > 0 && (a.pending >= a.caps.PendingJobs || len(a.heldBack) > 0) {
			l.heldBack = true
			if a.heldBack = append(a.heldBack, l); len(a.heldBack) == 1 {
				g.holding = append(g.holding, a)
			}
			return
		}
	}
	l.wait(1)
}

// wait adds the waiting job l to the pending jobs (sign +1), or takes it away (-1).
func (l *Live) wait(sign int) {
	for _, a := range l.allowances {
		a.pending += sign
	}
}

// unwait takes the waiting job l, which is dropped, from the pending jobs or from those held back.
func (l *Live) unwait() {
	if !l.heldBack {
		l.wait(-1)
		return
	}
	l.heldBack = false
	for _, a := range l.allowances {
		a.heldBack = slices.DeleteFunc(a.heldBack, func(h *Live) bool { return h == l })
	}
}

// settle ends an instant: it lets in jobs that were held back, and plans the next time at which a
// cap or a budget lets a job start.
func (g *gate) settle() {
	if len(g.holding) > 0 && g.letInAll() {
		g.e.agenda.call(g.e.c.now, nothing) // the queues are marked
	}
	next := noDue
	for _, a := range g.timed {
		if a.fitsAt > g.e.c.now {
			next = min(next, a.fitsAt)
		}
		if a.budget != nil {
			next = min(next, a.nextChange(g.e.c.now))
		}
	}
	if next < noDue && next != g.wakeAt {
		g.wakeAt = next
		g.e.agenda.call(next, openGate)
	}
}

// letInAll shows the jobs to the policy that are held back no longer. It reports whether there was
// one.
func (g *gate) letInAll() (any bool) {
	for _, a := range slices.Clone(g.holding) {
		for len(a.heldBack) > 0 && a.pending < a.caps.PendingJobs {
			l := a.heldBack[0]
			a.heldBack = slices.Delete(a.heldBack, 0, 1)
			if l.heldBack = g.isBeyond(l, a); l.heldBack {
				continue
			}
			l.wait(1)
			l.queue.letIn(l)
			any = true
		}
	}
	g.holding = slices.DeleteFunc(g.holding, func(a *allowance) bool { return len(a.heldBack) == 0 })
	return any
}

// isBeyond reports whether l, which a lets in, is over the cap of pending jobs of a tenant above.
// It then waits for that tenant.
func (g *gate) isBeyond(l *Live, a *allowance) bool {
	for _, b := range l.allowances {
		if b != a && b.caps.PendingJobs > 0 && b.pending >= b.caps.PendingJobs {
			if b.heldBack = append(b.heldBack, l); len(b.heldBack) == 1 {
				g.holding = append(g.holding, b)
			}
			return true
		}
	}
	return false
}

// letIn shows a job that was held back to the policy.
func (q *queue) letIn(l *Live) {
	if l.bucket != nil {
		q.requests.remove(l)
		q.requests.add(l)
	}
	if !slices.Contains(q.fresh, l) { // it may have come since the queue's last turn
		q.fresh = append(q.fresh, l)
	}
	q.dirty = true
}

// openGate is the handler of a time at which caps or budgets may let jobs start: running jobs of a tenant
// whose budget is spent are stopped if its rule says so, and all queues get a turn.
func openGate(e *engine, _ planned) {
	e.gate.wakeAt = -1
	for _, a := range e.gate.timed {
		if a.fitsAt <= e.c.now {
			a.fitsAt = 0
		}
		if a.budget != nil {
			e.gate.enforce(a)
		}
	}
	for _, q := range e.queues {
		q.dirty, q.freed = true, true
	}
}
