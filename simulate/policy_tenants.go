package simulate

import (
	"slices"

	"capcli"
)

// tenants serves a queue tenant by tenant: the next job is the first of the
// tenant that has the least so far. A tenant whose first job does not fit is
// passed over until something changes, so that it keeps nobody else waiting;
// with skip its later jobs are tried too.
type tenants struct {
	skip  bool
	has   func(*Tenant) float64 // what a tenant has, against its weight
	lines []line
}

// line is one tenant's waiting jobs.
type line struct {
	tenant       *Tenant
	has          float64
	chunk, index int // of the next job to try, in the queue's list
}

// Key keeps each tenant's jobs together, by arrival.
func (p *tenants) Key(l *Live, _ capcli.Seconds) int64 { return int64(l.tenant.index) }

// serve starts jobs until none fits, always for the tenant that has least.
func (p *tenants) serve(t *Turn) {
	p.gather(t)
	for len(p.lines) > 0 {
		at := 0
		for i := range p.lines {
			if p.lines[i].has < p.lines[at].has {
				at = i
			}
		}
		ln := &p.lines[at]
		l := ln.next(t)
		switch {
		case l == nil || (!t.Start(l) && !p.skip):
			p.lines = slices.Delete(p.lines, at, at+1)
		default:
			ln.index++
			ln.has = p.has(ln.tenant)
		}
	}
}

// gather opens a line for each tenant that might start something: where nothing
// came free since the last turn, only those with new jobs.
func (p *tenants) gather(t *Turn) {
	p.lines = p.lines[:0]
	q := &t.q.list
	if !t.Freed() {
		for _, l := range t.newcomers() {
			if n := len(p.lines); l.state == waiting && (n == 0 || p.lines[n-1].tenant != l.tenant) {
				c, i := q.find(l.Key, 0)
				p.lines = append(p.lines, line{l.tenant, p.has(l.tenant), c, i})
			}
		}
		return
	}
	for c, i := 0, 0; c < len(q.chunks); {
		l := q.chunks[c][i].job
		p.lines = append(p.lines, line{l.tenant, p.has(l.tenant), c, i})
		c, i = q.find(l.Key+1, 0)
	}
}

// next is the tenant's first job from the line's place on that still waits, or
// nil.
func (ln *line) next(t *Turn) *Live {
	q := &t.q.list
	for ; ln.chunk < len(q.chunks); ln.chunk, ln.index = ln.chunk+1, 0 {
		for chunk := q.chunks[ln.chunk]; ln.index < len(chunk); ln.index++ {
			l := chunk[ln.index].job
			if l.tenant != ln.tenant {
				return nil
			}
			if l.state == waiting {
				return l
			}
		}
	}
	return nil
}
