package simulate

import (
	"slices"

	"capcli"
)

// share grants anew what the jobs of a link want of its kind, and all jobs that share a link that is short
// with one of them, and so on: no grant of another job can change.
func (c *contention) share(at int32) {
	c.visit++
	kind := c.links[at].kind
	c.jobs, c.over = c.jobs[:0], append(c.over[:0], at)
	c.links[at].seen = c.visit
	for i := 0; i < len(c.over); i++ {
		for _, l := range c.links[c.over[i]].jobs {
			if l.pace.seen == c.visit {
				continue
			}
			l.pace.seen, l.pace.granted = c.visit, false
			c.jobs = append(c.jobs, l)
			for _, u := range l.pace.uses {
				if k := &c.links[u.link]; k.kind == kind && k.want > k.most && k.seen != c.visit {
					k.seen = c.visit
					c.over = append(c.over, u.link)
				}
			}
		}
	}
	if k := &c.links[at]; k.want <= k.most {
		c.over = c.over[1:]
		k.seen = 0
	}
	for _, o := range c.over {
		k := &c.links[o]
		k.left, k.flows = work{whole: capcli.Seconds(k.most)}, 0
	}
	for _, l := range c.jobs {
		for _, u := range l.pace.uses {
			if k := &c.links[u.link]; k.seen == c.visit {
				k.flows += u.flows
			}
		}
	}
	slices.SortFunc(c.jobs, c.order(kind))
	c.fill(kind)
}

// fill grants c.jobs, which are in order of what they want, what the links c.over have: each flow what it
// wants or, if that is more than an equal part of what is left of a link, that part of the tightest one.
func (c *contention) fill(kind capcli.SharedKind) {
	for next := 0; next < len(c.jobs); {
		l := c.jobs[next]
		if l.pace.granted {
			next++
			continue
		}
		tight, part := c.tightest()
		want := work{whole: capcli.Seconds(l.pace.each[kind])}
		if tight == nil || !part.isLess(want) {
			c.give(l, kind, want)
			next++
			continue
		}
		for _, o := range tight.jobs {
			if !o.pace.granted {
				c.give(o, kind, part)
			}
		}
	}
}

// tightest returns the link with the least left for each of its flows, and how much that is; nil if no flow
// crosses one.
func (c *contention) tightest() (tight *link, part work) {
	for _, o := range c.over {
		k := &c.links[o]
		if k.flows == 0 {
			continue
		}
		if p := k.left.divide(k.flows); tight == nil || p.isLess(part) {
			tight, part = k, p
		}
	}
	return tight, part
}

// give grants each flow of l so much.
func (c *contention) give(l *Live, kind capcli.SharedKind, grant work) {
	x := l.pace
	x.granted = true
	for _, u := range x.uses {
		if k := &c.links[u.link]; k.seen == c.visit {
			k.left = k.left.minusTimes(u.flows, grant)
			k.flows -= u.flows
		}
	}
	c.setExtra(l, kind, extraOf(x.each[kind], grant, l.Uses[kind].Share))
}
