package simulate

import (
	"iter"

	"capcli"
)

// Planning is the Turn of a policy that plans ahead: it asks for room before it starts a job, or in a copy of
// the cluster, and knows what is closed.
type Planning Turn

// Planning returns what a policy that plans ahead may ask.
func (t *Turn) Planning() *Planning { return (*Planning)(t) }

// OpenPools returns the pools in which a job of the queue may start now: the pools of first ranks,
// or AllPools once the patience of some job has ended.
func (t *Planning) OpenPools() []int {
	if t.q.ripeN == 0 {
		return t.q.firsts
	}
	return t.q.cell.pools
}

// Shared reports whether another queue may use one of AllPools.
func (t *Planning) Shared() bool { return len(t.q.cell.queues) > 1 }

// Pools returns the pools that l may use without overflow, for policies that plan ahead. For a job with
// ways it returns those in which l can run as it asks, if there are any; the list is valid until the next
// call.
func (t *Planning) Pools(l *Live) []int {
	if len(l.class.ranks) == 0 {
		return nil
	}
	if l.HasWays() {
		return t.e.shapes.poolsAsAsked(l)
	}
	return l.class.ranks[0]
}

// FitsWindows reports whether l, if it started now in pool p, would leave the coming Windows what
// they take. Start refuses it otherwise.
func (t *Planning) FitsWindows(l *Live, p int) bool {
	if e := t.e; e.win.guard && e.win.counted[p] {
		return e.win.fitsWindows(l, e.win.byPool[p], e.c.now+e.stayBelieved(l, p))
	}
	return true
}

// Closure is a time in which a part of a pool is there for nobody. End 0 is never.
type Closure struct {
	Start, End capcli.Seconds
	Milli      int64 // thousandths of GPUs
}

// Closures yields the closures of pool p that are known and have not ended; of nodes, those that have
// not begun.
func (t *Planning) Closures(p int) iter.Seq[Closure] {
	return func(yield func(Closure) bool) {
		if !t.e.win.guard {
			return
		}
		for _, w := range t.e.win.byPool[p] {
			known := w.knownAt(t.e.c.now) || w.open && w.Nodes == 0
			if known && len(w.For) == 0 && !yield(Closure{w.Start, w.End, t.e.win.takes(w)}) {
				return
			}
		}
	}
}

// AfterWindows returns the earliest time, not before at, from which no known Window of pool p keeps l
// from running as long as it is believed to, if all the rest of the pool is free then.
func (t *Planning) AfterWindows(l *Live, p int, at capcli.Seconds) capcli.Seconds {
	if !t.e.win.guard {
		return at
	}
	return t.e.win.afterWindows(l, p, at)
}

// CountsGPUs reports whether the placement is Counting. A job then fits if a pool has enough free
// GPUs.
func (t *Planning) CountsGPUs() bool { return t.e.counts }

// Find returns where l would go if it started now; nil if it does not fit. The slices are valid
// until the next call of Find or FindOutside.
func (t *Planning) Find(l *Live) []Slice { return t.FindOutside(l, -1) }

// FindOutside is Find without one pool.
func (t *Planning) FindOutside(l *Live, pool int) []Slice {
	return (*Turn)(t).keep(l, t.e.findBut(l, pool))
}

// StartFound starts l in the slices of the last Find or FindOutside, which must have been for l and
// must have found some.
func (t *Planning) StartFound(l *Live) {
	if t.found != l || l.state != waiting || len(t.e.c.found) == 0 {
		panic("simulate: a policy started a job where nothing was found for it")
	}
	t.found = nil
	if l.mould != nil {
		l.mould.found = t.foundWay
	}
	t.e.start(l, t.e.c.found)
}

// WhatIf returns a copy of the current cluster, valid until the next call.
func (t *Planning) WhatIf() *WhatIf {
	w := &t.e.whatIf
	w.e, w.c = t.e, t.e.c.copyTo(w.c)
	return w
}
