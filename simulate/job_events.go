package simulate

import (
	"slices"

	"capcli"
)

// arrive puts the next job of the stream into its queue and returns it, or refuses it when it can
// never run and returns nil.
func (e *engine) arrive(j *capcli.Job) *Live {
	if j.GPUs == 0 && !e.cfg.CPUJobs {
		e.meter.cpuOnly++
		return nil
	}
	l := e.live(j)
	if l.GPUMilli > 0 && e.c.shares == nil {
		e.gpus.mendAll()
		e.c.shareDevices(e.allRunning())
		e.svc.markReplicas()
	}
	e.meter.arrived(e, l)
	if !e.classes.canEver(l) {
		l.state = refused
		e.tell(Arrive, l, 0, 0)
		e.meter.cannot(e, l)
		e.serve(l, 0)
		e.slab.put(l)
		return nil
	}
	e.tell(Arrive, l, 0, 0)
	for _, p := range e.hooks.hold {
		if p.putOff(l) {
			return l
		}
	}
	e.admit(l)
	return l
}

// admit puts l, which may start from now on, into its queue.
func (e *engine) admit(l *Live) {
	e.gate.arrived(l)
	e.enqueue(l)
	e.planPatience(l)
}

func (e *engine) live(j *capcli.Job) *Live {
	l := e.slab.get()
	e.in.seq++
	e.in.number++
	l.Job, l.seq, l.number = *j, e.in.seq, e.in.number
	if l.Shape != nil {
		e.classes.wantProfile(l)
	}
	if e.cfg.KillAtLimit && j.Limit > 0 && j.Run > j.Limit {
		l.Run, l.over = j.Limit, true
	}
	l.Submitted, l.Since, l.opens = e.c.now, e.c.now, e.c.now
	l.Believed = l.Estimate()
	if e.cfg.Settings.Perfect {
		l.Believed = l.Run
	}
	l.dueAt = e.dueOf(&l.Job)
	l.class = e.classes.classOf(&l.Job)
	l.queue = l.class.queue
	l.tenant = e.tenants.tenantOf(l.Tenant)
	if l.Tags != nil || l.tenant.Tags != nil {
		l.payer = e.payers.payerOf(l)
	}
	e.prioritise(l)
	l.allowances = e.gate.allowancesOf(l)
	l.rc = e.cfg.Restarts.ClassOf(&l.Job)
	if l.Shape != nil {
		if l.layout = e.topo.layoutOf(l.Shape); l.layout != nil {
			l.layout.arrived(l.GPUs)
		}
	}
	if l.Shape != nil || l.GPUMilli > 0 && e.classes.needs.slows {
		e.shapes.shape(l)
	}
	return l
}

// enqueue puts l, a new job or one that lost its GPUs, into its queue.
func (e *engine) enqueue(l *Live) {
	q := l.queue
	l.state, l.ripe, l.due = waiting, false, false
	if l.Key = int64(l.Submitted); q.keyed != nil {
		l.Key = q.keyed.Key(l)
	}
	q.list.Insert(entry{Key: l.Key, Seq: l.seq, Value: l.figures(e.c.now)})
	q.fresh = append(q.fresh, l)
	q.dirty = true
	for _, p := range e.hooks.join {
		p.joined(l)
	}
	e.wanted(l, 1)
	e.meter.queued(e.c.now, 1, l.Milli())
}

// wanted adds l's GPUs to the waiting demand on its committed pools (sign +1), or subtracts them
// (-1).
func (e *engine) wanted(l *Live, sign int64) {
	for _, p := range l.class.committed {
		a := &e.c.state[p].account
		e.ledger.touch(p, a, e.c.now)
		a.wanted += sign * l.Milli()
	}
	if len(l.class.bought) > 0 {
		e.buy.wantedBought(l, sign)
	}
}

// find returns the slices in which l could start now; nil if there are none. It looks at the first
// rank and, once l's patience has ended, at the others.
func (e *engine) find(l *Live) []Slice { return e.findBut(l, -1) }

// findBut is find without pool but; -1 leaves out none.
func (e *engine) findBut(l *Live, but int) []Slice {
	if l.OverQuota() {
		return nil
	}
	if e.cfg.Chooser != nil && l.HasWays() && l.dueAt != noDue {
		e.shapes.onTime = true
		s := e.findInRanks(l, but)
		e.shapes.onTime = false
		if len(s) > 0 {
			return s
		}
	}
	return e.findInRanks(l, but)
}

// findInRanks returns room for l in the ranks of pools that it may use now.
func (e *engine) findInRanks(l *Live, but int) []Slice {
	for r, pools := range l.class.ranks {
		if r > 0 && !e.opened(l) {
			break
		}
		if e.guard.shut > 0 && !l.HasWays() {
			pools = e.guard.openPools(l, pools, but)
		} else if at := slices.Index(pools, but); at >= 0 {
			e.others = append(append(e.others[:0], pools[:at]...), pools[at+1:]...)
			pools = e.others
		}
		if s := e.findIn(e.c, l, pools); len(s) > 0 {
			return s
		}
	}
	return nil
}

// findIn returns room for l in the pools: where the run's placement puts it, in the first of its ways that
// has room.
func (e *engine) findIn(c *Cluster, l *Live, pools []int) []Slice {
	if e.cfg.Coster != nil && len(pools) > 1 {
		return e.moving.findByCost(c, l, pools)
	}
	if l.mould != nil {
		return e.shapes.findWay(c, l, pools)
	}
	return e.place(c, l, pools)
}

// place asks the run's placement for room for l, as it is, in the pools.
func (e *engine) place(c *Cluster, l *Live, pools []int) []Slice {
	if e.win.guard && c == e.c {
		return e.win.findGuarded(l, pools)
	}
	return c.Find(e.cfg.Placement, l, pools)
}

// start gives the slices to l and plans its end.
func (e *engine) start(l *Live, s []Slice) {
	now := e.c.now
	p := int(s[0].Pool)
	pool := &e.c.pools[p]
	e.wanted(l, -1)
	if l.mould != nil {
		e.shapes.reshape(l, s)
	}
	e.touchPool(p)
	e.c.take(s)
	l.slices = append(l.slices[:0], s...)
	if pool.MIG != nil {
		e.awaitLayout(l, p)
	}
	if l.layout != nil || e.c.state[p].domains != nil {
		e.topo.startSpread(l)
	}
	e.c.state[p].account.used += l.Milli()
	e.hold(l, 1, p)
	l.queue.started = append(l.queue.started, l)
	l.state = running
	if l.ripe {
		l.ripe, l.due = false, false
		l.queue.ripeN--
	}
	l.run++
	begins := now
	if !pool.PaidWhole() {
		begins += pool.Lead // ordered now, delivered after the lead time
	}
	l.begin(begins)
	e.prepare(l, p)
	ends := l.Since + e.lengthOf(l)
	for _, p := range e.hooks.start {
		p.started(l)
	}
	if cell := l.queue.cell; cell.ordered {
		cell.ends.Insert(endOf(l))
	}
	e.runningN++
	e.agenda.add(ends, Finish, end, l, int(l.run))
	if l.starting = begins > now; l.starting {
		e.agenda.wake(begins, gpusCome, l)
	} else {
		e.delivered(l, p)
	}
	e.tell(Start, l, p, int(s[0].Node))
	for _, p := range e.hooks.begin {
		p.began(l, ends)
	}
}

// lengthOf returns how long the stay of l is that begins, and notes how long it is believed to be.
func (e *engine) lengthOf(l *Live) capcli.Seconds {
	wall := l.overhead + l.rc.wall(l.Run-l.saved)
	believed := l.overhead + l.rc.wall(max(0, l.Believed-l.saved))
	if e.cfg.KillAtLimit && l.Limit > 0 {
		rest := l.Limit - l.spent
		l.cut = wall > rest
		wall, believed = min(wall, rest), min(believed, rest)
	}
	l.believes = l.Since + believed
	return wall
}

// prepare settles how l, which starts in pool p, saves its work, and brings its data.
func (e *engine) prepare(l *Live, p int) {
	if l.rc.isOpen() {
		w := e.savings.savingOf(l, l.slices)
		w.stays++
		l.rc = &w.RestartClass
	}
	if l.Data != nil && e.moving.of != nil {
		e.moving.bring(l, p)
	}
}

// begin notes the time from which l holds its GPUs.
func (l *Live) begin(at capcli.Seconds) {
	l.Queued += at - l.Since
	l.Since = at
	if l.FirstStart < 0 {
		l.FirstStart = l.Since
	}
}

// begin ends l's wait when its ordered GPUs are delivered, or when it stops before that.
func (e *engine) begin(l *Live) {
	if l.starting {
		l.starting = false
		e.delivered(l, int(l.slices[0].Pool))
	}
}

// gpusCome is the handler of the delivery of GPUs that a job ordered.
func gpusCome(e *engine, p planned) { e.begin(p.job) }

// delivered ends l's wait: it has its GPUs in pool p from now on.
func (e *engine) delivered(l *Live, p int) {
	if l.Uses != nil && len(e.contention.links) > 0 {
		e.contention.join(l, p)
	}
	e.meter.queued(e.c.now, -1, l.askedMilli())
	if e.ledger.over != nil && !e.c.pools[p].PaidWhole() {
		e.ledger.over.hold(p, l.Milli(), e.c.now)
	}
}

// stop takes l's slices away and records the stay. saved is the work that is kept; lost is the time
// of the stay that made no progress, with that in which it waited for its data.
func (e *engine) stop(l *Live, saved, lost capcli.Seconds) {
	now := e.c.now
	p := int(l.slices[0].Pool)
	waited := e.moving.waited(l, now-l.Since) // for its data, which is no work done again
	lost -= waited
	e.begin(l)
	if l.pace.isOn() {
		e.contention.leave(l)
	}
	e.touchPool(p)
	if l.layout != nil || e.c.state[p].domains != nil {
		e.topo.endSpread(l)
	}
	e.c.release(l.slices)
	e.c.state[p].account.used -= l.Milli()
	e.hold(l, -1, p)
	if e.ledger.over != nil && !e.c.pools[p].PaidWhole() {
		e.ledger.over.hold(p, -l.Milli(), now)
	}
	for _, p := range e.hooks.stop {
		p.stopped(l)
	}
	if cell := l.queue.cell; cell.ordered {
		cell.ends.Remove(int64(l.believes), l.seq)
	}
	e.runningN--
	e.topo.stopped = now
	if now > l.Since {
		l.charge(e.ledger.stay(p, l.tenant.index, int(l.payer), l.Milli(), l.Since, now, lost))
	}
	e.meter.stayed(l, now)
	if l.mould != nil && now > l.Since {
		l.mould.charge(l, now-l.Since, lost, waited)
	}
	l.saved = saved
	l.Lost += lost
	concerned := e.c.state[p].queues
	if l.IsLimited() {
		concerned = e.queues // jobs held back by its quota may be in any queue
	}
	for _, q := range concerned {
		q.dirty, q.freed = true, true
	}
}

// charge adds a stay to the GPU time of the job, by pool.
func (l *Live) charge(stay []Hold) {
	for _, s := range stay {
		i := slices.IndexFunc(l.holds, func(h Hold) bool { return h.Pool == s.Pool && h.Since == s.Since })
		if i < 0 {
			l.holds = append(l.holds, s)
			continue
		}
		l.holds[i].add(s.Used, s.Billed)
	}
}

func (e *engine) finish(l *Live) {
	if e.in.source.retry(l) {
		return
	}
	stay := e.c.now - l.Since
	if l.cut { // the limit came first: the work done so far is all the work of the job
		kept, loose := l.rc.progress(l.ran(e.c.now))
		l.Run = min(l.Run, l.saved+kept+loose)
	}
	if l.cut || l.over {
		e.meter.killed++
	}
	e.stop(l, l.Run, stay-(l.Run-l.saved))
	l.state = finished
	l.Ended = e.c.now
	if l.rc.Shards.GB > 0 {
		kept, _ := l.rc.progress(stay - l.overhead)
		e.savings.firstSaved(l, kept)
		e.savings.store(l)
	}
	if l.mould != nil {
		e.tell(Finish, l, int(l.slices[0].Pool), int(l.slices[0].Node))
		e.shapes.finishShaped(l)
	}
	e.meter.finished(e, l)
	e.serve(l, l.Run)
	if l.mould == nil {
		e.tell(Finish, l, int(l.slices[0].Pool), int(l.slices[0].Node))
	}
	for _, p := range e.hooks.end {
		p.ended(l)
	}
	e.slab.put(l)
}

// touchPool brings the account of pool p up to date. Call it before p changes.
func (e *engine) touchPool(p int) { e.ledger.touch(p, &e.c.state[p].account, e.c.now) }

// hold adds a job that starts in pool p to the holdings of its tenant (sign +1), or subtracts one
// that stops (-1).
func (e *engine) hold(l *Live, sign, p int) {
	l.tenant.hold(l, sign)
	if len(l.allowances) == 0 {
		return
	}
	if sign > 0 {
		l.wait(-1)
	}
	for _, a := range l.allowances {
		a.hold(l, sign, p, e.c.now)
	}
}

// hold adds a job to the tenant's holdings (sign +1), or subtracts it (-1).
func (t *Tenant) hold(l *Live, sign int) {
	t.used += sign * l.GPUs
	t.milli += int64(sign) * l.Milli()
	t.host[0] += int64(sign) * l.CPUMilli
	t.host[1] += int64(sign) * l.MemMiB
}

// tenants are the tenants of a run.
type tenants struct {
	e      *engine
	byName map[string]*Tenant
	list   []*Tenant // each at its index
	last   *Tenant   // that tenantOf returned
}

func (ts *tenants) addTenant(t *Tenant) {
	if t.Weight <= 0 {
		t.Weight = 1
	}
	t.index = len(ts.list)
	t.now = &ts.e.c.now
	ts.e.gate.join(t)
	ts.list = append(ts.list, t)
	ts.byName[t.Name] = t
	ts.e.ledger.rec.Tenants = append(ts.e.ledger.rec.Tenants, t.Name)
}

// tenantOf returns the tenant of a name, and adds one that is new.
func (ts *tenants) tenantOf(name string) *Tenant {
	if ts.last != nil && ts.last.Name == name {
		return ts.last
	}
	t, ok := ts.byName[name]
	if !ok {
		t = &Tenant{Name: name}
		ts.addTenant(t)
	}
	ts.last = t
	return t
}
