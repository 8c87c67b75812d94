package policy

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/simulate"
)

// contest divides the GPUs of a queue's first pools among its running and waiting jobs, in the rank
// order of a preemptive policy. Like the simulators of Helios (Hu et al., SC 2021) and Tiresias (Gu
// et al., NSDI 2019) it only counts GPUs: each job in turn is promised its GPUs if enough are left.
// Running jobs without a promise are preempted. Waiting jobs with a promise start if the placement
// finds room; if not, the promised GPUs stay free.
//
// Jobs on overflow pools and jobs of other queues do not take part.
type contest struct {
	left    []int64           // by pool: thousandths of GPUs not yet promised
	later   []int64           // by pool: of left, what preemptible jobs hold that have not asked yet
	most    int64             // the largest of left over the queue's pools
	promise []int             // by tenant: GPUs counted against quotas
	pledges *simulate.Pledges // what is promised, counted against caps; nil without caps
	losers  []*simulate.Live  // running jobs to preempt
	winners []*simulate.Live  // waiting jobs to start
	field   []runner
	yield   bool // whether running jobs lose ties
	byIndex bool // whether ties are in order of arrival, whether jobs run or wait
	unmet   bool // whether the last contest promised GPUs that the placement could not give
}

// runner is a running job with its rank, smaller first.
type runner struct {
	rank int64
	job  *simulate.Live
}

// rankAt returns the rank of a running job at a time, smaller first.
type rankAt func(l *simulate.Live, now capcli.Seconds) int64

// rank holds a contest. Waiting jobs rank by their Key, running jobs by key, and win ties unless yield is set.
func (c *contest) rank(t *simulate.Turn, key rankAt) {
	if t.Freed() || c.unmet {
		c.enterAll(t, key)
		return
	}
	worst := int64(-1 << 63)
	for l := range t.Running() {
		if t.Preemption().Preemptible(l) {
			worst = max(worst, key(l, t.Now()))
		}
	}
	for l := range t.Fresh() {
		if l.Key < worst || (l.Key == worst && (c.yield || c.byIndex)) { // it may take the place of a running job
			c.enterAll(t, key)
			return
		}
	}
	for l := range t.Fresh() {
		t.Start(l)
	}
}

func (c *contest) enterAll(t *simulate.Turn, key rankAt) {
	c.open(t)
	c.field = c.field[:0]
	for l := range t.Running() {
		if t.Preemption().Preemptible(l) {
			c.field = append(c.field, runner{key(l, t.Now()), l})
		}
	}
	slices.SortFunc(c.field, func(a, b runner) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return cmp.Compare(a.job.Index(), b.job.Index())
	})
	c.merge(t)
	c.settle(t)
}

// merge lets running and waiting jobs ask for GPUs in order of rank.
func (c *contest) merge(t *simulate.Turn) {
	i := 0
	for w := t.Scan(); w.HasMore(); w.Next() {
		for ; i < len(c.field) && c.precedes(&c.field[i], &w); i++ {
			c.keep(c.field[i].job)
		}
		if c.most == 0 && i == len(c.field) && !t.CPUJobs() {
			return
		}
		if w.Milli() <= c.most && w.Job().Waiting() {
			c.admit(t, w.Job())
		}
	}
	for ; i < len(c.field); i++ {
		c.keep(c.field[i].job)
	}
}

// precedes reports whether a running job goes before a waiting one.
func (c *contest) precedes(r *runner, w *simulate.Cursor) bool {
	switch {
	case r.rank != w.Key():
		return r.rank < w.Key()
	case c.byIndex:
		return r.job.Index() < w.Job().Index()
	}
	return !c.yield
}

// open starts a contest: the GPUs that are free, or held by preemptible jobs, are left to promise.
func (c *contest) open(t *simulate.Turn) {
	if len(c.left) == 0 {
		c.left, c.later = make([]int64, t.Cluster().Pools()), make([]int64, t.Cluster().Pools())
	}
	clear(c.left)
	clear(c.later)
	c.promise = c.promise[:0]
	c.losers, c.winners = c.losers[:0], c.winners[:0]
	for _, p := range t.AllPools() {
		c.left[p] = t.Cluster().Usable(p)
	}
	for _, holder := range t.Tenants() {
		c.promise = append(c.promise, holder.GPUs())
	}
	c.pledges = t.Preemption().Pledges()
	for l := range t.Running() {
		if t.Preemption().Preemptible(l) || l.Leaves() {
			c.left[l.Pool()] += l.Milli()
			c.later[l.Pool()] += l.Milli()
			c.promise[l.Holder().Index()] -= l.GPUs
			c.pledges.Leave(l)
		}
	}
	c.count(t)
}

func (c *contest) count(t *simulate.Turn) {
	c.most = 0
	for _, p := range t.AllPools() {
		c.most = max(c.most, c.left[p])
	}
}

// grant promises l GPUs of pool p. It reports whether enough were left.
func (c *contest) grant(l *simulate.Live, p int) bool {
	quota := l.Holder().Quota
	if c.left[p] < l.Milli() || (quota > 0 && c.promise[l.Holder().Index()]+l.GPUs > quota) || !c.pledges.Allow(l) {
		return false
	}
	was := c.left[p]
	c.left[p] -= l.Milli()
	c.promise[l.Holder().Index()] += l.GPUs
	c.pledges.Join(l)
	if was == c.most {
		c.most = slices.Max(c.left)
	}
	return true
}

// keep promises a running job the GPUs that it holds; without enough left, the job loses.
func (c *contest) keep(l *simulate.Live) {
	c.later[l.Pool()] -= l.Milli()
	if !c.grant(l, l.Pool()) {
		c.losers = append(c.losers, l)
	}
}

// admit promises a waiting job GPUs of its first pools, if enough are left.
func (c *contest) admit(t *simulate.Turn, l *simulate.Live) {
	for _, p := range t.Planning().Pools(l) {
		if l.NeverPreempts() && c.left[p]-c.later[p] < l.Milli() {
			continue // it would take GPUs away
		}
		if t.Planning().FitsWindows(l, p) && c.grant(l, p) {
			c.winners = append(c.winners, l)
			return
		}
	}
}

// settle preempts the losers and starts the winners.
func (c *contest) settle(t *simulate.Turn) {
	for _, l := range c.losers {
		t.Preemption().Preempt(l)
	}
	c.unmet = false
	for _, l := range c.winners {
		if !startWithin(t, l) {
			c.unmet = true
		}
	}
}

// startWithin starts l with no more GPUs than it asks for, which the policy has planned for: in the first of
// its ways that the run chooses and that needs no more, or else as it asks.
func startWithin(t *simulate.Turn, l *simulate.Live) bool {
	if !l.HasWays() {
		return t.Start(l)
	}
	most := l.Milli()
	s := t.Ways().FindIf(l, func([]simulate.Slice) bool {
		milli, _ := t.Ways().FoundAs(l)
		return milli <= most
	})
	if len(s) == 0 {
		return t.Ways().StartAsked(l)
	}
	t.Planning().StartFound(l)
	return true
}
