package simulate

import (
	"slices"

	"capcli"
)

func init() {
	Policies.Add("conservative", "every job is promised a start when it comes; no later job may delay it", func(Settings) Policy { return &conservative{} })
}

// conservative is conservative backfilling (Mu'alem and Feitelson, TPDS 12:6,
// 2001). Each job is promised, when it comes, the earliest start that delays no
// job before it, by what is believed of their lengths. When a job ends early
// the promises are compressed: in order of arrival each job is moved to the
// earliest start that the others leave, never to a later one.
//
// Where belief turns out wrong (a job runs past its limit, a node goes, nodes
// have room in number but not in one place) all promises are made anew in
// order of arrival.
type conservative struct {
	plans   []plan  // by pool
	pools   []int   // those of the cell, when the plans were made
	room    []int64 // usable and held capacity of each pool then
	running []stay  // what the plans believe runs
	order   list    // waiting jobs with a promise, by arrival; key is 0
	due     list    // the same, by promised start
	again   bool    // make all promises anew
	passed  bool    // then some job had none, for its tenant was at its quota
}

// stay is a running job as the plans have it.
type stay struct {
	job   *Live
	run   uint32
	pool  int
	end   capcli.Seconds
	milli int64
}

// booking is a waiting job's promise.
type booking struct {
	at   capcli.Seconds
	est  capcli.Seconds
	pool int // -1 is none
	run  uint32
}

// stands tells whether l still waits with the promise it was given.
func (l *Live) stands(seq uint64) bool {
	return l.seq == seq && l.state == waiting && l.promise.run == l.run
}

func (p *conservative) Schedule(t *Turn) {
	early := p.refresh(t)
	p.again = p.again || (p.passed && t.Freed())
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
	if len(p.due.chunks) > 0 {
		if next := capcli.Seconds(p.due.chunks[0][0].key); next > t.Now() {
			t.WakeAt(next)
		}
	}
}

// refresh brings the plans to now and takes out of them what no longer runs.
// It tells whether a job ended before it was believed to.
func (p *conservative) refresh(t *Turn) (early bool) {
	now := t.Now()
	if p.changed(t) {
		p.again = true
		return true
	}
	for _, q := range p.pools {
		p.plans[q].forget(now)
	}
	if p.overtaken(t) {
		p.again = true
		return true
	}
	if !t.Freed() && (len(p.running) == 0 || !p.overrun(now)) {
		return false
	}
	kept := p.running[:0]
	for _, s := range p.running {
		switch gone := s.job.run != s.run || s.job.state != running; {
		case !gone && s.end <= now:
			p.again = true // it runs on past its belief
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

// overtaken tells whether a job with a promise was started past this policy,
// on capacity beyond the first rank: its promise is nobody's now.
func (p *conservative) overtaken(t *Turn) bool {
	unbooked := 0
	for _, l := range t.fresh() {
		if l.state == waiting && l.promise.run != l.run {
			unbooked++
		}
	}
	return p.order.n+unbooked > t.Waiting()
}

// overrun tells whether a job is past its believed end.
func (p *conservative) overrun(now capcli.Seconds) bool {
	for i := range p.running {
		if p.running[i].end <= now {
			return true
		}
	}
	return false
}

// changed tells whether capacity or the set of pools is not what was planned
// with, and notes what it is now.
func (p *conservative) changed(t *Turn) bool {
	c, cell := t.e.c, t.q.cell
	same := slices.Equal(p.pools, cell.pools)
	if !same {
		p.pools = append(p.pools[:0], cell.pools...)
		p.plans = append(p.plans, make([]plan, max(0, c.Pools()-len(p.plans)))...)
		p.room = append(p.room, make([]int64, max(0, c.Pools()-len(p.room)))...)
	}
	for _, q := range p.pools {
		a := &c.state[q].account
		if room := a.usable + a.used; room != p.room[q] {
			p.room[q], same = room, false
		}
	}
	// What other queues of the cell started is not in our list.
	return !same || len(cell.queues) > 1
}

// replan forgets every promise and makes them anew in order of arrival.
func (p *conservative) replan(t *Turn) {
	now := t.Now()
	p.again = false
	for _, q := range p.pools {
		p.plans[q].reset(now, p.room[q])
	}
	p.running = p.running[:0]
	p.order.reset()
	p.due.reset()
	for l := range t.Running() {
		p.occupy(l, now)
	}
	booked := 0
	for l := range t.Queue() {
		p.book(t, l)
		booked++
	}
	p.passed = booked < t.Waiting()
}

// occupy puts a running job into the plan. One that is past its believed end is
// believed to run for as long again as it has run over, a second at least.
func (p *conservative) occupy(l *Live, now capcli.Seconds) {
	end := l.believes
	if end <= now {
		end = now + max(1, now-end)
	}
	s := stay{l, l.run, int(l.slices[0].Pool), end, l.Milli()}
	p.plans[s.pool].add(now, end, -s.milli)
	p.running = append(p.running, s)
}

// book promises l the earliest start that the plans leave, and enters it.
func (p *conservative) book(t *Turn, l *Live) {
	b := &l.promise
	b.run = l.run
	b.est = l.LeftBelieved(t.Now())
	if p.choose(t, l); b.pool < 0 {
		return
	}
	p.order.insert(entry{seq: l.seq, job: l, milli: l.Milli(), est: b.est, at: b.at})
	p.due.insert(entry{key: int64(b.at), seq: l.seq, job: l})
}

// choose finds the earliest start that the plans leave for l and takes it.
func (p *conservative) choose(t *Turn, l *Live) {
	b := &l.promise
	b.pool = -1
	for _, q := range t.Pools(l) {
		if at, ok := p.plans[q].earliest(t.Now(), b.est, l.Milli()); ok && (b.pool < 0 || at < b.at) {
			b.at, b.pool = at, q
		}
	}
	if b.pool >= 0 {
		p.plans[b.pool].add(b.at, b.at+b.est, -l.Milli())
	}
}

// compress moves each job to the earliest start that the others leave. A job
// is worth a look only if, somewhere before its promise, enough is free for
// long enough.
func (p *conservative) compress(t *Turn) {
	for _, chunk := range p.order.chunks {
		for i := range chunk {
			en := &chunk[i]
			if !p.mayMove(en) {
				continue
			}
			l := en.job
			if !l.stands(en.seq) {
				p.again = true // it was started past us
				continue
			}
			p.move(t, l, en)
		}
	}
}

// mayMove tells whether some plan has room for the job before its promise.
func (p *conservative) mayMove(en *entry) bool {
	for _, q := range p.pools {
		if p.plans[q].gapsOf(en.milli).before(en.est, en.at) {
			return true
		}
	}
	return false
}

// move gives l the earliest start that is left when its own promise is taken
// out of the plan.
func (p *conservative) move(t *Turn, l *Live, en *entry) {
	b := &l.promise
	was, pool := b.at, b.pool
	p.plans[b.pool].add(b.at, b.at+b.est, l.Milli())
	p.choose(t, l)
	if b.at == was && b.pool == pool {
		return
	}
	en.at = b.at
	p.due.remove(int64(was), l.seq)
	p.due.insert(entry{key: int64(b.at), seq: l.seq, job: l})
}

// bookFresh gives a promise to each job that has none.
func (p *conservative) bookFresh(t *Turn) {
	for l := range t.Fresh() {
		if l.promise.run != l.run {
			p.book(t, l)
		}
	}
}

// startDue starts the jobs whose promise has come, in order of arrival.
func (p *conservative) startDue(t *Turn) {
	now := t.Now()
	for len(p.due.chunks) > 0 {
		en := p.due.chunks[0][0]
		if capcli.Seconds(en.key) > now {
			return
		}
		l := en.job
		if !l.stands(en.seq) || l.overQuota() || !t.Start(l) {
			p.again = true
			return
		}
		p.due.remove(en.key, en.seq)
		p.order.remove(0, en.seq)
		b := &l.promise
		pool := int(l.slices[0].Pool)
		if pool != b.pool || b.at != now || l.believes != now+b.est {
			p.plans[b.pool].add(b.at, b.at+b.est, l.Milli())
			p.occupy(l, now)
			continue
		}
		p.running = append(p.running, stay{l, l.run, pool, l.believes, l.Milli()})
	}
}
