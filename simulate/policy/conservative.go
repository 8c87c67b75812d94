package policy

import (
	"slices"

	"capcli/simulate"
	"capcli/simulate/internal/sorted"

	"capcli"
)

func init() {
	Catalog.Add("conservative", "every job is promised a start when it comes; no later job may delay it", func(simulate.Settings) simulate.Policy { return &conservative{allowed: usualAllowance} })
}

// conservative is conservative backfilling (Mu'alem and Feitelson, TPDS 12:6, 2001).
// Each job gets a promise (a reservation) when it arrives: the earliest start that, by
// estimated run times, delays no earlier job. When a job ends early, the promises are
// compressed: in order of arrival each job moves to the earliest start that the others
// leave, never to a later one.
//
// All promises are made again in order of arrival when an estimate was wrong: a job runs past its
// limit, a node is lost, or nodes have enough GPUs but not in one place.
//
// Each early end may move every promise, so the work for a job grows with the queue. If the work of
// a run exceeds an allowance, only the first jobs of the queue have promises until it is short: see
// startFirst.
type conservative struct {
	plans    []plan                      // by pool
	pools    []int                       // pools of the cell when the plans were made
	room     []int64                     // usable plus held capacity of each pool at that time
	running  []stay                      // the running jobs assumed by the plans
	promises []booking                   // by Mark - 1
	spare    []int64                     // unused Marks
	order    sorted.List[candidate]      // waiting jobs with a promise, by arrival; key is 0
	due      sorted.List[*simulate.Live] // the same jobs, by promised start
	again    bool                        // make all promises again
	passed   bool                        // the last replan passed over a job whose tenant was at its quota
	allowed  allowance
	few      bool           // only the first jobs have promises
	since    capcli.Seconds // when that began, if remarked
	remarked bool
	ways     []simulate.Choice
	made     []span  // few: the promises of this turn
	ledges   []ledge // few: what the promises of this turn leave free from now on
}

// stay is a running job as the plans assume it.
type stay struct {
	job   *simulate.Live
	run   uint32
	pool  int
	end   capcli.Seconds
	milli int64
}

// candidate is a waiting job with the values that the search for earlier starts reads.
type candidate struct {
	job     *simulate.Live
	milli   int64
	est, at capcli.Seconds
}

// booking is a waiting job's promise.
type booking struct {
	index int64 // Index of the job
	at    capcli.Seconds
	est   capcli.Seconds
	pool  int // -1 if there is no promise
	stay  uint32
	milli int64 // what it will hold
	way   int   // of a job with ways
}

// promise returns the promise of l for its current wait, or nil.
func (p *conservative) promise(l *simulate.Live) *booking {
	if l.Mark == 0 || l.Mark > int64(len(p.promises)) {
		return nil
	}
	b := &p.promises[l.Mark-1]
	if b.index != l.Index() || b.stay != l.Stay() {
		return nil
	}
	return b
}

// drop frees l's promise.
func (p *conservative) drop(l *simulate.Live) {
	p.spare = append(p.spare, l.Mark)
	l.Mark = 0
}

// stands reports whether l is still the job of entry seq, waits and has a promise.
func (p *conservative) stands(l *simulate.Live, seq uint64) bool {
	return uint64(l.Index()) == seq && l.Waiting() && p.promise(l) != nil
}

// Believes declares that it uses estimates of run times.
func (*conservative) Believes() {}

func (p *conservative) Schedule(t *simulate.Turn) {
	early := p.refresh(t)
	for range t.Fresh() {
		p.allowed.work += p.allowed.each
	}
	if p.few && t.Waiting() > p.allowed.short {
		p.startFirst(t)
		return
	}
	p.again = p.again || p.few || (p.passed && t.Freed())
	p.few = false
	p.promiseAll(t, early)
	p.few = p.overworked(t)
}

// promiseAll brings the promises of all waiting jobs up to now and starts those that are due.
func (p *conservative) promiseAll(t *simulate.Turn, early bool) {
	switch {
	case p.again:
		p.replan(t)
	case early:
		p.compress(t)
	}
	p.bookFresh(t)
	p.startDue(t)
	if p.again { // a promise could not be kept
		p.replan(t)
		p.startDue(t)
	}
	if len(p.due.Chunks) > 0 {
		if next := capcli.Seconds(p.due.Chunks[0][0].Key); next > t.Now() {
			t.WakeAt(next)
		}
	}
}

// refresh brings the plans up to now and removes jobs that have stopped. It reports whether a job
// ended earlier than estimated. It sets again if the plans no longer hold.
func (p *conservative) refresh(t *simulate.Turn) (early bool) {
	now := t.Now()
	if p.changed(t) {
		p.again = true
		return true
	}
	for _, q := range p.pools {
		p.plans[q].forget(now)
	}
	if !p.few && p.overtaken(t) {
		p.again = true
		return true
	}
	if !t.Freed() && (len(p.running) == 0 || !p.overrun(now)) {
		return false
	}
	kept := p.running[:0]
	for _, s := range p.running {
		switch gone := s.job.Stay() != s.run || !s.job.Running(); {
		case !gone && s.end <= now:
			p.again = true // it runs past its estimated end
		case gone && s.end > now:
			p.plans[s.pool].add(now, s.end, s.milli)
			early = true
			continue
		case gone:
			continue
		}
		kept = append(kept, s)
	}
	clear(p.running[len(kept):])
	p.running = kept
	return early
}

// overtaken reports whether overflow started a job that had a promise.
func (p *conservative) overtaken(t *simulate.Turn) bool {
	unbooked := 0
	for l := range t.Fresh() {
		if p.promise(l) == nil {
			unbooked++
		}
	}
	return p.order.Len()+unbooked > t.Waiting()
}

// overrun reports whether a job has run past its estimated end.
func (p *conservative) overrun(now capcli.Seconds) bool {
	for i := range p.running {
		if p.running[i].end <= now {
			return true
		}
	}
	return false
}

// changed reports whether the capacity or the set of pools differs from what the plans
// assume. It records the new values.
func (p *conservative) changed(t *simulate.Turn) bool {
	c, all := t.Cluster(), t.AllPools()
	same := slices.Equal(p.pools, all)
	if !same {
		p.pools = append(p.pools[:0], all...)
		p.plans = append(p.plans, make([]plan, max(0, c.Pools()-len(p.plans)))...)
		p.room = append(p.room, make([]int64, max(0, c.Pools()-len(p.room)))...)
	}
	for _, q := range p.pools {
		if room := c.Usable(q) + c.HeldMilli(q); room != p.room[q] {
			p.room[q], same = room, false
		}
	}
	// The plans do not know which jobs other queues start.
	return !same || t.Planning().Shared()
}

// replan makes all promises again in order of arrival.
func (p *conservative) replan(t *simulate.Turn) {
	p.forgetAll(t)
	booked := 0
	for l := range t.Queue() {
		p.book(t, l)
		booked++
	}
	p.passed = booked < t.Waiting()
}

// forgetAll forgets all promises. The plans then have the running jobs alone.
func (p *conservative) forgetAll(t *simulate.Turn) {
	now := t.Now()
	p.again = false
	for _, q := range p.pools {
		p.plans[q].reset(now, p.room[q])
		for c := range t.Planning().Closures(q) {
			p.plans[q].close(now, c)
		}
	}
	p.running = p.running[:0]
	p.order.Reset()
	p.due.Reset()
	p.promises, p.spare = p.promises[:0], p.spare[:0]
	for l := range t.Running() {
		p.occupy(l, now)
	}
}

// occupy adds a running job to the plan. A job past its estimated end is assumed to run for as long
// again as it has overrun, at least 1 s.
func (p *conservative) occupy(l *simulate.Live, now capcli.Seconds) {
	end := l.EndBelieved()
	if end <= now {
		end = now + max(1, now-end)
	}
	s := stay{l, l.Stay(), l.Pool(), end, l.Milli()}
	p.plans[s.pool].add(now, end, -s.milli)
	p.running = append(p.running, s)
}

// book promises l the earliest start that the plans leave.
func (p *conservative) book(t *simulate.Turn, l *simulate.Live) {
	b := p.makePromise(l)
	b.est = l.LeftBelieved(t.Now())
	if p.choose(t, l, b); b.pool < 0 {
		return
	}
	p.order.Insert(sorted.Entry[candidate]{Seq: uint64(b.index), Value: p.candidateOf(l, b)})
	p.due.Insert(sorted.Entry[*simulate.Live]{Key: int64(b.at), Seq: uint64(b.index), Value: l})
}

// makePromise returns the booking of l, which the first call allocates.
func (p *conservative) makePromise(l *simulate.Live) *booking {
	switch n := len(p.spare); {
	case l.Mark > 0 && l.Mark <= int64(len(p.promises)) && p.promises[l.Mark-1].index == l.Index():
	case n > 0:
		l.Mark, p.spare = p.spare[n-1], p.spare[:n-1]
	default:
		p.promises = append(p.promises, booking{})
		l.Mark = int64(len(p.promises))
	}
	b := &p.promises[l.Mark-1]
	b.index, b.stay = l.Index(), l.Stay()
	return b
}

// choose finds the earliest start that the plans leave for l and reserves it in b.
func (p *conservative) choose(t *simulate.Turn, l *simulate.Live, b *booking) {
	if b.way = -1; l.HasWays() {
		p.chooseWay(t, l, b)
	} else {
		b.milli = l.Milli()
		b.at, b.pool = p.earliest(t, l, b.est)
	}
	if b.pool >= 0 {
		p.plans[b.pool].add(b.at, b.at+b.est, -b.milli)
	}
}

// chooseWay finds for each way of l the earliest start that the plans leave, and takes the best of them.
func (p *conservative) chooseWay(t *simulate.Turn, l *simulate.Live, b *booking) {
	p.ways = t.Ways().All(l, p.ways[:0])
	kept := p.ways[:0]
	for _, w := range p.ways {
		milli, est := t.Ways().WouldTake(l, w)
		if at, ok := p.plans[w.Pool].earliest(t.Now(), est, milli); ok {
			w.From = at
			kept = append(kept, w)
		}
	}
	if b.pool = -1; len(kept) == 0 {
		return
	}
	w := kept[t.Ways().BestChoice(l, kept)]
	b.at, b.pool, b.way = w.From, w.Pool, w.Way
	b.milli, b.est = t.Ways().WouldTake(l, w)
}

// candidateOf returns what the search for earlier starts reads of l: of a job with ways the least that it may
// hold, and the shortest that it may run.
func (p *conservative) candidateOf(l *simulate.Live, b *booking) candidate {
	if !l.HasWays() {
		return candidate{l, b.milli, b.est, b.at}
	}
	return candidate{l, l.LeastMilli(), 1, b.at}
}

// earliest returns the earliest start that the plans leave for l, and its pool; of equal starts, the
// first pool. The pool is -1 if there is none.
func (p *conservative) earliest(t *simulate.Turn, l *simulate.Live, est capcli.Seconds) (start capcli.Seconds, pool int) {
	pool = -1
	for _, q := range t.Planning().Pools(l) {
		if at, ok := p.plans[q].earliest(t.Now(), est, l.Milli()); ok && (pool < 0 || at < start) {
			start, pool = at, q
		}
	}
	return start, pool
}

// compress moves each job to the earliest start that the others leave. It tries only jobs for which
// a plan has a large enough gap before their promise.
func (p *conservative) compress(t *simulate.Turn) {
	for _, chunk := range p.order.Chunks {
		for i := range chunk {
			en := &chunk[i].Value
			if !p.mayMove(en) {
				continue
			}
			l := en.job
			if !p.stands(l, chunk[i].Seq) {
				p.again = true // it was started outside this policy
				continue
			}
			p.move(t, l, en)
		}
	}
}

// mayMove reports whether some plan has room for the job before its promise.
func (p *conservative) mayMove(en *candidate) bool {
	for _, q := range p.pools {
		if p.plans[q].gapsOf(en.milli).fitsBefore(en.est, en.at) {
			return true
		}
	}
	return false
}

// move removes l's promise from its plan and promises l the earliest start that is then free.
func (p *conservative) move(t *simulate.Turn, l *simulate.Live, en *candidate) {
	b := p.promise(l)
	was, pool := b.at, b.pool
	p.plans[b.pool].add(b.at, b.at+b.est, b.milli)
	p.choose(t, l, b)
	if b.at == was && b.pool == pool {
		return
	}
	en.at = b.at
	p.due.Remove(int64(was), uint64(b.index))
	p.due.Insert(sorted.Entry[*simulate.Live]{Key: int64(b.at), Seq: uint64(b.index), Value: l})
}

// bookFresh makes promises for new jobs without one.
func (p *conservative) bookFresh(t *simulate.Turn) {
	for l := range t.Fresh() {
		if p.promise(l) == nil {
			p.book(t, l)
		}
	}
}

// startDue starts the jobs whose promised time has come, in order of arrival.
func (p *conservative) startDue(t *simulate.Turn) {
	now := t.Now()
	for len(p.due.Chunks) > 0 {
		en := p.due.Chunks[0][0]
		if capcli.Seconds(en.Key) > now {
			return
		}
		l := en.Value
		if !p.stands(l, en.Seq) || l.OverQuota() || !p.startPromised(t, l) {
			p.again = true
			return
		}
		p.due.Remove(en.Key, en.Seq)
		p.order.Remove(0, en.Seq)
		b, pool := p.promises[l.Mark-1], l.Pool()
		p.drop(l)
		if pool != b.pool || b.at != now || l.EndBelieved() != now+b.est || l.Milli() != b.milli {
			p.plans[b.pool].add(b.at, b.at+b.est, b.milli)
			p.occupy(l, now)
			continue
		}
		p.running = append(p.running, stay{l, l.Stay(), pool, l.EndBelieved(), l.Milli()})
	}
}

// startPromised starts l, whose time has come, in the way that it was promised.
func (p *conservative) startPromised(t *simulate.Turn, l *simulate.Live) bool {
	b := p.promise(l)
	if b.way < 0 {
		return t.Start(l)
	}
	if t.Ways().StartAs(l, simulate.Choice{Way: b.way, Pool: b.pool}) {
		return true
	}
	// The nodes have no room for it so: any way that delays no other promise will do.
	now := t.Now()
	p.plans[b.pool].add(b.at, b.at+b.est, b.milli)
	s := t.Ways().FindIf(l, func(s []simulate.Slice) bool {
		milli, est := t.Ways().FoundAs(l)
		return p.plans[s[0].Pool].isFree(now, est, milli)
	})
	p.plans[b.pool].add(b.at, b.at+b.est, -b.milli)
	if len(s) == 0 {
		return t.Ways().StartAsked(l)
	}
	t.Planning().StartFound(l)
	return true
}
