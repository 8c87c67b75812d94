package simulate

import (
	"slices"
	"strings"

	"capcli"
)

// Reach is the class of jobs of one partition that want one GPU model and have one shape. It says where
// these jobs may run, and keeps sums over them.
type Reach struct {
	classKey
	queue      *queue
	ranks      [][]int // eligible pools in order of preference; jobs try ranks[0] first
	committed  []int   // eligible committed pools, whose accounts count waiting jobs
	bought     []int   // eligible pools of bought nodes, whose accounts count them too
	failed     [2]int  // least GPUs without room in a rank in outlook failedIn: see engine.foreseeIn
	failedIn   uint32
	hosted     bool                // some eligible pool limits CPUs or memory
	most       int                 // GPUs of the largest eligible pool
	fits       [2][]int8           // cache by GPUs, in the first rank and in all ranks, for jobs without CPU or memory: 0 unknown, 1 fits, 2 does not
	hostedFits map[hostDemand]bool // the same cache for jobs that want CPUs, memory or a share of a GPU
	arrived    capcli.GPUTime
	jobs       int64
	served     Served
	plain      bool                    // of jobs that want a partition and a model alone
	open       map[hostDemand][]Choice // ways that fit empty pools: see openWays
	barred     map[int]whyBarred       // pools that the data of the jobs or their users keep them out of
}

// Partition returns the partition that the jobs were sent to.
func (c *Reach) Partition() string { return c.partition }

// GPUModel returns the GPU model that the jobs want: see Pool.Serves.
func (c *Reach) GPUModel() string { return c.model }

// Ranks returns the pools that the jobs may use, in order of preference.
func (c *Reach) Ranks() [][]int { return c.ranks }

// Committed returns the committed pools that the jobs may use.
func (c *Reach) Committed() []int { return c.committed }

// hostDemand is a job's demand on the first ranks of its class: a key of Reach.hostedFits.
type hostDemand struct {
	ranks, gpus, part int
	cpu, mem          int64
}

type classKey struct {
	partition, model string
	shape            *capcli.Shape
	gpus             int // GPUs wanted, of jobs with ways; else 0
	data             *capcli.Data
	needs            int32 // number of the set of pools that fulfil what they need of a GPU: see needSets
}

// keyOf returns what tells the class of a job from others.
func keyOf(j *capcli.Job) classKey {
	key := classKey{partition: j.Partition, model: j.GPUModel, shape: j.Shape, data: j.Data}
	if key.shape != nil && len(key.shape.Ways) > 0 {
		key.gpus = j.GPUs
	}
	return key
}

// classes are the classes of the jobs of a run, which say where jobs may run.
type classes struct {
	e          *engine
	partitions map[string]bool // partitions with pools of their own
	byKey      map[classKey]*Reach
	list       []*Reach
	last       *Reach // that classOf returned
	needs      needSets
	draws      bool     // whether the placement is Drawing
	empty      *Cluster // the cluster with all nodes up and empty, to find jobs that can never fit
}

// classOf returns the class of a job. The first job of a class makes it.
func (cs *classes) classOf(j *capcli.Job) *Reach {
	if c := cs.last; c != nil && c.plain && !cs.needs.divide && j.Shape == nil && j.Data == nil && j.GPUMemMiB == 0 && c.partition == j.Partition && c.model == j.GPUModel {
		return c
	}
	key := keyOf(j)
	key.needs = cs.needsOf(j)
	if c := cs.last; c != nil && c.classKey == key {
		return c
	}
	c, ok := cs.byKey[key]
	if !ok {
		c = cs.newClass(key)
		cs.byKey[key] = c
		cs.list = append(cs.list, c)
	}
	cs.last = c
	return c
}

// newClass makes a class and finds the pools that it may use. Committed pools form the first rank;
// the ranks of overflow follow.
func (cs *classes) newClass(key classKey) *Reach {
	c := &Reach{classKey: key, plain: key == classKey{partition: key.partition, model: key.model}}
	byRank := map[int][]int{}
	var ranks []int
	for i := range cs.e.c.pools {
		p := &cs.e.c.pools[i]
		if !cs.e.shapes.serves(c, p) || cs.isBarred(c, i) || !cs.needs.fulfils(c.needs, i) {
			continue
		}
		rank := p.Rank
		if p.Terms.Committed() {
			rank = -1
			c.committed = append(c.committed, i)
		}
		if p.Buy != nil {
			c.bought = append(c.bought, i)
		}
		if _, have := byRank[rank]; !have {
			ranks = append(ranks, rank)
		}
		byRank[rank] = append(byRank[rank], i)
		c.most = max(c.most, p.Capacity())
		c.hosted = c.hosted || p.CPUMilli > 0 || p.MemMiB > 0
	}
	slices.Sort(ranks)
	for _, r := range ranks {
		c.ranks = append(c.ranks, byRank[r])
	}
	name := ""
	if cs.partitions[key.partition] {
		name = key.partition
	}
	c.queue = cs.queueOf(name)
	if len(c.ranks) > 0 {
		for _, p := range c.ranks[0] {
			if !slices.Contains(c.queue.firsts, p) {
				c.queue.firsts = append(c.queue.firsts, p)
			}
		}
	}
	for _, pools := range c.ranks {
		for _, p := range pools {
			if s := &cs.e.c.state[p]; !slices.Contains(s.queues, c.queue) {
				s.queues = append(s.queues, c.queue)
			}
			cs.join(c.queue, p)
		}
	}
	return c
}

// modelFits reports whether a pool with GPU model have serves jobs that want a model. A want of ""
// takes any model, "A|B" takes either, and a pool without a model serves every want.
func modelFits(want, have string) bool {
	if want == "" || have == "" || strings.EqualFold(want, have) {
		return true
	}
	for alt := range strings.SplitSeq(want, "|") {
		if strings.EqualFold(alt, have) {
			return true
		}
	}
	return false
}

// queueOf returns the queue of a partition; "" is the common queue. The first use of a queue makes
// it.
func (cs *classes) queueOf(name string) *queue {
	for _, q := range cs.e.queues {
		if q.name == name {
			return q
		}
	}
	q := &queue{name: name, policy: cs.e.cfg.Policy(cs.e.cfg.Settings), cell: &cell{}}
	q.requests.timed = len(cs.e.win.list) > 0
	if _, uniform := cs.e.cfg.Chooser.(UniformChooser); cs.e.cfg.Chooser != nil && !uniform {
		q.requests.alone = true
	}
	q.keyed, _ = q.policy.(Keyed)
	for i := range cs.e.cfg.Priorities {
		q.topClass = max(q.topClass, cs.e.cfg.Priorities[i].Value)
	}
	if st := cs.e.cfg.Stages; st != nil {
		q.tails = st.tails
	}
	_, q.preempts = q.policy.(Preemptor)
	_, q.resizes = q.policy.(Resizer)
	if o, learns := q.policy.(Observer); learns {
		cs.e.cfg.Observers = append(slices.Clip(cs.e.cfg.Observers), o)
	}
	q.cell.queues = append(q.cell.queues, q)
	cs.e.queues = append(cs.e.queues, q)
	return q
}

// join adds pool p to the cell of q. If another cell has p already, it is merged into q's cell.
func (cs *classes) join(q *queue, p int) {
	for _, other := range cs.e.queues {
		o := other.cell
		if o == q.cell || !slices.Contains(o.pools, p) {
			continue
		}
		if o.ordered || q.cell.ordered {
			all := cs.e.running(q.cell)
			for en := range cs.e.running(o).All() {
				all.Insert(*en)
			}
		}
		q.cell.pools = append(q.cell.pools, o.pools...)
		for _, moved := range o.queues {
			moved.cell = q.cell
		}
		q.cell.queues = append(q.cell.queues, o.queues...)
	}
	if !slices.Contains(q.cell.pools, p) {
		q.cell.pools = append(q.cell.pools, p)
	}
}

// canEver reports whether l fits when all pools that it may ever use are empty and all
// their nodes are up. A job with endless patience uses only its first rank.
func (cs *classes) canEver(l *Live) bool {
	c := l.class
	if len(c.ranks) == 0 || l.GPUs > c.most || cs.e.neverMay(l, demandOf(l)) {
		return false
	}
	if c.hasWays() {
		return l.mould.open != nil
	}
	return cs.fitsRanks(l, cs.reachOf(l))
}

// fitsFirst reports whether l fits when all pools of its first rank are empty and all their nodes
// are up. Where it does not, there is nothing for it to wait for. Jobs with ways always fit.
func (cs *classes) fitsFirst(l *Live) bool {
	return l.class.hasWays() || cs.fitsRanks(l, l.class.ranks[:1])
}

// fitsRanks is fitsEmpty with a cache. reach is the first rank of l's class, or all.
func (cs *classes) fitsRanks(l *Live, reach [][]int) bool {
	c := l.class
	if l.CPUMilli > 0 || l.MemMiB > 0 || l.GPUMilli > 0 || l.GPUs >= 4096 {
		return cs.canEverHosted(l, reach)
	}
	fits := &c.fits[min(len(reach), 2)-1]
	for len(*fits) <= l.GPUs {
		*fits = append(*fits, 0)
	}
	if (*fits)[l.GPUs] == 0 {
		(*fits)[l.GPUs] = 2
		if cs.fitsEmpty(l, reach) {
			(*fits)[l.GPUs] = 1
		}
	}
	return (*fits)[l.GPUs] == 1
}

// reachOf returns the ranks of pools that l may ever use.
func (cs *classes) reachOf(l *Live) [][]int {
	if c := l.class; len(c.ranks) > 0 && cs.e.cfg.Overflow.patienceOf(l) < 0 {
		return c.ranks[:1]
	}
	return l.class.ranks
}

// mostHosted is the most answers that a class caches.
const mostHosted = 4096

// canEverHosted answers canEver for jobs that want CPUs, memory or a share of a GPU.
func (cs *classes) canEverHosted(l *Live, reach [][]int) bool {
	if cs.draws {
		return cs.fitsEmpty(l, reach)
	}
	c, key := l.class, hostDemand{len(reach), l.GPUs, l.GPUMilli, l.CPUMilli, l.MemMiB}
	fits, known := c.hostedFits[key]
	if !known {
		if c.hostedFits == nil || len(c.hostedFits) == mostHosted {
			c.hostedFits = map[hostDemand]bool{}
		}
		fits = cs.fitsEmpty(l, reach)
		c.hostedFits[key] = fits
	}
	return fits
}

// fitsEmpty reports whether l fits on pools of the ranks when all their nodes are up
// and empty.
func (cs *classes) fitsEmpty(l *Live, ranks [][]int) bool {
	if cs.empty == nil {
		cs.empty = newCluster(cs.e.c.pools)
		if cs.needs.divide {
			cs.empty.shareDevices(noJobs)
		}
		for n := range cs.empty.nodes {
			cs.empty.setUp(n, true, false)
		}
	}
	if l.GPUMilli > 0 {
		cs.empty.shareDevices(noJobs)
	}
	for i := len(cs.empty.profiles); i < len(cs.e.c.profiles); i++ {
		cs.empty.profileNumber(cs.e.c.profiles[i])
	}
	return slices.ContainsFunc(ranks, func(pools []int) bool { return len(cs.e.place(cs.empty, l, pools)) > 0 })
}
