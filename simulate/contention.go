package simulate

import (
	"cmp"
	"math/bits"
	"slices"

	"capcli"
)

// Shared is what the running jobs of a pool share beside GPUs, such as the bandwidth of a storage.
type Shared struct {
	Kind  capcli.SharedKind
	Level string // each node (NodeLevel), or each domain of a level, has so much; "" is the pool
	Micro int64  // millionths of a GiB a second, or of a CPU
}

// Contention is what running jobs lost because together they wanted more than there is.
type Contention struct {
	Rows []ContentionRow // by pool and kind
	Jobs []ContendedJob  // those that lost the most GPU time, that first
}

// ContentionRow is the contention for one kind in one pool.
type ContentionRow struct {
	Pool   int
	Kind   capcli.SharedKind
	Stays  int64          // that took some of it
	Slowed int64          // of Stays, those that lost time
	Short  capcli.Seconds // time in which jobs wanted more than there is, of one node or domain at least
	Lost   capcli.GPUTime // GPU time that was held without progress
}

// ContendedJob is what one job lost.
type ContendedJob struct {
	ID, Tenant string
	Kind       capcli.SharedKind // for which it lost the most
	Lost       capcli.GPUTime    // for all kinds

	number uint64
}

// mostShared bounds Shared.Micro: a million GiB a second, and more than any network has.
const mostShared = 1 << 40

// contendedShown is how many of the jobs that lost the most a result names.
const contendedShown = 20

// contention shares among the running jobs what they take beside GPUs, and slows down those that are granted
// less than they want. Each GPU of a job is one flow. Flows get max-min fair grants by progressive filling:
// all grow alike until a flow has what it wants, or a node, domain or pool that it crosses is full
// (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2). A gang goes as fast as its slowest
// flow, so its flows all have the same grant. Kinds are shared each by itself: a job that is slow because of one
// still counts with all that it wants of the others.
//
// With shares s of the run time that depend on the kinds, and a job that is granted g of the w that it wants, a
// second of work takes 1 + sum of s (w/g - 1) seconds. Its finish is planned anew each time that changes.
type contention struct {
	e       *engine
	links   []link
	first   [][]int32 // first link of each Shared of a pool
	rows    []shortRow
	dirty   []int32 // links whose jobs are to be shared anew
	changed []*Live
	visit   uint32
	jobs    []*Live // scratch of share
	over    []int32
	worst   []ContendedJob
}

// link is one thing of limited capacity: a pool's storage, or the CPUs of a node.
type link struct {
	kind  capcli.SharedKind
	row   int32
	most  int64
	want  int64
	jobs  []*Live // that cross it, by what their flows want and by order of arrival
	dirty bool

	seen  uint32
	left  work  // scratch of fill
	flows int64 // scratch of fill: those without a grant
}

// crossing is the flows of a job that cross a link.
type crossing struct {
	link  int32
	flows int64
}

// shortRow is a ContentionRow in the making.
type shortRow struct {
	ContentionRow
	links int // that are short now
	since capcli.Seconds
}

// newContention returns what the pools share.
func newContention(e *engine) contention {
	c := contention{e: e, first: make([][]int32, len(e.c.pools))}
	for p := range e.c.pools {
		for i, s := range e.c.pools[p].Shared {
			c.first[p] = append(c.first[p], int32(len(c.links)))
			n := 1
			if s.Level != "" {
				n = e.topo.pools[p].tree.Size(e.topo.pools[p].tree.Level(s.Level))
			}
			row := slices.IndexFunc(c.rows, func(r shortRow) bool { return r.Pool == p && r.Kind == s.Kind })
			if row < 0 {
				row = len(c.rows)
				c.rows = append(c.rows, shortRow{ContentionRow: ContentionRow{Pool: p, Kind: e.c.pools[p].Shared[i].Kind}})
			}
			for range n {
				c.links = append(c.links, link{kind: s.Kind, row: int32(row), most: min(s.Micro, mostShared)})
			}
		}
	}
	return c
}

// join lets l, which has its GPUs in pool p from now on, take its share.
func (c *contention) join(l *Live, p int) {
	if l.pace == nil {
		l.pace = &pace{}
	}
	x := l.pace
	*x = pace{uses: x.uses[:0], total: x.total, factor: fullPace}
	for i := range c.first[p] {
		c.cross(l, p, i)
	}
	if len(x.uses) == 0 {
		return
	}
	x.on = true
	x.need = l.rc.wall(l.Run - l.saved)
	x.left, x.from = work{whole: x.need}, l.Since+l.overhead
	x.ends, _ = c.endOf(l)
	x.planned = x.ends
	var counted [capcli.SharedKinds]bool
	for _, u := range x.uses {
		k := &c.links[u.link]
		if !counted[k.kind] {
			counted[k.kind] = true
			c.rows[k.row].Stays++
		}
		at, _ := slices.BinarySearchFunc(k.jobs, l, c.order(k.kind))
		k.jobs = slices.Insert(k.jobs, at, l)
		c.add(u.link, u.flows*x.each[k.kind])
	}
}

// cross notes what l takes of the i-th thing that the jobs of pool p share.
func (c *contention) cross(l *Live, p, i int) {
	s := &c.e.c.pools[p].Shared[i]
	u := &l.Uses[s.Kind]
	if u.Each <= 0 || u.Share <= 0 {
		return
	}
	x, from := l.pace, len(l.pace.uses)
	x.each[s.Kind] = u.Each
	if l.GPUMilli > 0 {
		x.each[s.Kind] = max(1, u.Each*int64(l.GPUMilli)/1000)
	}
	tree, level := c.e.topo.pools[p].tree, 0
	if s.Level != "" {
		level = tree.Level(s.Level)
	}
	if s.Kind == capcli.SharedNet && c.e.topo.spreadOf(c.e.c, l.slices) >= level {
		return // all of it is within one node or domain
	}
	for j := range l.slices {
		at, flows := c.first[p][i], max(1, int64(l.slices[j].GPUs))
		if s.Level != "" {
			at += int32(tree.DomainOf(int(l.slices[j].Node)-c.e.c.state[p].first, level))
		}
		if k := slices.IndexFunc(x.uses[from:], func(y crossing) bool { return y.link == at }); k >= 0 {
			x.uses[from+k].flows += flows
			continue
		}
		x.uses = append(x.uses, crossing{at, flows})
	}
}

// order returns the order of the jobs of a link.
func (c *contention) order(kind capcli.SharedKind) func(a, b *Live) int {
	return func(a, b *Live) int {
		return cmp.Or(cmp.Compare(a.pace.each[kind], b.pace.each[kind]), cmp.Compare(a.number, b.number))
	}
}

// add changes what jobs want of a link. Its jobs are shared anew if it is short, or was.
func (c *contention) add(at int32, micro int64) {
	k := &c.links[at]
	was := k.want > k.most
	k.want += micro
	is := k.want > k.most
	if (was || is) && !k.dirty {
		k.dirty = true
		c.dirty = append(c.dirty, at)
	}
	if was != is {
		c.rows[k.row].turn(is, c.e.c.now)
	}
}

// turn notes that a link of the row is short from now on, or is so no more.
func (r *shortRow) turn(short bool, now capcli.Seconds) {
	if r.links > 0 {
		r.Short += now - r.since
	}
	r.since = now
	if r.links--; short {
		r.links += 2
	}
}

// leave ends the stay of l, which is about to lose its GPUs. What it lost becomes a part of its
// overhead.
func (c *contention) leave(l *Live) {
	x, stay := l.pace, c.e.c.now-l.Since
	c.book(l)
	if stay > l.overhead {
		l.overhead = stay - l.ran(c.e.c.now)
	}
	for _, u := range x.uses {
		k := &c.links[u.link]
		at, _ := slices.BinarySearchFunc(k.jobs, l, c.order(k.kind))
		k.jobs = slices.Delete(k.jobs, at, at+1)
		c.add(u.link, -u.flows*x.each[k.kind])
	}
	x.on = false
}

// book adds what l lost in its stay to the figures.
func (c *contention) book(l *Live) {
	x := l.pace
	x.advance(c.e.c.now)
	if x.lost == ([capcli.SharedKinds]int64{}) {
		return
	}
	p := l.Pool()
	for k, t := range x.lost {
		if t == 0 {
			continue
		}
		hi, lo := bits.Mul64(uint64(t), uint64(l.Milli()))
		gone := capcli.GPUTime(hi<<(64-lostBits) | lo>>lostBits)
		x.total[k] += gone
		at := slices.IndexFunc(c.rows, func(r shortRow) bool { return r.Pool == p && int(r.Kind) == k })
		c.rows[at].Slowed++
		c.rows[at].Lost += gone
	}
	x.lost = [capcli.SharedKinds]int64{}
	c.rank(l)
}

// rank gives l its place among the jobs that lost the most.
func (c *contention) rank(l *Live) {
	j := ContendedJob{ID: l.ID, Tenant: l.Tenant, number: l.number}
	for k, t := range l.pace.total {
		if j.Lost += t; t > l.pace.total[j.Kind] {
			j.Kind = capcli.SharedKind(k)
		}
	}
	c.worst = slices.DeleteFunc(c.worst, func(o ContendedJob) bool { return o.number == j.number })
	at, _ := slices.BinarySearchFunc(c.worst, j, func(a, b ContendedJob) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.number, b.number))
	})
	if at < contendedShown {
		c.worst = slices.Insert(c.worst, at, j)
		c.worst = c.worst[:min(len(c.worst), contendedShown)]
	}
}

// settle shares anew what jobs that started or stopped at this instant changed, and plans the finishes of
// those whose pace is another.
func (c *contention) settle() {
	before := c.visit
	for _, at := range c.dirty {
		if c.links[at].dirty = false; c.links[at].seen <= before {
			c.share(at)
		}
	}
	c.dirty = c.dirty[:0]
	for _, l := range c.changed {
		l.pace.changed = false
		if l.pace.on {
			c.replan(l)
		}
	}
	c.changed = c.changed[:0]
}

// setExtra sets what a second of l's work takes longer because of a kind.
func (c *contention) setExtra(l *Live, kind capcli.SharedKind, extra uint64) {
	x := l.pace
	if x.extra[kind] == extra {
		return
	}
	x.advance(c.e.c.now)
	x.factor += extra - x.extra[kind]
	x.extra[kind] = extra
	if !x.changed {
		x.changed = true
		c.changed = append(c.changed, l)
	}
}

// endOf returns when the stay of l ends at its pace, and whether that is at its limit.
func (c *contention) endOf(l *Live) (at capcli.Seconds, cut bool) {
	at = l.reaches(l.pace.need)
	if c.e.cfg.KillAtLimit && l.Limit > 0 {
		rest := l.Since + l.Limit - l.spent
		return min(at, rest), at > rest
	}
	return at, false
}

// replan plans the end of l's stay, and its pauses and reports, at its new pace. An end that comes later is
// planned when the Finish event that was planned comes: see isLater.
func (c *contention) replan(l *Live) {
	x := l.pace
	x.ends, l.cut = c.endOf(l)
	if x.ends < x.planned {
		c.planAnew(l)
	}
	for _, p := range c.e.hooks.begin {
		p.began(l, x.ends)
	}
}

// planAnew plans the Finish event of l, whose pace has changed. That of before does not count any more.
func (c *contention) planAnew(l *Live) {
	x := l.pace
	x.planned, x.plan = x.ends, x.plan+1
	c.e.agenda.add(x.ends, Finish, end, l, int(l.run)|x.plan<<32)
}

// isLater reports whether l, whose Finish event has come, ends later: its pace has changed since that was
// planned. It plans the end anew.
func (c *contention) isLater(l *Live) bool {
	if !l.pace.isOn() || l.pace.ends == c.e.c.now {
		return false
	}
	c.planAnew(l)
	return true
}

// result returns the figures at the end of the run; nil if running jobs share nothing.
func (c *contention) result() *Contention {
	if len(c.links) == 0 {
		return nil
	}
	out := &Contention{Jobs: c.worst}
	for i := range c.rows {
		r := &c.rows[i]
		if r.links > 0 {
			r.Short += c.e.c.now - r.since
			r.since = c.e.c.now
		}
		out.Rows = append(out.Rows, r.ContentionRow)
	}
	return out
}
