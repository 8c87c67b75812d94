package simulate

import (
	"slices"

	"capcli"
	"capcli/simulate/topology"
)

// DomainRoom is the room in the domains of one level of a pool over time.
type DomainRoom struct {
	Pool       int
	Level      string
	Domains    int
	DomainGPUs int            // of the largest domain
	Time       capcli.Seconds // that the pool was looked at
	Free       float64        // mean of the free GPUs on nodes that take work
	Largest    float64        // mean of the GPUs of the largest gang that one domain had room for, in whole nodes
	Stranded   float64        // mean of the GPUs on free nodes of domains too small for a gang of the mix
	Gangs      int64          // jobs of that mix: larger than a node, and kept within a domain of Level

	byNodes []int64 // time by the free nodes of the domain with the most
	size    int     // GPUs of a node
}

// RoomShare returns the share of the time in which a gang of so many GPUs could have started on whole free
// nodes of one domain.
func (d *DomainRoom) RoomShare(gpus int) float64 {
	if d.Time <= 0 {
		return 0
	}
	var ok int64
	for n, t := range d.byNodes {
		if n*d.size >= gpus {
			ok += t
		}
	}
	return float64(ok) / float64(d.Time)
}

// GangSize returns the GPUs of the largest gang for which one domain had room for at least a share of the
// time.
func (d *DomainRoom) GangSize(share float64) int {
	for n := len(d.byNodes) - 1; n > 0; n-- {
		if d.RoomShare(n*d.size) >= share {
			return n * d.size
		}
	}
	return 0
}

// domainClock measures the wholly free nodes of the domains of a pool over time.
type domainClock struct {
	tree   *topology.Tree
	size   int // GPUs of a node
	levels []levelClock
	free   int64          // free GPUs
	area   int64          // of free over time
	since  capcli.Seconds // time up to which area is counted
}

// levelClock is the clock of one level.
type levelClock struct {
	whole   []int32          // wholly free nodes, by domain
	domains []int64          // domains by number of wholly free nodes
	since   []capcli.Seconds // time up to which spent is counted, by that number
	spent   []int64          // domain-seconds at each number
	top     int              // most wholly free nodes of a domain
	topped  capcli.Seconds   // time up to which byTop is counted
	byTop   []int64          // time at each top
}

// newDomainClock returns the clock of a pool none of whose nodes takes work yet.
func newDomainClock(tree *topology.Tree, p *Pool) *domainClock {
	d := &domainClock{tree: tree, size: p.GPUsPerNode}
	for level := range tree.Node() {
		most := 0
		for x := range tree.Size(level) {
			from, to := tree.Nodes(level, x)
			most = max(most, to-from)
		}
		c := levelClock{
			whole: make([]int32, tree.Size(level)), domains: make([]int64, most+1), since: make([]capcli.Seconds, most+1),
			spent: make([]int64, most+1), byTop: make([]int64, most+1),
		}
		c.domains[0] = int64(tree.Size(level))
		d.levels = append(d.levels, c)
	}
	return d
}

// move moves a node from one number of free GPUs to another. -1 means that it takes no work.
func (d *domainClock) move(node int, old, free int32, now capcli.Seconds) {
	d.area += d.free * int64(now-d.since)
	d.since = now
	d.free += int64(max(free, 0)) - int64(max(old, 0))
	was, is := int(old) == d.size, int(free) == d.size
	if was == is {
		return
	}
	by := int32(-1)
	if is {
		by = 1
	}
	for i := range d.levels {
		d.levels[i].change(d.tree.DomainOf(node, i), by, now)
	}
}

// change adds by wholly free nodes to a domain.
func (c *levelClock) change(domain int, by int32, now capcli.Seconds) {
	n := int(c.whole[domain])
	to := n + int(by)
	c.touch(n, now)
	c.touch(to, now)
	c.domains[n]--
	c.domains[to]++
	c.whole[domain] = int32(to)
	top := max(c.top, to)
	if c.domains[top] == 0 {
		top--
	}
	if top != c.top {
		c.byTop[c.top] += int64(now - c.topped)
		c.top, c.topped = top, now
	}
}

// touch brings the count of domains with n wholly free nodes up to now.
func (c *levelClock) touch(n int, now capcli.Seconds) {
	c.spent[n] += c.domains[n] * int64(now-c.since[n])
	c.since[n] = now
}

// rooms returns the room of the domains of each pool by level, up to the end of the run.
func (t *topo) rooms(end capcli.Seconds) (out []DomainRoom) {
	for p := range t.e.c.state {
		d := t.e.c.state[p].domains
		if d == nil || end <= 0 {
			continue
		}
		free := d.area + d.free*int64(end-d.since)
		for level := range d.levels {
			c := &d.levels[level]
			for n := range c.domains {
				c.touch(n, end)
			}
			c.byTop[c.top] += int64(end - c.topped)
			c.topped = end
			r := DomainRoom{
				Pool: p, Level: d.tree.Levels()[level], Domains: len(c.whole), DomainGPUs: (len(c.domains) - 1) * d.size,
				Time: end, Free: float64(free) / float64(end), byNodes: c.byTop, size: d.size,
			}
			t.strand(&r, c.spent, level)
			out = append(out, r)
		}
	}
	return out
}

// strand fills in what the gangs of the run could use of the domains of a level. spent has domain-seconds
// by the number of wholly free nodes.
func (t *topo) strand(r *DomainRoom, spent []int64, level int) {
	for n, time := range r.byNodes {
		r.Largest += float64(time) * float64(n*r.size)
	}
	r.Largest /= float64(r.Time)
	for n, time := range spent {
		larger, all := t.gangs(r.Pool, level, r.size, n*r.size)
		if r.Gangs = all; all > 0 {
			r.Stranded += float64(time) * float64(n*r.size) * float64(larger) / float64(all)
		}
	}
	r.Stranded /= float64(r.Time)
}

// sizeCount is the number of jobs of a width that arrived.
type sizeCount struct {
	gpus int
	jobs int64
}

// gangs returns how many jobs arrived that are larger than a node and are for one domain of a level of
// pool p, and how many of these want more GPUs than there are.
func (t *topo) gangs(p, level, node, have int) (larger, all int64) {
	for _, l := range t.layouts {
		if n := &l.shape.Near; n.Mode != capcli.Required && n.Mode != capcli.Preferred || !l.pools[p].can || l.pools[p].level != level {
			continue
		}
		for _, s := range l.sizes {
			if s.gpus > node {
				if all += s.jobs; s.gpus > have {
					larger += s.jobs
				}
			}
		}
	}
	return larger, all
}

// arrived counts a job of the layout.
func (l *layout) arrived(gpus int) {
	i := slices.IndexFunc(l.sizes, func(s sizeCount) bool { return s.gpus == gpus })
	if i < 0 {
		i = len(l.sizes)
		l.sizes = append(l.sizes, sizeCount{gpus: gpus})
	}
	l.sizes[i].jobs++
}
