package simulate

import (
	"slices"
)

// contest shares the GPUs of a queue's first pools out anew among the jobs
// that run there and those that wait, in an order of merit that a preemptive
// policy gives. It counts GPUs only, as the simulators of Helios (Hu et al.,
// SC 2021) and Tiresias (Gu et al., NSDI 2019) do: each job in turn is promised
// GPUs if enough are left. Running jobs that come away empty are preempted,
// waiting jobs that were promised GPUs are started if the placement finds room;
// if it does not, the GPUs promised to them stay free.
//
// Jobs on overflow pools and jobs of other queues are left alone.
type contest struct {
	left    []int64 // by pool: thousandths of GPUs not yet promised
	most    int64   // the largest of left over the queue's pools
	promise []int   // by tenant: GPUs promised, for quotas
	losers  []*Live // running
	winners []*Live // waiting
	field   []runner
	yield   bool // running jobs lose ties
	unmet   bool // the last contest promised GPUs that the placement could not give
}

// runner is a running job with its rank, smaller first.
type runner struct {
	rank int64
	job  *Live
}

// rank holds a contest in the order of k: waiting jobs have the key with which
// they joined the queue, running jobs that of the present moment. Running jobs
// win ties unless they yield.
func (c *contest) rank(t *Turn, k Keyed) {
	if t.Freed() || c.unmet {
		c.whole(t, k)
		return
	}
	worst := int64(-1 << 63)
	for _, chunk := range t.e.running(t.q.cell).chunks {
		for i := range chunk {
			if l := chunk[i].job; c.contends(t, l) {
				worst = max(worst, k.Key(l, t.Now()))
			}
		}
	}
	fresh := t.newcomers()
	for _, l := range fresh {
		if l.state == waiting && (l.Key < worst || (l.Key == worst && c.yield)) { // it may take the place of another
			c.whole(t, k)
			return
		}
	}
	for _, l := range fresh {
		if l.state == waiting {
			t.Start(l)
		}
	}
}

// newcomers are Fresh as a slice, some of whom may no longer wait.
func (t *Turn) newcomers() []*Live {
	slices.SortFunc(t.q.fresh, inOrder)
	return t.q.fresh
}

// whole looks at every job.
func (c *contest) whole(t *Turn, k Keyed) {
	c.open(t)
	c.field = c.field[:0]
	for _, chunk := range t.e.running(t.q.cell).chunks {
		for i := range chunk {
			if l := chunk[i].job; c.contends(t, l) {
				c.field = append(c.field, runner{k.Key(l, t.Now()), l})
			}
		}
	}
	slices.SortFunc(c.field, func(a, b runner) int {
		switch {
		case a.rank < b.rank, a.rank == b.rank && a.job.seq < b.job.seq:
			return -1
		case a.job == b.job:
			return 0
		}
		return 1
	})
	c.merge(t)
	c.settle(t)
}

// merge lets running and waiting jobs ask in order of rank.
func (c *contest) merge(t *Turn) {
	i := 0
	for _, chunk := range t.q.list.chunks {
		for j := range chunk {
			e := &chunk[j]
			for ; i < len(c.field) && (c.field[i].rank < e.key || (c.field[i].rank == e.key && !c.yield)); i++ {
				c.keep(c.field[i].job)
			}
			if e.milli <= c.most && e.job.state == waiting {
				c.admit(t, e.job)
			}
		}
		if c.most == 0 && i == len(c.field) && !t.e.cfg.CPUJobs {
			return
		}
	}
	for ; i < len(c.field); i++ {
		c.keep(c.field[i].job)
	}
}

// contends tells whether running job l may be preempted by this queue.
func (c *contest) contends(t *Turn, l *Live) bool {
	if l.queue != t.q || l.GPUs == 0 || !slices.Contains(l.class.ranks[0], int(l.slices[0].Pool)) {
		return false
	}
	for i := range l.slices {
		if t.e.c.nodes[l.slices[i].Node].draining { // preempting it would free nothing
			return false
		}
	}
	return true
}

// open begins a contest with all GPUs that are free or held by its jobs.
func (c *contest) open(t *Turn) {
	if len(c.left) == 0 {
		c.left = make([]int64, len(t.e.c.pools))
	}
	clear(c.left)
	c.promise = append(c.promise[:0], make([]int, len(t.e.tenantList))...)
	c.losers, c.winners = c.losers[:0], c.winners[:0]
	for _, p := range t.q.cell.pools {
		c.left[p] = t.e.c.state[p].account.usable
	}
	for i, tn := range t.e.tenantList {
		c.promise[i] = tn.used
	}
	for _, chunk := range t.e.running(t.q.cell).chunks {
		for i := range chunk {
			if l := chunk[i].job; c.contends(t, l) {
				c.left[l.slices[0].Pool] += l.Milli()
				c.promise[l.tenant.index] -= l.GPUs
			}
		}
	}
	c.count(t)
}

func (c *contest) count(t *Turn) {
	c.most = 0
	for _, p := range t.q.cell.pools {
		c.most = max(c.most, c.left[p])
	}
}

// grant promises l GPUs of pool p, if they are left.
func (c *contest) grant(l *Live, p int) bool {
	quota := l.tenant.Quota
	if c.left[p] < l.Milli() || (quota > 0 && c.promise[l.tenant.index]+l.GPUs > quota) {
		return false
	}
	was := c.left[p]
	c.left[p] -= l.Milli()
	c.promise[l.tenant.index] += l.GPUs
	if was == c.most {
		c.most = slices.Max(c.left)
	}
	return true
}

// keep lets a running job ask for the GPUs that it has.
func (c *contest) keep(l *Live) {
	if !c.grant(l, int(l.slices[0].Pool)) {
		c.losers = append(c.losers, l)
	}
}

// admit lets a waiting job ask for GPUs of its first pools.
func (c *contest) admit(t *Turn, l *Live) {
	for _, p := range t.Pools(l) {
		if c.grant(l, p) {
			c.winners = append(c.winners, l)
			return
		}
	}
}

// settle carries out what the contest decided.
func (c *contest) settle(t *Turn) {
	for _, l := range c.losers {
		t.Preempt(l)
	}
	c.unmet = false
	for _, l := range c.winners {
		if !t.Start(l) {
			c.unmet = true
		}
	}
}
