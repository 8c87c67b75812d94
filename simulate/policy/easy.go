package policy

import (
	"cmp"
	"slices"

	"capcli/simulate"
	"capcli/simulate/internal/sorted"

	"capcli"
)

func init() {
	Catalog.Add("easy", "first come, first served; later jobs may go ahead if they do not delay the first that waits", func(simulate.Settings) simulate.Policy { return &easy{} })
	Catalog.Add("easy-sjbf", "easy, with the shortest of the later jobs tried first", func(simulate.Settings) simulate.Policy { return &easy{shortest: true} })
}

// easy is EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem and
// Feitelson, TPDS 12:6, 2001). Jobs start in order until one, the head, does not fit. The head is
// promised the shadow time: the earliest time at which it will fit, by the estimated ends of
// running jobs. A later job may start now if it is estimated to end by then, or if it uses only
// GPUs that the head will leave over. The promise is recomputed at each turn, so jobs that end
// early move it forward.
//
// With shortest, later jobs are tried in order of estimated run time (EASY-SJBF,
// Tsafrir, Etsion and Feitelson, TPDS 18:6, 2007).
type easy struct {
	shortest bool
	freed    []int64            // by pool, capacity that running jobs have freed up to the time considered
	byLength sorted.List[timed] // shortest: waiting jobs by estimated run time, and some stale entries
	stale    []sorted.Entry[timed]
	fresh    []sorted.Entry[timed]
	one      [][]sorted.Entry[timed]
	last     promise // the promise after the last scan
}

// timed is a waiting job in a list by estimated run time, which is the key.
type timed struct {
	job   *simulate.Live
	milli int64
}

// promise is the reservation of the head of the queue.
type promise struct {
	pool   int              // pool where it will run; -1 if none is known
	shadow capcli.Seconds   // the time of its start
	extra  int64            // thousandths of GPUs that it leaves over at that time
	then   *simulate.WhatIf // the nodes at that time, with the head placed; nil if only GPUs count
}

// Believes declares that it uses estimates of run times.
func (*easy) Believes() {}

func (p *easy) Schedule(t *simulate.Turn) {
	var head *simulate.Live
	for l := range t.Queue() {
		if !t.Start(l) {
			head = l
			break
		}
	}
	if p.shortest {
		p.enter(t)
	}
	if head == nil || t.Waiting() == 1 || t.Room() == 0 {
		return
	}
	pr := p.promise(t, head)
	if !t.Planning().CountsGPUs() && pr.pool >= 0 {
		pr = p.promiseNodes(t, head)
	}
	if pr.pool >= 0 {
		pr.shadow = t.Planning().AfterWindows(head, pr.pool, pr.shadow)
	}
	all := t.Freed() || pr.wider(&p.last, t.Now())
	if p.shortest {
		p.backfillShortest(t, head, &pr, all)
	} else {
		p.backfill(t, head, &pr, all)
	}
	p.last = promise{pool: pr.pool, shadow: pr.shadow, extra: pr.extra}
}

// wider reports whether this promise may admit a job that the last one held back, although no
// capacity was freed: the head is promised another pool or a later time, or leaves over more. This
// happens when a job runs past its estimate or was started by overflow.
func (pr *promise) wider(last *promise, now capcli.Seconds) bool {
	return pr.pool != last.pool || pr.extra > last.extra || pr.shadow > max(last.shadow, now+1)
}

// promise finds the pool that has enough capacity for head soonest. A job past its estimated end is
// assumed to end in the next second.
func (p *easy) promise(t *simulate.Turn, head *simulate.Live) promise {
	pools := t.Planning().Pools(head)
	c, need := t.Cluster(), head.Milli()
	p.freed = slices.Grow(p.freed[:0], c.Pools())[:c.Pools()]
	clear(p.freed)
	pr := promise{pool: -1}
	for l := range t.Running() {
		end := max(l.EndBelieved(), t.Now()+1)
		if pr.pool >= 0 && end > pr.shadow {
			break
		}
		pool := l.Pool()
		p.freed[pool] += l.Milli()
		if pr.pool < 0 && p.freed[pool]+promisable(c, pool, need) >= need && slices.Contains(pools, pool) {
			pr.pool, pr.shadow = pool, end
		}
	}
	if pr.pool >= 0 {
		pr.extra = p.freed[pr.pool] + promisable(c, pr.pool, need) - need
	}
	return pr
}

// promisable returns the free capacity of a pool that may be promised to a job: what is usable now,
// and what is withheld as well if the job needs more than the pool can give until that ends.
func promisable(c *simulate.Cluster, pool int, need int64) int64 {
	usable := c.Usable(pool)
	if withheld := c.WithheldMilli(pool); withheld > 0 && need > usable+c.HeldMilli(pool) {
		return usable + withheld
	}
	return usable
}

// promiseNodes is promise for placements that consider nodes: the head is promised the first
// estimated end after which its placement finds room.
func (p *easy) promiseNodes(t *simulate.Turn, head *simulate.Live) promise {
	w, pools := t.Planning().WhatIf(), t.Planning().Pools(head)
	for _, p := range pools {
		if promisable(t.Cluster(), p, head.Milli()) > t.Cluster().Usable(p) {
			w.GiveBack(p)
		}
	}
	last := t.Now()
	for l := range t.Running() {
		if end := max(l.EndBelieved(), t.Now()+1); end > last {
			if s := w.Find(head, pools); len(s) > 0 {
				return promised(w, s, last)
			}
			last = end
		}
		w.Release(l)
	}
	if s := w.Find(head, pools); len(s) > 0 {
		return promised(w, s, last)
	}
	return promise{pool: -1}
}

// promised returns the promise of slices at a time. It places the head on the copy of the cluster.
func promised(w *simulate.WhatIf, s []simulate.Slice, at capcli.Seconds) promise {
	w.Take(s)
	pool := int(s[0].Pool)
	return promise{pool: pool, shadow: at, extra: w.Usable(pool), then: w}
}

// allows reports whether a job with estimated run time est can start on the slices now
// without delaying the head.
func (pr *promise) allows(now, est capcli.Seconds, milli int64, s []simulate.Slice) bool {
	if int(s[0].Pool) != pr.pool || now+est <= pr.shadow {
		return true
	}
	return milli <= pr.extra && (pr.then == nil || pr.then.Holds(s))
}

// findAllowed finds room for l, which has ways, that the promise allows, and returns what l holds there and how long.
// It works on a copy, so that promises of jobs without ways stay off the heap.
func (pr *promise) findAllowed(t *simulate.Turn, l *simulate.Live) (s []simulate.Slice, milli int64, est capcli.Seconds) {
	own := *pr
	s = t.Ways().FindIf(l, func(s []simulate.Slice) bool {
		milli, est = t.Ways().FoundAs(l)
		return own.allows(t.Now(), est, milli, s)
	})
	return s, milli, est
}

// try starts l if it fits and does not delay the head. A job that would delay the head
// in the promised pool may go to another pool.
func (pr *promise) try(t *simulate.Turn, l *simulate.Live, milli int64, est capcli.Seconds) {
	s := t.Planning().Find(l)
	if len(s) == 0 {
		return
	}
	if l.HasWays() {
		milli, est = t.Ways().FoundAs(l)
	}
	if !pr.allows(t.Now(), est, milli, s) {
		if l.HasWays() {
			s, milli, est = pr.findAllowed(t, l)
		} else {
			s = t.Planning().FindOutside(l, pr.pool)
		}
		if len(s) == 0 {
			return
		}
	}
	if int(s[0].Pool) == pr.pool && t.Now()+est > pr.shadow {
		pr.extra -= milli
		if pr.then != nil {
			pr.then.Take(s)
		}
	}
	t.Planning().StartFound(l)
}

// backfill tries the later jobs in the queue's order: all of them, or only new ones.
func (p *easy) backfill(t *simulate.Turn, head *simulate.Live, pr *promise, all bool) {
	now := t.Now()
	if !all {
		for l := range t.Fresh() {
			milli, est := l.Milli(), l.LeftBelieved(now)
			if l != head && pr.worth(t, milli, est, t.Room()) && !l.OverQuota() {
				pr.try(t, l, milli, est)
			}
		}
		return
	}
	room := t.Room()
	for w := t.Scan(); w.HasMore(); w.Next() {
		if !pr.worth(t, w.Milli(), w.TimeLeft(), room) {
			continue
		}
		l := w.Job()
		if l == head || !l.Waiting() || l.OverQuota() {
			continue
		}
		if pr.try(t, l, w.Milli(), w.TimeLeft()); !l.Waiting() {
			if room = t.Room(); room == 0 {
				return
			}
		}
	}
}

// worth reports whether a job might start: its GPUs fit in room, and it need not delay the head.
func (pr *promise) worth(t *simulate.Turn, milli int64, est capcli.Seconds, room int64) bool {
	if milli > room {
		return false
	}
	return pr.pool < 0 || len(t.Planning().OpenPools()) > 1 || milli <= pr.extra || t.Now()+est <= pr.shadow
}

// backfillShortest tries the later jobs in order of estimated run time, ties by
// arrival.
func (p *easy) backfillShortest(t *simulate.Turn, head *simulate.Live, pr *promise, all bool) {
	now, room := t.Now(), t.Room()
	p.stale = p.stale[:0]
	chunks := p.byLength.Chunks
	if !all { // only new jobs can start
		p.one = append(p.one[:0], p.fresh)
		chunks = p.one
	}
	for _, chunk := range chunks {
		for i := range chunk {
			en := &chunk[i]
			l, est := en.Value.job, capcli.Seconds(en.Key)
			if !pr.worth(t, en.Value.milli, est, room) {
				continue
			}
			if !stands(en, now) {
				p.stale = append(p.stale, *en)
				continue
			}
			if l == head || l.OverQuota() {
				continue
			}
			if pr.try(t, l, en.Value.milli, est); !l.Waiting() {
				room = t.Room()
			}
		}
	}
	if all {
		p.drop()
	}
}

// stands reports whether the entry's job still waits with the same work to do.
func stands(en *sorted.Entry[timed], now capcli.Seconds) bool {
	l := en.Value.job
	return uint64(l.Index()) == en.Seq && l.Waiting() && int64(l.LeftBelieved(now)) == en.Key
}

// enter adds the new jobs to the list by run time. Stale entries are removed when a scan meets
// them, or all at once when there are many.
func (p *easy) enter(t *simulate.Turn) {
	p.fresh = p.fresh[:0]
	now := t.Now()
	for l := range t.Fresh() {
		p.fresh = append(p.fresh, sorted.Entry[timed]{Key: int64(l.LeftBelieved(now)), Seq: uint64(l.Index()), Value: timed{l, l.Milli()}})
	}
	slices.SortFunc(p.fresh, func(a, b sorted.Entry[timed]) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	for i := range p.fresh {
		p.byLength.Insert(p.fresh[i])
	}
	if p.byLength.Len() < 2*t.Waiting()+tidySlack {
		return
	}
	p.stale = p.stale[:0]
	for _, chunk := range p.byLength.Chunks {
		for i := range chunk {
			if !stands(&chunk[i], now) {
				p.stale = append(p.stale, chunk[i])
			}
		}
	}
	p.drop()
}

// drop removes the stale entries from the list by run time.
func (p *easy) drop() {
	for i := range p.stale {
		p.byLength.Remove(p.stale[i].Key, p.stale[i].Seq)
	}
	clear(p.stale)
}
