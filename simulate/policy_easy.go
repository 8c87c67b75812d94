package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

func init() {
	Policies.Add("easy", "first come, first served; later jobs may go ahead if they do not delay the first that waits", func(Settings) Policy { return &easy{} })
	Policies.Add("easy-sjbf", "easy, with the shortest of the later jobs tried first", func(Settings) Policy { return &easy{shortest: true} })
}

// easy is EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP
// 1995; Mu'alem and Feitelson, TPDS 12:6, 2001). Jobs start in order until one,
// the head, does not fit. The head is promised the earliest instant at which,
// by what is believed of the running jobs, it will fit: the shadow time. A
// later job may start now if it is believed to end by then, or if it needs only
// GPUs that the head will leave over. The promise is made anew at each turn, so
// jobs that end early move it forward.
//
// With shortest, the later jobs are tried in order of their believed length
// (EASY-SJBF, Tsafrir, Etsion and Feitelson, TPDS 18:6, 2007).
type easy struct {
	shortest bool
	freed    []int64 // by pool, what running jobs have given back so far
	byLength list    // shortest: waiting jobs by believed length, and some that no longer wait
	stale    []entry
	fresh    []entry
	one      [][]entry
	last     promise // as the last scan left it
}

// promise is what the head of the queue is promised.
type promise struct {
	pool   int            // where it will run; -1 is nowhere as far as is known
	shadow capcli.Seconds // when
	extra  int64          // thousandths of GPUs that it leaves over then
	then   *Cluster       // the nodes then, with the head in place; nil where only GPUs count
}

func (p *easy) Schedule(t *Turn) {
	var head *Live
	for l := range t.Queue() {
		if !t.Start(l) {
			head = l
			break
		}
	}
	if p.shortest {
		p.enter(t)
	}
	if head == nil || t.Waiting() == 1 || t.room() == 0 {
		return
	}
	pr := p.promise(t, head)
	if _, counted := t.e.cfg.Placement.(count); !counted && pr.pool >= 0 {
		pr = p.promiseNodes(t, head)
	}
	all := t.Freed() || pr.wider(&p.last, t.Now())
	if p.shortest {
		p.backfillShortest(t, head, &pr, all)
	} else {
		p.backfill(t, head, &pr, all)
	}
	p.last = promise{pool: pr.pool, shadow: pr.shadow, extra: pr.extra}
}

// wider tells whether a job that the last promise held back may go ahead of
// this one though nothing came free: the head is promised another pool or a
// later time, or will leave over more, since a job ran on past its belief or
// was started past the policy.
func (pr *promise) wider(last *promise, now capcli.Seconds) bool {
	return pr.pool != last.pool || pr.extra > last.extra || pr.shadow > max(last.shadow, now+1)
}

// promise finds the pool that frees enough for head soonest. A job past its
// believed end is believed to end in the next second.
func (p *easy) promise(t *Turn, head *Live) promise {
	pools := t.Pools(head)
	c, need := t.Cluster(), head.Milli()
	p.freed = slices.Grow(p.freed[:0], c.Pools())[:c.Pools()]
	clear(p.freed)
	pr := promise{pool: -1}
	for l := range t.Running() {
		end := max(l.believes, t.Now()+1)
		if pr.pool >= 0 && end > pr.shadow {
			break
		}
		pool := int(l.slices[0].Pool)
		p.freed[pool] += l.Milli()
		if pr.pool < 0 && p.freed[pool]+c.state[pool].account.usable >= need && slices.Contains(pools, pool) {
			pr.pool, pr.shadow = pool, end
		}
	}
	if pr.pool >= 0 {
		pr.extra = p.freed[pr.pool] + c.state[pr.pool].account.usable - need
	}
	return pr
}

// promiseNodes is promise where it matters on which nodes GPUs come free: the
// head is promised the first believed end after which its placement finds room.
func (p *easy) promiseNodes(t *Turn, head *Live) promise {
	w, pools := t.whatIf(), t.Pools(head)
	last := t.Now()
	for l := range t.Running() {
		if end := max(l.believes, t.Now()+1); end > last {
			if s := t.e.findIn(w, head, pools); len(s) > 0 {
				return promised(w, s, last)
			}
			last = end
		}
		w.release(l.slices)
	}
	if s := t.e.findIn(w, head, pools); len(s) > 0 {
		return promised(w, s, last)
	}
	return promise{pool: -1}
}

// promised puts the head in place on the imagined nodes.
func promised(w *Cluster, s []Slice, at capcli.Seconds) promise {
	w.take(s)
	pool := int(s[0].Pool)
	return promise{pool: pool, shadow: at, extra: w.state[pool].account.usable, then: w}
}

// may tells whether a job believed to run for est does not delay the head if
// it starts now on the slices.
func (pr *promise) may(now, est capcli.Seconds, milli int64, s []Slice) bool {
	if int(s[0].Pool) != pr.pool || now+est <= pr.shadow {
		return true
	}
	return milli <= pr.extra && (pr.then == nil || pr.then.holds(s))
}

// try starts the job of en if it fits and does not delay the head. One that
// would delay it in the pool that the head is promised may go to another.
func (pr *promise) try(t *Turn, en *entry) {
	s := t.Find(en.job)
	if len(s) == 0 {
		return
	}
	if !pr.may(t.Now(), en.est, en.milli, s) {
		if s = t.e.findBut(en.job, pr.pool); len(s) == 0 {
			return
		}
	}
	if int(s[0].Pool) == pr.pool && t.Now()+en.est > pr.shadow {
		pr.extra -= en.milli
		if pr.then != nil {
			pr.then.take(s)
		}
	}
	t.e.start(en.job, s)
}

// backfill tries the later jobs in the queue's order, all of them or only what
// has just come.
func (p *easy) backfill(t *Turn, head *Live, pr *promise, all bool) {
	now := t.Now()
	if !all {
		for _, l := range t.fresh() {
			t.one = entry{key: l.Key, seq: l.seq, job: l, milli: l.Milli(), est: l.LeftBelieved(now)}
			if pr.worth(t, &t.one, head, t.room()) {
				pr.try(t, &t.one)
			}
		}
		return
	}
	room := t.room()
	for _, chunk := range t.q.list.chunks {
		for i := range chunk {
			en := &chunk[i]
			if !pr.worth(t, en, head, room) {
				continue
			}
			if pr.try(t, en); en.job.state != waiting {
				if room = t.room(); room == 0 {
					return
				}
			}
		}
	}
}

// worth tells whether a job might go ahead: by its GPUs it fits now, and by its
// length or its GPUs it need not delay the head.
func (pr *promise) worth(t *Turn, en *entry, head *Live, room int64) bool {
	return pr.fits(t, en, room) && en.job.state == waiting && en.job != head && !en.job.overQuota()
}

// fits is the part of worth for which the job itself need not be looked at.
func (pr *promise) fits(t *Turn, en *entry, room int64) bool {
	if en.milli > room {
		return false
	}
	return pr.pool < 0 || len(t.open()) > 1 || en.milli <= pr.extra || t.Now()+en.est <= pr.shadow
}

// backfillShortest tries the later jobs in order of length, ties by arrival.
// They are kept in that order over the turns.
func (p *easy) backfillShortest(t *Turn, head *Live, pr *promise, all bool) {
	now, room := t.Now(), t.room()
	p.stale = p.stale[:0]
	chunks := p.byLength.chunks
	if !all { // nothing but what has just come can start
		p.one = append(p.one[:0], p.fresh)
		chunks = p.one
	}
	for _, chunk := range chunks {
		for i := range chunk {
			en := &chunk[i]
			if !pr.fits(t, en, room) {
				continue
			}
			if !en.stands(now) {
				p.stale = append(p.stale, *en)
				continue
			}
			if en.job == head || en.job.overQuota() {
				continue
			}
			if pr.try(t, en); en.job.state != waiting {
				room = t.room()
			}
		}
	}
	if all {
		p.drop()
	}
}

// stands tells whether the entry's job still waits with the same work to do.
func (en *entry) stands(now capcli.Seconds) bool {
	l := en.job
	return l.seq == en.seq && l.state == waiting && l.LeftBelieved(now) == en.est
}

// enter puts the jobs that joined the queue, and still wait, into the order of
// length. Entries of jobs that wait no longer go when a scan meets them, and
// all at once when they are many.
func (p *easy) enter(t *Turn) {
	p.fresh = p.fresh[:0]
	now := t.Now()
	for l := range t.Fresh() {
		est := l.LeftBelieved(now)
		p.fresh = append(p.fresh, entry{key: int64(est), seq: l.seq, job: l, milli: l.Milli(), est: est})
	}
	slices.SortFunc(p.fresh, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.seq, b.seq))
	})
	for i := range p.fresh {
		p.byLength.insert(p.fresh[i])
	}
	if p.byLength.n < 2*t.Waiting()+chunkMax {
		return
	}
	p.stale = p.stale[:0]
	for _, chunk := range p.byLength.chunks {
		for i := range chunk {
			if !chunk[i].stands(now) {
				p.stale = append(p.stale, chunk[i])
			}
		}
	}
	p.drop()
}

// drop takes the stale entries out of the order of length.
func (p *easy) drop() {
	for i := range p.stale {
		p.byLength.remove(p.stale[i].key, p.stale[i].seq)
	}
	clear(p.stale)
}
