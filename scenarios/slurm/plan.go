package slurm

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// planned is the start that backfill plans for a job.
type planned struct {
	job        *job
	start, end int64
	nodes      []int
}

// interval is a time with the nodes that no plan has taken.
type interval struct {
	begin, end int64
	avail      set
}

// reserved takes the nodes out of s that a reservation of others has within a time. It returns the end of
// the first such reservation, or 0.
func (c *cluster) reserved(j *job, s set, begin, end int64) (until int64) {
	for _, b := range c.books {
		if b.start < end && b.end > begin && b.nodes.countIn(s) > 0 && !slices.Contains(b.users, j.user) {
			s.remove(b.nodes)
			if until == 0 || b.end < until {
				until = b.end
			}
		}
	}
	return until
}

// backfill makes one pass: it starts the jobs that fit until their limit without moving a plan before
// them, and plans the others.
func (c *cluster) backfill(ms int64) (plan []planned) {
	now := ms / 1000
	space := []interval{{now, now + c.par.window, slices.Clone(c.up)}}
	seen := map[[2]string]int{}
	within := func(user, part string, most int) bool { // counts one more, and holds it to a limit; 0 is none
		seen[[2]string{user, part}]++
		return most == 0 || seen[[2]string{user, part}] <= most
	}
	tested, started := 0, 0
	for _, rec := range c.order() {
		if rec.state != pending || !within("", rec.part.Name, c.par.maxPart) || !within(rec.user, "", c.par.maxUser) ||
			!within(rec.user, "account "+rec.account, c.par.maxAssoc) || !within(rec.user, "part "+rec.part.Name, c.par.maxUserPart) ||
			!c.allows(rec, rec.TRES) {
			continue
		}
		if tested++; tested > c.par.maxTest {
			break
		}
		p, ok := c.place(rec, &space, ms)
		switch {
		case !ok:
		case rec.state != running:
			plan = append(plan, p)
		default:
			if started++; started == c.par.maxStart {
				return plan
			}
		}
	}
	return plan
}

// place starts a job or plans it. It returns false where it has no time in the window.
func (c *cluster) place(rec record, space *[]interval, ms int64) (planned, bool) {
	now := ms / 1000
	from, k := now, 0
	for tries := 0; tries < 10*len(*space)+20; tries++ {
		for k+1 < len(*space) && (*space)[k].end <= from {
			k++
		}
		avail, later := c.freeNodes(rec, (*space)[k:], from)
		start, on := c.earliest(rec, avail, now)
		if on == nil {
			if later == 0 {
				return planned{}, false
			}
			from = later
			continue
		}
		nodes := setOn(on, len(c.nodes))
		if start > from {
			if until := c.reserved(rec.job, slices.Clone(nodes), start, start+rec.Limit); until > 0 {
				from = max(from+1, c.planAfter(until))
				continue
			}
		}
		c.give(rec, on)
		start = max(start, from)
		if start <= now && c.try(rec, avail, ms, "SchedBackfill") {
			return planned{}, true
		}
		if start > now+c.par.window || start <= now && !c.allows(rec, c.wouldHold(rec, avail)) {
			return planned{}, false
		}
		until := (start + rec.Limit) / c.par.resolution * c.par.resolution
		if isTaken((*space)[k:], nodes, len(on), start, until) {
			from = max(cmp.Or(later, start), from+1)
			continue
		}
		*space = take(*space, nodes, start, until)
		return planned{rec.job, start, until, on}, true
	}
	return planned{}, false
}

// give notes the CPUs that a plan gives a job that keeps nodes whole.
func (c *cluster) give(rec record, on []int) {
	if rec.req.whole {
		rec.CPUs = 0
		for _, i := range on {
			rec.CPUs += c.nodes[i].CPUs
		}
	}
}

// freeNodes returns the nodes that no plan and no reservation has from a time on until the job's limit, until the
// next call, and when to look again if they do not do; 0 is never. The space begins with the interval of that time.
func (c *cluster) freeNodes(rec record, space []interval, from int64) (avail set, later int64) {
	c.scratch.set = append(c.scratch.set[:0], rec.part.set...)
	avail = c.scratch.set
	end := from + rec.Limit
	if space[0].end > from && len(space) > 1 {
		later = space[0].end
	}
	for k := range space {
		if iv := &space[k]; iv.end > from {
			if iv.begin > end || len(c.books) == 0 && avail.countIn(rec.req.suited) < rec.req.minNodes {
				break
			}
			avail.keep(iv.avail)
		}
	}
	if until := c.reserved(rec.job, avail, from, end); until > 0 && (later == 0 || until < later) {
		later = c.planAfter(until)
	}
	return avail, later
}

// isTaken reports whether a plan has one of the n nodes within a time.
func isTaken(space []interval, nodes set, n int, begin, end int64) bool {
	return slices.ContainsFunc(space, func(iv interval) bool { return iv.end > begin && iv.begin < end && iv.avail.countIn(nodes) < n })
}

// planAfter returns when a plan may begin after a reservation: a second after its end, in units of the resolution.
func (c *cluster) planAfter(end int64) int64 {
	return (end+c.par.resolution-1)/c.par.resolution*c.par.resolution + 1
}

// take takes nodes out of the space for a time.
func take(space []interval, on set, begin, end int64) []interval {
	for _, at := range []int64{begin, end} {
		for k := range space {
			if iv := space[k]; iv.begin < at && at < iv.end {
				space[k].begin = at
				space = slices.Insert(space, k, interval{iv.begin, at, slices.Clone(iv.avail)})
				break
			}
		}
	}
	for _, iv := range space {
		if iv.begin >= begin && iv.end <= end {
			iv.avail.remove(on)
		}
	}
	return space
}

// group is how far the ends of running jobs lie apart that are taken away together, in seconds.
const group = 30

// fit is an answer of ending, which holds until a job starts or ends.
type fit struct {
	end int64
	on  []int
}

// earliest returns when a job can start on nodes of avail if running jobs run to their limit, and where.
func (c *cluster) earliest(rec record, avail set, now int64) (int64, []int) {
	if avail.countIn(rec.req.suited) < rec.req.minNodes {
		return 0, nil
	}
	c.scratch.key = binary.AppendVarint(c.scratch.key[:0], rec.class)
	for _, w := range avail {
		c.scratch.key = binary.NativeEndian.AppendUint64(c.scratch.key, w)
	}
	f, ok := c.fits[string(c.scratch.key)]
	if !ok || c.par.preempt != "none" {
		f.end, f.on = c.ending(rec, avail, now)
		if len(c.fits) == maxFits {
			clear(c.fits)
		}
		c.fits[string(c.scratch.key)] = f
	}
	if f.end > 0 {
		return max(now+1, f.end), f.on
	}
	return now, f.on
}

// maxFits is the most answers that are kept.
const maxFits = 1 << 16

// ending returns the end by its limit of the last running job that has to be gone so that a job fits on nodes of
// avail, 0 where none has, and where: as select/cons_tres, which takes away running jobs by their end, those within
// 30 s together.
func (c *cluster) ending(rec record, avail set, now int64) (int64, []int) {
	q := &rec.req
	r, n := c.room(), tally{}
	for i := range avail.members {
		if q.suited.has(i) {
			n.count(q, &r[i], 1)
		}
	}
	if n.mayDo(q) {
		if on := c.choose(r, q, avail, false); on != nil {
			return 0, on
		}
	}
	if candidates := c.candidates(rec, now); len(candidates) > 0 {
		for _, v := range candidates {
			r.take(v, -1)
		}
		if on := c.choose(r, q, avail, false); on != nil {
			return 0, on
		}
		r = c.room()
	}
	var first, last *job
	for i, v := range c.runs {
		if v.within.countIn(avail) > 0 {
			first, last = cmp.Or(first, v), v
			n.release(r, q, avail, v)
		}
		// A job that has none of the nodes does not end a group.
		end := i+1 == len(c.runs) || last == v && c.runs[i+1].limitEnd() > first.limitEnd()+group
		if !end || last == nil {
			continue
		}
		if n.mayDo(q) {
			if on := c.choose(r, q, avail, false); on != nil {
				return last.limitEnd(), on
			}
		}
		first, last = nil, nil
	}
	return 0, nil
}

// release gives back what a job holds, and counts the nodes of avail anew on which it is.
func (n *tally) release(r room, q *request, avail set, v *job) {
	for _, sign := range []int64{-1, 1} {
		for _, s := range v.on {
			if avail.has(s.node) && q.suited.has(s.node) {
				n.count(q, &r[s.node], sign)
			}
		}
		if sign < 0 {
			r.take(v, -1)
		}
	}
}

// limitEnd returns when a running job ends by its limit.
func (j *job) limitEnd() int64 { return j.start + j.Limit }
