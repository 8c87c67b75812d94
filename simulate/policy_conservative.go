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
	booked  int     // waiting jobs with a promise
	again   bool    // make all promises anew
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
	pool int // -1 is none
	run  uint32
}

func (p *conservative) Schedule(t *Turn) {
	early := p.refresh(t)
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
	p.wake(t)
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

// changed tells whether capacity or the set of pools is not what was planned
// with, and notes what it is now.
func (p *conservative) changed(t *Turn) bool {
	c, cell := t.e.c, t.q.cell
	now := slices.Equal(p.pools, cell.pools)
	if !now {
		p.pools = append(p.pools[:0], cell.pools...)
		p.plans = append(p.plans, make([]plan, max(0, c.Pools()-len(p.plans)))...)
		p.room = append(p.room, make([]int64, max(0, c.Pools()-len(p.room)))...)
	}
	for _, q := range p.pools {
		a := &c.state[q].account
		if room := a.usable + a.used; room != p.room[q] {
			p.room[q], now = room, false
		}
	}
	// What other queues of the cell started is not in our list.
	return !now || len(cell.queues) > 1
}

// replan forgets every promise and makes them anew in order of arrival.
func (p *conservative) replan(t *Turn) {
	now := t.Now()
	p.again = false
	for _, q := range p.pools {
		p.plans[q].reset(now, p.room[q])
	}
	p.running = p.running[:0]
	for l := range t.Running() {
		p.occupy(l, now)
	}
	for l := range t.Queue() {
		p.book(t, l)
	}
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

// book promises l the earliest start that the plans leave.
func (p *conservative) book(t *Turn, l *Live) {
	b := &l.promise
	b.pool, b.run = -1, l.run
	est := l.LeftBelieved(t.Now())
	for _, q := range t.Pools(l) {
		if at, ok := p.plans[q].earliest(t.Now(), est, l.Milli()); ok && (b.pool < 0 || at < b.at) {
			b.at, b.pool = at, q
		}
	}
	if b.pool >= 0 {
		p.plans[b.pool].add(b.at, b.at+est, -l.Milli())
	}
}

// compress moves each job to the earliest start that the others leave.
func (p *conservative) compress(t *Turn) {
	for l := range t.Queue() {
		b := &l.promise
		if b.run != l.run || b.pool < 0 || b.at <= t.Now() {
			continue
		}
		est := l.LeftBelieved(t.Now())
		p.plans[b.pool].add(b.at, b.at+est, l.Milli())
		p.book(t, l)
	}
}

// bookFresh gives a promise to each job that has none.
func (p *conservative) bookFresh(t *Turn) {
	for l := range t.Fresh() {
		if l.promise.run != l.run {
			p.book(t, l)
		}
	}
}

// startDue starts the jobs whose promise has come.
func (p *conservative) startDue(t *Turn) {
	now := t.Now()
	for l := range t.Queue() {
		b := &l.promise
		if b.run != l.run || b.pool < 0 || b.at > now {
			continue
		}
		est := l.LeftBelieved(now)
		if !t.Start(l) {
			p.again = true
			continue
		}
		pool := int(l.slices[0].Pool)
		if pool != b.pool || b.at != now || l.believes != now+est {
			p.plans[b.pool].add(b.at, b.at+est, l.Milli())
			p.occupy(l, now)
			continue
		}
		p.running = append(p.running, stay{l, l.run, pool, l.believes, l.Milli()})
	}
}

// wake asks for a turn at the next promised start.
func (p *conservative) wake(t *Turn) {
	next, found := capcli.Seconds(0), false
	for l := range t.Queue() {
		if b := &l.promise; b.run == l.run && b.pool >= 0 && b.at > t.Now() && (!found || b.at < next) {
			next, found = b.at, true
		}
	}
	if found {
		t.WakeAt(next)
	}
}
