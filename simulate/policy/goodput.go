package policy

import (
	"math/bits"
	"slices"

	"capcli/simulate"
	"capcli/simulate/allocate"

	"capcli"
)

func init() {
	Catalog.Add("goodput", "jobs grow and shrink in rounds: each GPU goes to the job that it speeds up most, in relation to one GPU (Pollux)", func(s simulate.Settings) simulate.Policy {
		return &goodput{rounds: newRounds(s, capcli.Minute)}
	})
}

// keepWay is by how much more a step must gain than another loses before a job is stopped for it.
const keepWay = 0.5

// goodput divides the GPUs of a queue anew in each round by marginal gain, relative to the time of each job in
// its narrowest way, so that no estimate of times left counts. This makes the sum of 1 / speedup small, which
// is the fitness of Pollux with p = -1 (Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021, section 4.2), by steps of one way instead of its genetic search:
// see allocate.Marginal. The run times of the ways stand for goodput: throughput times statistical efficiency.
//
// First each job, in order of arrival, gets its narrowest way in the kind of pool in which it is fastest of
// those with room; then GPUs of that kind go where they save most time. A job that runs keeps its kind of pool.
// A job without ways has the one that it asked for. Each round begins from the last one, and changes a job only
// for a clear gain, because each change costs a restart: see allocate.Rebalance.
type goodput struct {
	rounds
	kinds

	room   []int64 // by kind: thousandths of GPUs left
	ways   [][]simulate.Choice
	steps  [][]allocate.Step
	kindAt []int               // by player; -1 is none
	target [][]simulate.Choice // by player: of its way, by pool; nil is none
	moves  []simulate.Reassignment
	list   []int
	buffer []simulate.Choice
}

// Remark implements simulate.Remarker.
func (p *goodput) Remark() string {
	return p.seen.remark("each has the GPUs that it asks for, in rounds")
}

func (p *goodput) Schedule(t *simulate.Turn) {
	if !p.begin(t) {
		return
	}
	p.refresh(t)
	p.enter(t)
	for k := range p.kinds.list {
		p.divide(k)
	}
	p.settle(t)
	p.end(t)
}

// enter gives each player a kind of pool: its own if it runs, else the one in which it is fastest of those
// with room for its narrowest way.
func (p *goodput) enter(t *simulate.Turn) {
	n := len(p.field)
	p.room = append(p.room[:0], make([]int64, len(p.kinds.list))...)
	for _, i := range t.AllPools() {
		p.room[p.of[i]] += p.left[i]
	}
	p.kindAt = append(p.kindAt[:0], make([]int, n)...)
	p.ways, p.steps, p.target = resize(p.ways, n), resize(p.steps, n), resize(p.target, n)
	free := slices.Clone(p.room)
	for i := range p.field {
		f := &p.field[i]
		p.kindAt[i], p.target[i] = -1, p.target[i][:0]
		p.steps[i], p.ways[i] = p.steps[i][:0], p.ways[i][:0]
		if !f.running {
			continue
		}
		k := p.of[f.job.Pool()]
		if f.stays {
			p.room[k] -= f.job.Milli()
			free[k] -= f.job.Milli()
			continue
		}
		p.kindAt[i] = k
		p.listWays(t, i, k)
		free[k] -= p.milli(i, 0)
	}
	for i := range p.field {
		if f := &p.field[i]; !f.running {
			p.choose(t, i, free)
		}
	}
}

// choose gives a waiting player the kind of pool in which its narrowest way is fastest.
func (p *goodput) choose(t *simulate.Turn, i int, free []int64) {
	best, least := -1, capcli.Seconds(0)
	for k := range p.kinds.list {
		if p.listWays(t, i, k); len(p.steps[i]) == 0 || p.milli(i, 0) > free[k] {
			continue
		}
		if left := p.steps[i][0].Left; best < 0 || left < least {
			best, least = k, left
		}
	}
	if p.kindAt[i] = best; best >= 0 {
		p.listWays(t, i, best)
		free[best] -= p.milli(i, 0)
	}
}

// milli returns what a player holds in its k-th way, in thousandths of GPUs.
func (p *goodput) milli(i, k int) int64 {
	if p.field[i].job.GPUMilli > 0 || k >= len(p.steps[i]) {
		return p.field[i].job.Milli()
	}
	return int64(p.steps[i][k].GPUs) * 1000
}

// listWays lists the ways of a player in a kind of pool, narrow first: of each width the fastest.
func (p *goodput) listWays(t *simulate.Turn, i, kind int) {
	l := p.field[i].job
	p.buffer = t.Ways().All(l, p.buffer[:0])
	p.buffer = slices.DeleteFunc(p.buffer, func(c simulate.Choice) bool { return p.of[c.Pool] != kind })
	width := func(c simulate.Choice) int {
		if c.Way < 0 {
			return l.GPUs
		}
		return l.Shape.Ways[c.Way].GPUs
	}
	slices.SortStableFunc(p.buffer, func(a, b simulate.Choice) int {
		if d := width(a) - width(b); d != 0 {
			return d
		}
		return int(a.Left - b.Left)
	})
	ways, steps := p.ways[i][:0], p.steps[i][:0]
	for _, c := range p.buffer {
		if n := len(steps); n > 0 && steps[n-1].GPUs == width(c) {
			continue
		}
		ways = append(ways, c)
		steps = append(steps, allocate.Step{GPUs: width(c), Left: c.Left})
	}
	for k := range steps {
		steps[k].Left = relativeTime(l, ways[k].Way, ways[0].Way)
	}
	p.ways[i], p.steps[i] = ways, steps
}

// wholeTime is a run time in the narrowest way, in relative times.
const wholeTime = 1 << 40

// relativeTime returns the run time of l in a way as a share of that in its narrowest way, in parts of wholeTime.
func relativeTime(l *simulate.Live, way, narrowest int) capcli.Seconds {
	if way < 0 || way == narrowest {
		return wholeTime
	}
	a, b := &l.Shape.Ways[way], &l.Shape.Ways[narrowest]
	return capcli.Seconds(float64(a.Num) / float64(a.Den) * float64(b.Den) / float64(b.Num) * wholeTime)
}

// divide divides the GPUs of a kind among its players.
func (p *goodput) divide(kind int) {
	p.list = p.list[:0]
	var jobs [][]allocate.Step
	for i := range p.field {
		if p.kindAt[i] == kind && len(p.steps[i]) > 0 {
			if p.field[i].job.GPUMilli > 0 { // a share of a GPU is no step
				if m := p.field[i].job.Milli(); m <= p.room[kind] {
					p.room[kind] -= m
					p.target[i] = p.inKind(p.target[i], p.ways[i][0], kind)
				}
				continue
			}
			p.list = append(p.list, i)
			jobs = append(jobs, p.steps[i])
		}
	}
	for m, k := range p.widths(int(p.room[kind]/1000), jobs) {
		if k >= 0 {
			i := p.list[m]
			for ; k >= 0; k-- { // narrower ways, for the case that free GPUs lie apart
				p.target[i] = p.inKind(p.target[i], p.ways[i][k], kind)
			}
		}
	}
}

// widths returns the step of each job of p.list.
func (p *goodput) widths(gpus int, jobs [][]allocate.Step) []int {
	at, held := make([]int, len(jobs)), 0
	for m, i := range p.list {
		at[m] = -1
		if f := &p.field[i]; f.running {
			at[m] = max(0, slices.IndexFunc(jobs[m], func(s allocate.Step) bool { return s.GPUs == f.job.GPUs }))
			held += jobs[m][at[m]].GPUs
		}
	}
	if held > gpus {
		return allocate.Marginal(gpus, jobs)
	}
	allocate.Rebalance(gpus, jobs, at, keepWay)
	return at
}

// inKind appends a choice for each pool of a kind.
func (p *goodput) inKind(dst []simulate.Choice, c simulate.Choice, kind int) []simulate.Choice {
	dst = append(dst, c)
	for _, pool := range p.kinds.list[kind].pools {
		if pool != c.Pool {
			c.Pool = pool
			dst = append(dst, c)
		}
	}
	return dst
}

// settle preempts, resizes and starts jobs as the round says. If a job finds no room because free GPUs lie
// apart, all jobs that may be moved are placed anew, wide ones first.
func (p *goodput) settle(t *simulate.Turn) {
	p.moves = p.moves[:0]
	for i := range p.field {
		f := &p.field[i]
		switch {
		case !f.running || f.stays:
		case len(p.target[i]) == 0:
			t.Preemption().Preempt(f.job)
		case p.target[i][0].Way != f.job.Way():
			p.moves = append(p.moves, p.moveOf(i))
		}
	}
	t.Ways().Reassign(p.moves)
	short := false
	for i := range p.field {
		if f := &p.field[i]; len(p.target[i]) > 0 && !f.stays && f.job.Waiting() && !p.isDown(f) && !p.start(t, i) {
			short = true
		}
	}
	if !short || t.Planning().CountsGPUs() {
		return
	}
	p.moves = p.moves[:0]
	for i := range p.field {
		if f := &p.field[i]; len(p.target[i]) > 0 && !f.stays && f.running == f.job.Running() {
			p.moves = append(p.moves, p.moveOf(i))
		}
	}
	slices.SortStableFunc(p.moves, func(a, b simulate.Reassignment) int {
		return bits.Len64(uint64(b.Job.Milli())) - bits.Len64(uint64(a.Job.Milli()))
	})
	t.Ways().Reassign(p.moves)
}

// isDown reports whether a job ran at the start of the turn and waits now: it starts in a later turn.
func (*goodput) isDown(f *player) bool { return f.running && f.job.Waiting() }

// moveOf returns the move of a player to its target.
func (p *goodput) moveOf(i int) simulate.Reassignment {
	return simulate.Reassignment{Job: p.field[i].job, To: slices.Clone(p.target[i])}
}

// start starts a waiting player in its way, or in the widest narrower one for which there is room.
func (p *goodput) start(t *simulate.Turn, i int) bool {
	t.Ways().SortByCost(p.field[i].job, p.target[i])
	for _, c := range p.target[i] {
		if t.Ways().StartAs(p.field[i].job, c) {
			return true
		}
	}
	return false
}

// resize returns s with n entries, and keeps what the entries hold.
func resize[T any](s [][]T, n int) [][]T {
	for len(s) < n {
		s = append(s, nil)
	}
	return s[:n]
}
