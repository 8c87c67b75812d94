package cause

import (
	"math"
	"slices"

	"capcli/simulate"
)

// findCause is the set of causes for which a kind of job waits, now that the instant
// has settled. Each job is looked at by itself: could it start, and if not,
// which single change would let it.
func (w *Waits) findCause(k *alike) Cause {
	room := w.room(k)
	switch {
	case !k.job.OverQuota():
		return room
	case room == Order:
		return Quota
	}
	return Quota | room
}

// room is why without a look at the quota.
func (w *Waits) room(k *alike) Cause {
	c, ranks := w.run.Cluster(), k.key.class.Ranks()
	reach := ranks
	if !k.key.opened {
		reach = ranks[:1]
	}
	if w.anyFits(c, k.job, reach) {
		return Order
	}
	var why Cause
	if w.enoughFree(k.job, reach) {
		why |= w.scattered(k, reach)
	}
	if !k.key.opened && !k.key.never && w.anyFits(c, k.job, ranks[1:]) {
		why |= Patience
	}
	why |= w.missing(k, reach) | w.elsewhere(k)
	if why != 0 {
		return why
	}
	return w.heldCapacity(reach)
}

// heldCapacity names the capacity that is all held.
func (w *Waits) heldCapacity(reach [][]int) Cause {
	why := Capacity
	for _, pools := range reach {
		for _, p := range pools {
			switch w.run.Cluster().Pool(p).Terms {
			case simulate.OnDemand:
				return Ceiling
			case simulate.Spot:
				why = SpotShort
			case simulate.Owned, simulate.Reserved:
			}
		}
	}
	return why
}

// anyFits tells whether l fits on some pool of the ranks.
func (w *Waits) anyFits(c *simulate.Cluster, l *simulate.Live, ranks [][]int) bool {
	for _, pools := range ranks {
		if w.fits(c, l, pools) {
			return true
		}
	}
	return false
}

// fits tells whether l fits on one of pools.
func (w *Waits) fits(c *simulate.Cluster, l *simulate.Live, pools []int) bool {
	return len(c.Find(w.probe, l, pools)) > 0
}

// enoughFree tells whether the pools together have the GPUs free that l wants, each
// wherever they are.
func (w *Waits) enoughFree(l *simulate.Live, reach [][]int) bool {
	var sum int64
	for _, pools := range reach {
		for _, p := range pools {
			sum += w.run.Cluster().Usable(p)
		}
	}
	return sum >= l.Milli()
}

// scattered tells apart GPUs that are free in different places from GPUs whose
// CPUs or memory are taken.
func (w *Waits) scattered(k *alike, reach [][]int) Cause {
	if k.key.cpu > 0 || k.key.mem > 0 {
		bare := *k.job
		bare.CPUMilli, bare.MemMiB = 0, 0
		if w.anyFits(w.run.Cluster(), &bare, reach) {
			return Host
		}
	}
	return Together
}

// missing are the causes that lie in nodes which are not there.
func (w *Waits) missing(k *alike, reach [][]int) Cause {
	var why Cause
	for _, pools := range reach {
		for _, p := range pools {
			for _, c := range [...]Cause{Down, SpotGone, Outside} {
				if why&c == 0 && w.world.missing(w.run.Cluster(), p, c)+w.run.Cluster().Usable(p) >= k.job.Milli() &&
					w.fits(w.world.clusterWith(w.run.Cluster(), p, c), k.job, []int{p}) {
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
	strange := w.strangers[k.key.class]
	if strange == nil {
		strange = w.strange(k.key.class)
		w.strangers[k.key.class] = strange
	}
	var why Cause
	for i, c := range [...]Cause{OtherModel, OtherShare} {
		if pools := strange[i]; len(pools) > 0 && w.fits(w.run.Cluster(), k.job, pools) {
			why |= c
		}
	}
	return why
}

// strange are the committed pools that only the model, or only the partition,
// keeps a class from.
func (w *Waits) strange(cl *simulate.Reach) *[2][]int {
	var out [2][]int
	for i := range w.run.Cluster().Pools() {
		p := w.run.Cluster().Pool(i)
		if !p.Terms.Committed() || slices.Contains(cl.Committed(), i) {
			continue
		}
		model, part := p.Serves(p.Partition, cl.GPUModel()), p.Partition == "" || p.Partition == cl.Partition()
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
	c     *simulate.Cluster
}

func (w *whatIfs) forget() {
	for _, m := range w.made {
		m.known, m.built = false, false
	}
}

// missing is how much would be free on the nodes that are not there, in
// thousandths of GPUs; far below nothing where all nodes are.
func (w *whatIfs) missing(c *simulate.Cluster, pool int, why Cause) int64 {
	p := c.Pool(pool)
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
	from, to := c.NodesOf(pool)
	for n := from; n < to; n++ {
		if absent(c, n) == why {
			m.milli = max(m.milli, 0) + c.FreeMilli(n)
		}
	}
	return m.milli
}

// none is less than any job's GPUs can make up for.
const none = math.MinInt64 / 2

// absent is why a node takes no work; 0 when it does.
func absent(c *simulate.Cluster, n int) Cause {
	is := c.Status(n)
	switch {
	case is.Up && !is.Draining:
		return 0
	case !is.Delivered && !is.Lost && !is.Draining:
		return Outside
	case !is.Delivered:
		return 0 // two things would have to change
	case c.Pool(c.NodePool(n)).Terms == simulate.Spot:
		return SpotGone
	}
	return Down
}

// clusterWith is the cluster with those nodes there, for questions about that pool.
func (w *whatIfs) clusterWith(c *simulate.Cluster, pool int, why Cause) *simulate.Cluster {
	m := w.made[wanting{pool, why}]
	if m.built {
		return m.c
	}
	m.c, m.built = c.CopyWith(m.c, pool, func(n int) bool { return absent(c, n) == why }), true
	return m.c
}
