package cause

import (
	"math"
	"slices"

	"capcli/simulate"
)

// findCause returns why a kind of job waits at the end of an instant. It looks at each
// job alone: can it start, and if not, which single change would let it start?
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

// room returns the causes other than the quota.
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

// heldCapacity returns the cause of a job for which all capacity is held.
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

func (w *Waits) anyFits(c *simulate.Cluster, l *simulate.Live, ranks [][]int) bool {
	for _, pools := range ranks {
		if w.fits(c, l, pools) {
			return true
		}
	}
	return false
}

func (w *Waits) fits(c *simulate.Cluster, l *simulate.Live, pools []int) bool {
	return len(c.Find(w.probe, l, pools)) > 0
}

// enoughFree reports whether the pools together have as many free GPUs as l wants.
func (w *Waits) enoughFree(l *simulate.Live, reach [][]int) bool {
	var sum int64
	for _, pools := range reach {
		for _, p := range pools {
			sum += w.run.Cluster().Usable(p)
		}
	}
	return sum >= l.Milli()
}

// scattered returns Host when l would fit without its CPUs and memory, NoDomain when it would fit if
// its shape asked for no place, and Together when the free GPUs are in different places.
func (w *Waits) scattered(k *alike, reach [][]int) Cause {
	if k.key.cpu > 0 || k.key.mem > 0 {
		bare := *k.job
		bare.CPUMilli, bare.MemMiB = 0, 0
		if w.anyFits(w.run.Cluster(), &bare, reach) {
			return Host
		}
	}
	if free := k.job.WithoutPlace(); free != nil && w.anyFits(w.run.Cluster(), free, reach) {
		return NoDomain
	}
	return Together
}

// missing returns the causes that are nodes which are not there.
func (w *Waits) missing(k *alike, reach [][]int) Cause {
	var why Cause
	for _, pools := range reach {
		for _, p := range pools {
			for _, c := range w.absences(p) {
				if why&c == 0 && (why&Lead == 0 || c&(Shortage|Unordered) == 0) && w.world.missing(w.run.Cluster(), p, c)+w.run.Cluster().Usable(p) >= k.job.Milli() &&
					w.fits(w.world.clusterWith(w.run.Cluster(), p, c), k.job, []int{p}) {
					why |= c
				}
			}
		}
	}
	return why
}

// absences returns the causes why nodes of pool p may not be there. Of bought nodes the first that is
// enough counts: one that is on its way, and else why none was ordered.
func (w *Waits) absences(p int) []Cause {
	switch {
	case w.run.Cluster().Pool(p).Buy == nil:
		return fixedAbsences[:]
	case w.run.IsShort(p):
		return shortAbsences[:]
	}
	return boughtAbsences[:]
}

var (
	fixedAbsences  = [...]Cause{Down, SpotGone, Outside}
	boughtAbsences = [...]Cause{Down, SpotGone, Outside, Lead, Unordered}
	shortAbsences  = [...]Cause{Down, SpotGone, Outside, Lead, Shortage}
)

// elsewhere returns the causes in what the job asked for: free committed GPUs of
// another model or partition would do.
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

// strange returns the committed pools that a class may not use only because of its
// model, and only because of its partition.
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

// whatIfs are copies of the cluster with nodes that are not there. They are made on
// demand and valid for one instant.
type whatIfs struct {
	made map[wanting]*imagined
}

// wanting is a pool and a reason why some of its nodes are not there.
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

// missing returns the free capacity of the nodes that are not there for a reason, in
// thousandths of GPUs, or none.
func (w *whatIfs) missing(c *simulate.Cluster, pool int, why Cause) int64 {
	p := c.Pool(pool)
	if p.Supply == nil && p.From == 0 && p.Until == 0 && p.Buy == nil {
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
		if lacks(c, n, why) {
			m.milli = max(m.milli, 0) + c.FreeMilli(n)
		}
	}
	return m.milli
}

// none is so low that adding the free GPUs of a pool never gives room for a job.
const none = math.MinInt64 / 2

// lacks reports whether node n would take work if a cause went away. What could be ordered comes with
// what is on its way.
func lacks(c *simulate.Cluster, n int, why Cause) bool {
	is := absent(c, n)
	return is == why || is == Unordered && why == Shortage || is == Lead && why&(Unordered|Shortage) != 0
}

// absent returns why a node takes no work, 0 when it does. It does not tell a shortage from a node that
// nobody ordered.
func absent(c *simulate.Cluster, n int) Cause {
	is, p := c.Status(n), c.Pool(c.NodePool(n))
	bought := p.Buy != nil && !is.Lost && !is.Draining && !is.Up && c.Now() >= p.From && (p.Until == 0 || c.Now() < p.Until)
	switch {
	case bought && is.Coming:
		return Lead
	case bought:
		return Unordered
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

// clusterWith returns a copy of the cluster that has the nodes which are not there for
// a reason.
func (w *whatIfs) clusterWith(c *simulate.Cluster, pool int, why Cause) *simulate.Cluster {
	m := w.made[wanting{pool, why}]
	if m.built {
		return m.c
	}
	m.c, m.built = c.CopyWith(m.c, pool, func(n int) bool { return lacks(c, n, why) }), true
	return m.c
}
