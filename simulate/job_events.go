package simulate

import (
	"slices"

	"capcli"
)

// arrive puts the next job of the stream into its queue and returns it, or refuses it when it can
// never run and returns nil.
func (e *engine) arrive() *Live {
	if e.next.GPUs == 0 && !e.cfg.CPUJobs {
		e.meter.cpuOnly++
		return nil
	}
	l := e.live()
	if l.GPUMilli > 0 && e.c.shares == nil {
		e.mendAll()
		e.c.shareDevices(e.allRunning())
		e.markReplicas()
	}
	e.meter.arrived(e, l)
	if !e.canEver(l) {
		l.state = refused
		e.tell(Arrive, l, 0, 0)
		e.meter.cannot(e, l)
		e.serve(l, 0)
		e.slab.put(l)
		return nil
	}
	e.tell(Arrive, l, 0, 0)
	if e.delays != nil && e.putOff(l) {
		return l
	}
	e.admit(l)
	return l
}

// admit puts l, which may start from now on, into its queue.
func (e *engine) admit(l *Live) {
	if e.gate != nil {
		e.gate.arrived(l)
	}
	e.enqueue(l)
	e.planPatience(l)
}

// live makes a Live of the next job.
func (e *engine) live() *Live {
	j := &e.next
	l := e.slab.get()
	e.seq++
	e.number++
	l.Job, l.seq, l.number = *j, e.seq, e.number
	if l.Shape != nil {
		e.wantProfile(l)
	}
	if e.stages != nil {
		l.tail = e.stages.tails[l.index()]
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
	l.class = e.classOf(&l.Job)
	l.queue = l.class.queue
	l.tenant = e.tenantOf(l.Tenant)
	if l.Tags != nil || l.tenant.Tags != nil {
		l.payer = e.payerOf(l)
	}
	e.prioritise(l)
	if e.gate != nil {
		l.allowances = e.gate.allowancesOf(l)
	}
	l.rc = e.cfg.Restarts.ClassOf(&l.Job)
	if l.Shape != nil {
		if l.layout = e.layoutOf(l.Shape); l.layout != nil {
			l.layout.arrived(l.GPUs)
		}
	}
	if l.Shape != nil || l.GPUMilli > 0 && e.needs.slows {
		e.shape(l)
	}
	return l
}

// enqueue puts l, a new job or one that lost its GPUs, into its queue.
func (e *engine) enqueue(l *Live) {
	q := l.queue
	l.state, l.ripe, l.due = waiting, false, false
	if q.keyed != nil {
		l.Key = q.keyed.Key(l, e.c.now)
	} else if e.stages != nil {
		l.Key = int64(l.Submitted) // the order of arrival, which is not that of seq
	}
	q.list.Insert(entry{Key: l.Key, Seq: l.seq, Value: l.figures(e.c.now)})
	q.fresh = append(q.fresh, l)
	q.dirty = true
	e.planGuard(l)
	if e.looks != nil && l.HasWays() {
		e.planLook(l)
	}
	e.defrag.changed = true
	if e.buy != nil {
		e.buy.changed = true
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
		e.wantedBought(l, sign)
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
		e.onTime = true
		s := e.findInRanks(l, but)
		e.onTime = false
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
		if e.guard != nil && e.guard.shut > 0 && !l.HasWays() {
			pools = e.openPools(l, pools, but)
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
		return e.findByCost(c, l, pools)
	}
	if l.mould != nil {
		return e.findWay(c, l, pools)
	}
	return e.place(c, l, pools)
}

// place asks the run's placement for room for l, as it is, in the pools.
func (e *engine) place(c *Cluster, l *Live, pools []int) []Slice {
	if e.win.guard && c == e.c {
		return e.findGuarded(l, pools)
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
		e.reshape(l, s)
	}
	e.touchPool(p)
	e.c.take(s)
	l.slices = append(l.slices[:0], s...)
	if pool.MIG != nil {
		e.awaitLayout(l, p)
	}
	if l.layout != nil || e.c.state[p].domains != nil {
		e.startSpread(l)
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
	rc := l.rc
	wall := l.overhead + rc.wall(l.Run-l.saved)
	believed := l.overhead + rc.wall(max(0, l.Believed-l.saved))
	if e.cfg.KillAtLimit && l.Limit > 0 {
		rest := l.Limit - l.spent
		l.cut = wall > rest
		wall, believed = min(wall, rest), min(believed, rest)
	}
	l.believes = l.Since + believed
	if e.win.list != nil {
		e.occupy(l, 1)
	}
	if e.buy != nil {
		e.countParts(l.slices, 1)
	}
	if cell := l.queue.cell; cell.ordered {
		cell.ends.Insert(endOf(l))
	}
	e.runningN++
	e.planEnd(l, l.Since+wall)
	if l.starting = begins > now; l.starting {
		e.agenda.add(begins, Wake, l, l.run, 0)
	} else {
		e.delivered(l, p)
	}
	e.tell(Start, l, p, int(s[0].Node))
	e.stages.began(l)
}

// prepare settles how l, which starts in pool p, saves its work, and brings its data.
func (e *engine) prepare(l *Live, p int) {
	if l.rc.isOpen() {
		w := e.savingOf(l, l.slices)
		w.stays++
		l.rc = &w.RestartClass
	}
	if l.Data != nil && e.moving != nil {
		e.bring(l, p)
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

// delivered ends l's wait: it has its GPUs in pool p from now on.
func (e *engine) delivered(l *Live, p int) {
	if e.contention != nil && l.Uses != nil {
		e.contention.join(l, p)
	}
	e.meter.queued(e.c.now, -1, l.askedMilli())
	if e.ledger.over != nil && !e.c.pools[p].PaidWhole() {
		e.ledger.over.hold(p, l.Milli(), e.c.now)
	}
}

// stop takes l's slices away and records the stay. saved is the work that is kept; lost is the time
// of the stay that made no progress.
func (e *engine) stop(l *Live, saved, lost capcli.Seconds) {
	now := e.c.now
	p := int(l.slices[0].Pool)
	e.begin(l)
	if l.pace.isOn() {
		e.contention.leave(l, p)
	}
	if l.copy != nil {
		l.leaveData()
	}
	e.touchPool(p)
	if l.layout != nil || e.c.state[p].domains != nil {
		e.endSpread(l)
	}
	e.c.release(l.slices)
	e.c.state[p].account.used -= l.Milli()
	e.hold(l, -1, p)
	if e.ledger.over != nil && !e.c.pools[p].PaidWhole() {
		e.ledger.over.hold(p, -l.Milli(), now)
	}
	if e.buy != nil {
		e.countParts(l.slices, -1)
	}
	if cell := l.queue.cell; cell.ordered {
		cell.ends.Remove(int64(l.believes), l.seq)
	}
	if e.win.list != nil {
		e.occupy(l, -1)
	}
	e.runningN--
	e.topo.stopped = now
	if now > l.Since {
		l.charge(e.ledger.stay(p, l.tenant.index, int(l.payer), l.Milli(), l.Since, now, lost))
	}
	e.meter.stayed(l, now)
	if l.mould != nil && now > l.Since {
		l.mould.charge(l, now-l.Since, lost)
	}
	l.saved = saved
	l.Lost += lost
	e.defrag.changed = true
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

// finish ends l.
func (e *engine) finish(l *Live) {
	if e.stages != nil {
		if e.stages.retry(l) {
			return
		}
		l.spoilt = e.stages.fails(l.index())
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
	if e.moving != nil {
		e.sendBack(l, int(l.slices[0].Pool))
	}
	if l.rc.Shards.GB > 0 {
		kept, _ := l.rc.progress(stay - l.overhead)
		l.firstSaved(kept)
		e.store(l)
	}
	if l.mould != nil {
		e.tell(Finish, l, int(l.slices[0].Pool), int(l.slices[0].Node))
		e.finishShaped(l)
	}
	e.meter.finished(e, l)
	e.serve(l, l.Run)
	if e.delays != nil {
		e.delays.count(l, e.c.now)
	}
	if l.mould == nil {
		e.tell(Finish, l, int(l.slices[0].Pool), int(l.slices[0].Node))
	}
	if e.stages != nil {
		e.stages.finish(l)
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
		l.onSpot = e.c.pools[p].Terms == Spot
		if e.cfg.Charges != nil {
			l.charged = e.cfg.Charges(p, e.ledger.rec.Start+capcli.Time(e.c.now))
		}
		l.wait(-1)
	}
	for _, a := range l.allowances {
		a.hold(l, sign, e.c.now)
	}
}

// hold adds a job to the tenant's holdings (sign +1), or subtracts it (-1).
func (t *Tenant) hold(l *Live, sign int) {
	t.used += sign * l.GPUs
	t.milli += int64(sign) * l.Milli()
	t.host[0] += int64(sign) * l.CPUMilli
	t.host[1] += int64(sign) * l.MemMiB
}

func (e *engine) addTenant(t *Tenant) {
	if t.Weight <= 0 {
		t.Weight = 1
	}
	t.index = len(e.tenantList)
	if t.now = &e.c.now; e.gate != nil {
		e.gate.join(t)
	}
	e.tenantList = append(e.tenantList, t)
	e.tenants[t.Name] = t
	e.ledger.rec.Tenants = append(e.ledger.rec.Tenants, t.Name)
}

func (e *engine) tenantOf(name string) *Tenant {
	if e.lastTenant != nil && e.lastTenant.Name == name {
		return e.lastTenant
	}
	t, ok := e.tenants[name]
	if !ok {
		t = &Tenant{Name: name}
		e.addTenant(t)
	}
	e.lastTenant = t
	return t
}
