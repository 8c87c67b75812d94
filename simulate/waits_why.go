package simulate

import (
	"math"
	"slices"
)

// why is the set of causes for which a kind of job waits, now that the instant
// has settled. Each job is looked at by itself: could it start, and if not,
// which single change would let it.
func (w *Waits) why(k *alike) Cause {
	room := w.room(k)
	switch {
	case !k.job.OverQuota():
		return room
	case room == CauseOrder:
		return CauseQuota
	}
	return CauseQuota | room
}

// room is why without a look at the quota.
func (w *Waits) room(k *alike) Cause {
	c, ranks := w.e.c, k.job.class.ranks
	reach := ranks
	if !k.key.opened {
		reach = ranks[:1]
	}
	if w.anyFits(c, &k.job, reach) {
		return CauseOrder
	}
	var why Cause
	if w.free(&k.job, reach) {
		why |= w.scattered(k, reach)
	}
	if !k.key.opened && !k.key.never && w.anyFits(c, &k.job, ranks[1:]) {
		why |= CausePatience
	}
	why |= w.missing(k, reach) | w.elsewhere(k)
	if why != 0 {
		return why
	}
	return w.held(reach)
}

// held names the capacity that is all held.
func (w *Waits) held(reach [][]int) Cause {
	why := CauseCapacity
	for _, pools := range reach {
		for _, p := range pools {
			switch w.e.c.pools[p].Terms {
			case OnDemand:
				return CauseCeiling
			case Spot:
				why = CauseSpotShort
			case Owned, Reserved:
			}
		}
	}
	return why
}

// anyFits tells whether l fits on some pool of the ranks.
func (w *Waits) anyFits(c *Cluster, l *Live, ranks [][]int) bool {
	for _, pools := range ranks {
		if w.fits(c, l, pools) {
			return true
		}
	}
	return false
}

// fits tells whether l fits on one of pools. It asks no placement that might
// remember having been asked: what fits does not depend on their taste.
func (w *Waits) fits(c *Cluster, l *Live, pools []int) bool {
	return len(w.e.findBy(w.asker(), c, l, pools)) > 0
}

// asker is a placement that finds room where the run's does.
func (w *Waits) asker() Placement {
	switch p := w.e.cfg.Placement.(type) {
	case count, pack:
		return p
	}
	return consolidate{}
}

// free tells whether the pools together have the GPUs free that l wants, each
// wherever they are.
func (w *Waits) free(l *Live, reach [][]int) bool {
	var sum int64
	for _, pools := range reach {
		for _, p := range pools {
			sum += w.e.c.state[p].account.usable
		}
	}
	return sum >= l.Milli()
}

// scattered tells apart GPUs that are free in different places from GPUs whose
// CPUs or memory are taken.
func (w *Waits) scattered(k *alike, reach [][]int) Cause {
	if k.key.cpu > 0 || k.key.mem > 0 {
		bare := k.job
		bare.CPUMilli, bare.MemMiB = 0, 0
		if w.anyFits(w.e.c, &bare, reach) {
			return CauseHost
		}
	}
	return CauseTogether
}

// missing are the causes that lie in nodes which are not there.
func (w *Waits) missing(k *alike, reach [][]int) Cause {
	var why Cause
	for _, pools := range reach {
		for _, p := range pools {
			for _, c := range [...]Cause{CauseDown, CauseSpotGone, CauseOutside} {
				if why&c == 0 && w.world.gone(w.e.c, p, c)+w.e.c.state[p].account.usable >= k.job.Milli() &&
					w.fits(w.world.with(w.e.c, p, c), &k.job, []int{p}) {
					why |= c
				}
			}
		}
	}
	return why
}

// elsewhere are the causes that lie in what the job asked for: committed GPUs
// are free, and would be delivered, that it may not use.
func (w *Waits) elsewhere(k *alike) Cause {
	cl := k.job.class
	if cl.strange == nil {
		cl.strange = w.strange(cl)
	}
	var why Cause
	for i, c := range [...]Cause{CauseOtherModel, CauseOtherShare} {
		if pools := cl.strange[i]; len(pools) > 0 && w.fits(w.e.c, &k.job, pools) {
			why |= c
		}
	}
	return why
}

// strange are the committed pools that only the model, or only the partition,
// keeps a class from.
func (w *Waits) strange(cl *class) *[2][]int {
	var out [2][]int
	for i := range w.e.c.pools {
		p := &w.e.c.pools[i]
		if !p.Terms.Committed() || slices.Contains(cl.committed, i) {
			continue
		}
		model, part := modelFits(cl.model, p.GPUModel), p.Partition == "" || p.Partition == cl.partition
		switch {
		case part:
			out[0] = append(out[0], i)
		case model:
			out[1] = append(out[1], i)
		}
	}
	return &out
}

// whatIfs are the cluster as it is, but with nodes that are not there, made for
// one instant when they are asked for.
type whatIfs struct {
	made map[wanting]*imagined
}

// wanting is a pool and why some of its nodes are not there.
type wanting struct {
	pool int
	why  Cause
}

type imagined struct {
	known bool  // what follows is of this instant
	milli int64 // thousandths of GPUs free on them
	built bool
	c     *Cluster
}

func (w *whatIfs) forget() {
	for _, m := range w.made {
		m.known, m.built = false, false
	}
}

// gone is how much would be free on the nodes that are not there, in
// thousandths of GPUs; far below nothing where all nodes are.
func (w *whatIfs) gone(c *Cluster, pool int, why Cause) int64 {
	p := &c.pools[pool]
	if p.Supply == nil && p.From == 0 && p.Until == 0 {
		return none
	}
	if w.made == nil {
		w.made = map[wanting]*imagined{}
	}
	m := w.made[wanting{pool, why}]
	if m == nil {
		m = &imagined{}
		w.made[wanting{pool, why}] = m
	}
	if m.known {
		return m.milli
	}
	m.known, m.milli = true, none
	s := &c.state[pool]
	for n := s.first; n < s.first+s.n; n++ {
		if absent(c, n) == why {
			m.milli = max(m.milli, 0) + c.freeMilli(n)
		}
	}
	return m.milli
}

// none is less than any job's GPUs can make up for.
const none = math.MinInt64 / 2

// absent is why a node takes no work; 0 when it does.
func absent(c *Cluster, n int) Cause {
	nd := &c.nodes[n]
	switch {
	case nd.up && !nd.draining:
		return 0
	case !nd.delivered && !nd.lost && !nd.draining:
		return CauseOutside
	case !nd.delivered:
		return 0 // two things would have to change
	case c.pools[nd.pool].Terms == Spot:
		return CauseSpotGone
	}
	return CauseDown
}

// with is the cluster with those nodes there, for questions about that pool.
func (w *whatIfs) with(c *Cluster, pool int, why Cause) *Cluster {
	m := w.made[wanting{pool, why}]
	if m.built {
		return m.c
	}
	m.c, m.built = c.copyTo(m.c), true
	s := &m.c.state[pool]
	for n := s.first; n < s.first+s.n; n++ {
		if absent(c, n) == why {
			m.c.setUp(n, true, false)
		}
	}
	return m.c
}
