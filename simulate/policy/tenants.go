package policy

import (
	"slices"

	"capcli/simulate"
)

// tenants serves a queue tenant by tenant: the next job is the first of the tenant that has the
// least so far. A tenant whose first job does not fit is passed over for the rest of the turn, so
// that it delays no other tenant. With skip its later jobs are tried too.
type tenants struct {
	skip  bool
	has   func(*simulate.Tenant) float64 // what a tenant has, relative to its weight
	lines []line
}

// line is the waiting jobs of one tenant.
type line struct {
	tenant *simulate.Tenant
	has    float64
	at     simulate.Cursor // the next job to try
}

// Key groups the jobs by tenant; within a tenant they are in order of arrival.
func (p *tenants) Key(l *simulate.Live) int64 { return int64(l.Holder().Index()) }

// serve starts jobs until none fits, each time for the tenant that has the least.
func (p *tenants) serve(t *simulate.Turn) {
	p.gather(t)
	for len(p.lines) > 0 {
		at := 0
		for i := range p.lines {
			if p.lines[i].has < p.lines[at].has {
				at = i
			}
		}
		ln := &p.lines[at]
		l := ln.next()
		switch {
		case l == nil || (!t.Start(l) && !p.skip):
			p.lines = slices.Delete(p.lines, at, at+1)
		default:
			ln.at.Next()
			ln.has = p.has(ln.tenant)
		}
	}
}

// gather makes a line for each tenant that could start a job. If no capacity was freed since the
// last turn, these are the tenants with new jobs.
func (p *tenants) gather(t *simulate.Turn) {
	p.lines = p.lines[:0]
	if !t.Freed() {
		for l := range t.Fresh() {
			if n := len(p.lines); n == 0 || p.lines[n-1].tenant != l.Holder() {
				p.lines = append(p.lines, line{l.Holder(), p.has(l.Holder()), t.Planning().CursorFrom(l.Key)})
			}
		}
		return
	}
	for at := t.Scan(); at.HasMore(); {
		l := at.Job()
		p.lines = append(p.lines, line{l.Holder(), p.has(l.Holder()), at})
		at = t.Planning().CursorFrom(l.Key + 1)
	}
}

// next moves to the tenant's next job that still waits and returns it; nil if there is none.
func (ln *line) next() *simulate.Live {
	for ; ln.at.HasMore(); ln.at.Next() {
		l := ln.at.Job()
		if l.Holder() != ln.tenant {
			return nil
		}
		if l.Waiting() {
			return l
		}
	}
	return nil
}
