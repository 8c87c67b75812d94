package slurm

import (
	"cmp"
	"slices"
)

// schedule is the main scheduler: it goes down the queue and starts what fits now. The first job of a
// partition that does not fit stops the partition, and keeps its nodes from others.
func (c *cluster) schedule(ms int64) {
	now := ms / 1000
	avail := slices.Clone(c.up)
	failed := map[string]bool{}
	for k, rec := range c.order() {
		if k >= c.par.depth {
			return
		}
		if rec.state != pending || failed[rec.part.Name] || !c.allows(rec, rec.TRES) {
			continue
		}
		among := slices.Clone(rec.part.set)
		among.keep(avail)
		c.reserved(rec.job, among, now, now+rec.Limit)
		if c.try(rec, among, ms, "SchedMain") || !c.couldRun(rec, now) || !c.allows(rec, c.wouldHold(rec, among)) {
			continue
		}
		failed[rec.part.Name] = true
		avail.remove(rec.part.set)
	}
}

// couldRun reports whether a job would fit if nothing else ran and no node were drained, on the nodes that
// nobody else has reserved.
func (c *cluster) couldRun(rec record, now int64) bool {
	r := c.room()
	for i, d := range c.nodes {
		r[i] = allOf(d)
	}
	among := slices.Clone(rec.part.set)
	c.reserved(rec.job, among, now, now+rec.Limit)
	return c.choose(r, &rec.req, among, true) != nil
}

// wouldHold returns what a job would hold if it started now on nodes of among, or nil.
func (c *cluster) wouldHold(rec record, among set) tres {
	r := c.room()
	on := c.choose(r, &rec.req, among, true)
	if on == nil {
		return nil
	}
	return c.allocated(c.divide(r, &rec.req, on), rec.part)
}

// try starts a job on nodes of among. Where it fits only after others are preempted, it preempts them and
// returns false: the job starts when they are gone.
func (c *cluster) try(rec record, among set, ms int64, by string) bool {
	r := c.room()
	on := c.choose(r, &rec.req, among, true)
	if on == nil {
		for _, v := range c.victims(rec, among, ms/1000) {
			c.evict(v, ms)
		}
		return false
	}
	j := rec.job
	held := c.divide(r, &rec.req, on)
	if !c.allows(rec, c.allocated(held, rec.part)) {
		return false
	}
	j.on, j.within, j.part, j.holds = held, setOn(on, len(c.nodes)), rec.part, rec.owners
	c.change(ms)
	j.state, j.start, j.ends, j.charged = running, ms/1000, ms+j.lives, ms/1000
	c.free.take(j, 1)
	c.hold(j, 1)
	c.queue = slices.DeleteFunc(c.queue, func(o *job) bool { return o == j })
	at, _ := slices.BinarySearchFunc(c.runs, j, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.limitEnd(), b.limitEnd()), cmp.Compare(a.number, b.number))
	})
	c.runs = slices.Insert(c.runs, at, j)
	j.attempts = append(j.attempts, attempt{
		Submit: j.Submit, Eligible: j.eligible, Start: new(j.start), Nodes: c.compress(on), Flags: by, Partition: j.part.Name,
		Priority: j.priority[slices.Index(j.parts, j.part)], State: "RUNNING",
	})
	return true
}

// change notes that a job starts or ends.
func (c *cluster) change(ms int64) {
	c.dirty, c.dirtyMain, c.moved = true, true, ms
	clear(c.fits)
}

// stop takes a running job off its nodes.
func (c *cluster) stop(j *job, ms int64, how string) {
	c.change(ms)
	c.charge(j, ms/1000)
	c.free.take(j, -1)
	c.hold(j, -1)
	j.on, j.state, j.ended, j.how = nil, ended, ms, how
	c.runs = slices.DeleteFunc(c.runs, func(o *job) bool { return o == j })
	last := &j.attempts[len(j.attempts)-1]
	last.End, last.State = new(ms/1000), how
}

// evict preempts a running job: it waits again, or is cancelled.
func (c *cluster) evict(v *job, ms int64) {
	mode := c.par.mode
	if v.QOS != nil && v.QOS.PreemptMode != "" && v.QOS.PreemptMode != "cluster" {
		mode = v.QOS.PreemptMode
	}
	c.stop(v, ms, "PREEMPTED")
	if mode == "CANCEL" {
		return
	}
	now := ms / 1000
	v.state, v.Submit, v.begin, v.Accrue, v.how = pending, now, now+c.par.requeueAfter, 0, ""
	v.eligible = v.begin
	c.waiting = append(c.waiting, v)
}

// charge books the usage of a running job up to a second.
func (c *cluster) charge(j *job, second int64) {
	if second <= j.charged {
		return
	}
	factor := 1.0
	if j.QOS != nil {
		factor = j.QOS.UsageFactor
	}
	j.Assoc.add(c.site.billing(j.part, c.allocated(j.on, j.part)) * float64(second-j.charged) * factor)
	j.charged = second
}
