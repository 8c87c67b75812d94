package policy

import (
	"cmp"
	"slices"

	"capcli/simulate"

	"capcli"
)

func init() {
	OwnSettings.Add("grow_every", "elastic: time between decisions who gets spare GPUs; default: 5m", 1)
	Catalog.Add("elastic", "first come first served; spare GPUs go to the job that gains most, at a checkpoint, and come back when others wait", func(s simulate.Settings) simulate.Policy {
		p := &elastic{every: s.Own["grow_every"], next: -1}
		if p.every <= 0 {
			p.every = 5 * capcli.Minute
		}
		return p
	})
}

// elastic starts jobs in order of arrival with the GPUs that they asked for. A job for which there is no
// room passes three steps:
//
//  1. jobs that hold more than they asked for give that back, those with most of it first;
//  2. it starts narrower, in the widest of its ways for which there is room;
//  3. it waits, and later jobs may pass it.
//
// A job that waits alone may start wider than it asked for. While no job waits, spare GPUs go one after another to the running job that gains most time for each:
//
//	(end as it runs - end in the wider way, with its restart) / GPUs more,
//
// until no GPU is left or no job gains. Jobs change only where that loses no work: at a checkpoint, or at any
// time if preempted work is kept. A job may go to another pool, where it is faster, for no GPU more.
type elastic struct {
	every  capcli.Seconds
	next   capcli.Seconds // no growth before
	wake   capcli.Seconds // earliest checkpoint at which a job may change; 0 is none
	free   []int64
	moves  []simulate.Reassignment
	grown  []growth
	held   []loan
	buffer []simulate.Choice
	ways   hasWays
}

// growth is a running job that may grow, and its best step.
type growth struct {
	job    *simulate.Live
	now    int // GPUs that it holds, with the steps so far
	pool   int // where
	left   capcli.Seconds
	to     simulate.Choice
	wide   int
	saves  capcli.Seconds
	chosen bool
}

// loan is a running job that holds more than it asked for.
type loan struct {
	job  *simulate.Live
	more int
}

// Believes declares that it uses estimates of run times.
func (*elastic) Believes() {}

// Preempts declares that it takes GPUs away from running jobs.
func (*elastic) Preempts() {}

// Resizes declares that it chooses ways itself.
func (*elastic) Resizes() {}

// Remark implements simulate.Remarker.
func (p *elastic) Remark() string {
	return p.ways.remark("elastic only starts jobs in order of arrival and lets later ones pass")
}

func (p *elastic) Schedule(t *simulate.Turn) {
	p.wake = 0
	p.startAll(t)
	switch {
	case t.Waiting() > 0:
	case t.Now() < p.next:
		p.wakeBy(p.next)
	default:
		p.grow(t)
	}
	if p.wake > t.Now() {
		t.WakeAt(p.wake)
	}
}

func (p *elastic) wakeBy(at capcli.Seconds) {
	if p.wake == 0 || at < p.wake {
		p.wake = at
	}
}

// startAll starts waiting jobs in order of arrival.
func (p *elastic) startAll(t *simulate.Turn) {
	room := t.Room()
	p.lend(t)
	for l := range t.Queue() {
		p.ways.note(l)
		if (l.LeastMilli() <= room || len(p.held) > 0) && p.start(t, l) {
			room = t.Room()
		}
	}
}

// start starts l: alone in the queue in its fastest way, else as it asks, on GPUs that were lent if need be, or
// narrower. It reports whether there was room.
func (p *elastic) start(t *simulate.Turn, l *simulate.Live) bool {
	asked := l.AskedGPUs()
	if t.Waiting() == 1 && t.Now() >= p.next && p.startFastest(t, l) {
		return true
	}
	if p.startWithin(t, l, asked, asked) {
		return true
	}
	if p.reclaim(t, l) && p.startWithin(t, l, asked, asked) {
		return true
	}
	return p.startWithin(t, l, l.LeastGPUs(), asked-1)
}

// lend lists the jobs that hold more than they asked for, those with most of it first.
func (p *elastic) lend(t *simulate.Turn) {
	p.held = p.held[:0]
	if t.Waiting() == 0 {
		return
	}
	for l := range t.Running() {
		if more := l.GPUs - l.AskedGPUs(); more > 0 && t.Preemption().Preemptible(l) {
			p.held = append(p.held, loan{l, more})
		}
	}
	slices.SortFunc(p.held, func(a, b loan) int {
		return cmp.Or(b.more-a.more, cmp.Compare(a.job.Index(), b.job.Index()))
	})
}

// startFastest starts l, the only job that waits, where it ends first with what it asked for or more. Of
// equal ends it takes the narrowest.
func (p *elastic) startFastest(t *simulate.Turn, l *simulate.Live) bool {
	if !l.HasWays() {
		return false
	}
	ways := l.Shape.Ways
	p.buffer = slices.DeleteFunc(t.Ways().All(l, p.buffer[:0]), func(c simulate.Choice) bool {
		n := ways[c.Way].GPUs
		return n < l.AskedGPUs() || int64(n)*1000 > t.Cluster().Usable(c.Pool)
	})
	slices.SortStableFunc(p.buffer, func(a, b simulate.Choice) int {
		return cmp.Or(cmp.Compare(a.Left, b.Left), ways[a.Way].GPUs-ways[b.Way].GPUs)
	})
	for _, c := range p.buffer {
		if t.Ways().StartAs(l, c) {
			return true
		}
	}
	return false
}

// startWithin starts l in the widest of its ways from least to most GPUs for which there is room, of these
// in the fastest.
func (p *elastic) startWithin(t *simulate.Turn, l *simulate.Live, least, most int) bool {
	if !l.HasWays() {
		return most == l.AskedGPUs() && t.Start(l)
	}
	p.buffer = t.Ways().All(l, p.buffer[:0])
	ways := l.Shape.Ways
	p.buffer = slices.DeleteFunc(p.buffer, func(c simulate.Choice) bool { return ways[c.Way].GPUs < least || ways[c.Way].GPUs > most })
	slices.SortStableFunc(p.buffer, func(a, b simulate.Choice) int {
		return cmp.Or(ways[b.Way].GPUs-ways[a.Way].GPUs, cmp.Compare(a.Left, b.Left))
	})
	for _, c := range p.buffer {
		if int64(ways[c.Way].GPUs)*1000 <= t.Cluster().Usable(c.Pool) && t.Ways().StartAs(l, c) {
			return true
		}
	}
	return false
}

// reclaim takes from jobs what they hold above what they asked for, in the pool of l in which that makes
// room for it with the fewest changes. It reports whether it did.
func (p *elastic) reclaim(t *simulate.Turn, l *simulate.Live) bool {
	if len(p.held) == 0 {
		return false
	}
	best, fewest := -1, 0
	for _, pool := range t.Planning().Pools(l) {
		lack, n := int64(l.AskedGPUs())*1000-t.Cluster().Usable(pool), 0
		for _, h := range p.held {
			if lack > 0 && h.job.Pool() == pool && p.mayChange(t, h.job) {
				lack -= int64(h.more) * 1000
				n++
			}
		}
		if lack <= 0 && n > 0 && (best < 0 || n < fewest) {
			best, fewest = pool, n
		}
	}
	if best < 0 {
		return false
	}
	p.moves = p.moves[:0]
	lack := int64(l.AskedGPUs())*1000 - t.Cluster().Usable(best)
	p.held = slices.DeleteFunc(p.held, func(h loan) bool {
		if lack <= 0 || h.job.Pool() != best || !p.mayChange(t, h.job) {
			return false
		}
		p.listWays(t, h.job)
		for _, c := range p.buffer {
			if h.job.Shape.Ways[c.Way].GPUs == h.job.AskedGPUs() {
				lack -= int64(h.more) * 1000
				p.moves = append(p.moves, simulate.Reassignment{Job: h.job, To: []simulate.Choice{c}})
				return true
			}
		}
		return true
	})
	done := t.Ways().Reassign(p.moves)
	if done < len(p.moves) {
		p.wakeBy(t.Now() + 1) // a job that found no room waits
	}
	return done > 0
}

// mayChange reports whether running job l may change now without a loss. If not yet, it asks for a turn when
// it may.
func (p *elastic) mayChange(t *simulate.Turn, l *simulate.Live) bool {
	if l.Since >= t.Now() {
		return false
	}
	c := l.Saves()
	switch mode := t.Preemption().Restarts().Mode; {
	case mode == simulate.Suspend:
		return l.Restarting(t.Now()) == 0
	case mode == simulate.Scratch || c.Interval <= 0:
		return false
	case t.Preemption().LostIfStopped(l) == 0 && l.Restarting(t.Now()) == 0:
		return true
	default:
		cycle := c.Interval + c.Cost
		work := max(0, t.Now()-l.Since-l.Overhead()-c.Write)
		p.wakeBy(l.Since + l.Overhead() + c.Write + (work/cycle+1)*cycle)
	}
	return false
}

// grow gives spare GPUs to the jobs that gain most.
func (p *elastic) grow(t *simulate.Turn) {
	p.free = append(p.free[:0], make([]int64, t.Cluster().Pools())...)
	spare := int64(0)
	for _, i := range t.AllPools() {
		p.free[i] = t.Cluster().Usable(i) / 1000
		spare += p.free[i]
	}
	p.grown = p.grown[:0]
	if spare > 0 {
		for l := range t.Running() {
			if l.HasWays() && t.Preemption().Preemptible(l) && p.mayChange(t, l) {
				p.grown = append(p.grown, growth{job: l, now: l.GPUs, pool: l.Pool(), left: l.EndBelieved() - t.Now()})
			}
		}
	}
	slices.SortFunc(p.grown, func(a, b growth) int { return cmp.Compare(a.job.Index(), b.job.Index()) })
	for i := range p.grown {
		p.step(t, &p.grown[i])
	}
	for {
		g := p.bestStep(t)
		if g == nil {
			break
		}
		p.free[g.pool] += int64(g.now)
		p.free[g.to.Pool] -= int64(g.wide)
		g.now, g.pool, g.left, g.chosen = g.wide, g.to.Pool, g.to.Left, true
		p.step(t, g)
	}
	p.moves = p.moves[:0]
	for i := range p.grown {
		if g := &p.grown[i]; g.chosen {
			p.moves = append(p.moves, simulate.Reassignment{Job: g.job, To: p.wayBack(t, g)})
		}
	}
	if len(p.moves) > 0 {
		if t.Ways().Reassign(p.moves) < len(p.moves) {
			p.wakeBy(t.Now() + 1) // a job that found no room waits
		}
		p.next = t.Now() + p.every
		p.wakeBy(p.next)
	}
}

// fits reports whether there is room for n GPUs of a job in a pool.
func (p *elastic) fits(g *growth, n, pool int) bool {
	if pool == g.pool {
		n -= g.now
	}
	return int64(n) <= p.free[pool]
}

// perGPU returns what a step saves, and the GPUs that it takes: at least one.
func (g *growth) perGPU() (saves, gpus int64) { return int64(g.saves), int64(max(1, g.wide-g.now)) }

// step finds the way, not narrower, in which a job saves most time for each GPU more.
func (p *elastic) step(t *simulate.Turn, g *growth) {
	l := g.job
	g.saves = 0
	p.buffer = t.Ways().All(l, p.buffer[:0])
	for _, c := range p.buffer {
		n, saves := l.Shape.Ways[c.Way].GPUs, g.left-c.Left
		if n < g.now || n == g.now && c.Pool == g.pool || saves <= 0 || !p.fits(g, n, c.Pool) {
			continue
		}
		if s, gpus := g.perGPU(); g.saves == 0 || int64(saves)*gpus > s*int64(max(1, n-g.now)) {
			g.saves, g.to, g.wide = saves, c, n
		}
	}
}

// bestStep returns the job whose step saves most for each GPU; nil if none saves or fits.
func (p *elastic) bestStep(t *simulate.Turn) (best *growth) {
	for i := range p.grown {
		g := &p.grown[i]
		if g.saves > 0 && !p.fits(g, g.wide, g.to.Pool) {
			p.step(t, g)
		}
		if g.saves == 0 {
			continue
		}
		if best != nil {
			s, n := g.perGPU()
			if bs, bn := best.perGPU(); s*bn <= bs*n {
				continue
			}
		}
		best = g
	}
	return best
}

// wayBack returns the way that a job has after its steps, then, for the case that its GPUs lie apart, the
// one in which it runs.
func (p *elastic) wayBack(t *simulate.Turn, g *growth) []simulate.Choice {
	l := g.job
	var to []simulate.Choice
	p.buffer = t.Ways().All(l, p.buffer[:0])
	for _, c := range p.buffer {
		switch {
		case c == g.to:
			to = append([]simulate.Choice{c}, to...)
		case c.Way == l.Way() && c.Pool == l.Pool():
			to = append(to, c)
		}
	}
	return to
}

// listWays lists the ways of running job l in its pool.
func (p *elastic) listWays(t *simulate.Turn, l *simulate.Live) {
	p.buffer = slices.DeleteFunc(t.Ways().All(l, p.buffer[:0]), func(c simulate.Choice) bool { return c.Pool != l.Pool() })
}
