package simulate

import (
	"iter"
	"math/bits"

	"capcli"
)

// Slice is the part of a gang on one node.
type Slice struct {
	Pool, Node int32 // Node is the index in the cluster
	GPUs       int32 // whole GPUs
	Milli      int32 // share of one GPU, in thousandths; GPUs is 0 then
	Device     int32 // the shared GPU's number on the node
	profile    int16 // number of the MIG profile of its instance: see Cluster.profileNumber; 0 is none
	start      int8  // of the instance
	gpuMem     int32 // memory of the shared GPU, in MiB, where the pool states it
	wait       int32 // until the GPU has changed its layout for the job
	layout     int32 // number of the job's layout, from 1; negative in all slices of a job but the first; 0 is none
	CPUMilli   int64
	MemMiB     int64
	mask       uint64 // which whole GPUs, on nodes that share GPUs
}

// milli returns the slice's GPU capacity in thousandths.
func (s *Slice) milli() int64 { return int64(s.GPUs)*1000 + int64(s.Milli) }

// node is one machine.
type node struct {
	pool     int32
	free     int32 // wholly free GPUs
	part     int32 // counted pools: free thousandths of a partly used GPU
	cpu      int64 // free, in thousandths
	mem      int64 // free, in MiB
	up       bool  // delivered and not lost
	draining bool  // got notice of its loss, or is in a Window: takes no new work

	delivered, lost bool
	leaving         bool           // got notice of its loss
	coming          bool           // a bought node on its way
	broken          int32          // GPUs that have failed
	broke           bool           // a GPU of it fails now
	noticed         capcli.Seconds // when it got notice of its loss
}

// Cluster holds the nodes of all pools and their free capacity. A placement reads it; only the
// engine changes it.
type Cluster struct {
	pools  []Pool
	nodes  []node
	state  []poolState
	shares []int16 // free thousandths by node and device; nil until a GPU is shared
	base   []int32 // index in shares of each node's first device
	dev    *devices
	now    capcli.Seconds

	profiles []string // MIG profiles that jobs wanted so far

	ties  *ties   // storage and neighbours of running jobs; nil until a job's layout asks for them
	can   []int   // buffer of Find
	found []Slice // the last result of Find
}

// poolState is the part of a pool that changes during a run.
type poolState struct {
	first, n int      // index of the first node, and number of nodes
	free     int      // wholly free GPUs on nodes that take work
	avail    bitset   // nodes that take work and have a GPU or a part of one free
	levels   []bitset // nodes by number of free GPUs; nil for one node or nodes over maxLevel GPUs
	frag     fragClock
	domains  *domainClock // nil without Pool.Domains, and in copies
	withheld int64        // thousandths of GPUs that no job may start on now: see Pool.Withheld
	steps    int          // steps of Pool.Withheld that have begun
	queues   []*queue     // queues whose jobs may use the pool
	account  account
}

// maxLevel is the largest node, in GPUs, for which a pool indexes its nodes by free GPUs.
const maxLevel = 64

func newCluster(pools []Pool) *Cluster {
	c := &Cluster{pools: pools, state: make([]poolState, len(pools))}
	for i := range pools {
		p, s := &pools[i], &c.state[i]
		s.first, s.n = len(c.nodes), p.Nodes
		s.avail = newBitset(p.Nodes)
		if p.Nodes > 1 && p.GPUsPerNode <= maxLevel {
			s.levels = make([]bitset, p.GPUsPerNode+1)
			for f := range s.levels {
				s.levels[f] = newBitset(p.Nodes)
			}
			s.frag = newFragClock(p.GPUsPerNode)
		}
		for range p.Nodes {
			c.nodes = append(c.nodes, node{pool: int32(i), free: int32(p.GPUsPerNode), cpu: p.CPUMilli, mem: p.MemMiB})
		}
	}
	return c
}

// Now returns the current time of the run.
func (c *Cluster) Now() capcli.Seconds { return c.now }

// Pool returns the description of pool p.
func (c *Cluster) Pool(p int) *Pool { return &c.pools[p] }

// Pools returns the number of pools.
func (c *Cluster) Pools() int { return len(c.pools) }

// FreeGPUs returns the number of wholly free GPUs of pool p on nodes that take work.
func (c *Cluster) FreeGPUs(p int) int { return c.state[p].free }

// Usable returns the free capacity of pool p on nodes that take work, in thousandths of GPUs. It is
// below 0 while jobs hold more than is left of a pool with Withheld capacity.
func (c *Cluster) Usable(p int) int64 { return c.state[p].account.usable }

// WithheldMilli returns the capacity of pool p that no job may start on now, in thousandths of GPUs.
func (c *Cluster) WithheldMilli(p int) int64 { return c.state[p].withheld }

// HeldMilli returns the capacity of pool p that jobs hold, in thousandths of GPUs.
func (c *Cluster) HeldMilli(p int) int64 { return c.state[p].account.used }

// NodeFree returns the number of wholly free GPUs of node n.
func (c *Cluster) NodeFree(n int) int { return int(c.nodes[n].free) }

// NodePool returns the pool of node n.
func (c *Cluster) NodePool(n int) int { return int(c.nodes[n].pool) }

// NodeCPU returns the free CPUs of node n, in thousandths.
func (c *Cluster) NodeCPU(n int) int64 { return c.nodes[n].cpu }

// NodeCount returns the number of nodes of all pools.
func (c *Cluster) NodeCount() int { return len(c.nodes) }

// Levelled reports whether FirstAtLevel works for pool p: the pool has more than one
// node, and its nodes have at most 64 GPUs.
func (c *Cluster) Levelled(p int) bool { return c.state[p].levels != nil }

// SharesGPUs reports whether any job so far wanted a share of a GPU.
func (c *Cluster) SharesGPUs() bool { return c.shares != nil }

// Find asks the placement where to put l in those of the pools that have enough free GPUs. It
// returns nothing if l fits in none. The slices are valid until the next call.
func (c *Cluster) Find(by Placement, l *Live, pools []int) []Slice {
	can := c.can[:0]
	for _, p := range pools {
		s := &c.state[p]
		if (s.free >= l.GPUs || (l.GPUMilli > 0 && s.avail.next(-1) >= 0)) && (s.withheld == 0 || s.account.usable >= l.Milli()) {
			can = append(can, p)
		}
	}
	c.can = can
	if len(can) == 0 {
		c.found = c.found[:0]
		return nil
	}
	if l.layout != nil {
		c.found = c.findLaidOut(by, l, can, c.found[:0])
		return c.found
	}
	c.found = by.Place(c, l, can, c.found[:0])
	return c.found
}

// NodesOf returns the range of the nodes of pool p: from up to, but not including, to.
func (c *Cluster) NodesOf(p int) (from, to int) {
	s := &c.state[p]
	return s.first, s.first + s.n
}

// Status says whether a node takes work, and why not.
type Status struct {
	Up        bool // delivered and not lost
	Draining  bool // got notice of its loss: takes no new work
	Delivered bool // its pool is present by its dates
	Lost      bool // taken away by its supply
	Coming    bool // a bought node on its way
}

// Status returns the status of node n.
func (c *Cluster) Status(n int) Status {
	nd := &c.nodes[n]
	return Status{nd.up, nd.draining, nd.delivered, nd.lost, nd.coming}
}

// Nodes yields the nodes of pool p that take work and have free capacity, in order of number.
func (c *Cluster) Nodes(p int) iter.Seq[int] {
	s := &c.state[p]
	return func(yield func(int) bool) {
		for i := s.avail.next(-1); i >= 0; i = s.avail.next(i) {
			if !yield(s.first + i) {
				return
			}
		}
	}
}

// NextFree returns the first node of pool p after n (-1 to start) that has a wholly free GPU, or
// -1.
func (c *Cluster) NextFree(p, n int) int {
	s := &c.state[p]
	i := n - s.first
	if n < 0 {
		i = -1
	}
	for i = s.avail.next(i); i >= 0; i = s.avail.next(i) {
		if c.nodes[s.first+i].free > 0 {
			return s.first + i
		}
	}
	return -1
}

// FirstAtLevel returns the first node of pool p after node after (-1 to start) with exactly free
// free GPUs, or -1. The pool must be Levelled.
func (c *Cluster) FirstAtLevel(p, free, after int) int {
	s := &c.state[p]
	i := after - s.first
	if after < 0 {
		i = -1
	}
	if i = s.levels[free].next(i); i < 0 {
		return -1
	}
	return s.first + i
}

// Fits reports whether node n has the GPUs, or the share of a GPU, and the CPUs and memory that l
// wants. CPUs and memory count only if both the job and the pool state them.
func (c *Cluster) Fits(l *Live, n int) bool {
	nd := &c.nodes[n]
	if !nd.up || nd.draining || !c.fitsHost(nd, l.CPUMilli, l.MemMiB) {
		return false
	}
	if l.GPUMilli > 0 {
		return c.Device(l, n) >= 0
	}
	return int(nd.free) >= l.GPUs
}

// fitsHost reports whether a node has cpu thousandths of CPUs and mem MiB free.
func (c *Cluster) fitsHost(nd *node, cpu, mem int64) bool {
	p := &c.pools[nd.pool]
	return (p.CPUMilli == 0 || nd.cpu >= cpu) && (p.MemMiB == 0 || nd.mem >= mem)
}

// Device returns the GPU of node n with the least free capacity on which l's share fits, with its memory:
// the lowest number among equals, or -1. This best fit keeps whole GPUs free. For an instance of a divided
// GPU it prefers a free one, then a GPU where one can be made beside others, then a change of the layout.
func (c *Cluster) Device(l *Live, n int) int {
	if c.fluid(c.nodes[n].pool) {
		if int(c.nodes[n].free)*1000+int(c.nodes[n].part) >= l.GPUMilli && (c.dev == nil || c.dev.sum == nil || c.dev.sum[n] >= l.GPUMemMiB) {
			return 0
		}
		return -1
	}
	if c.dev != nil {
		return c.dev.device(c, l, n)
	}
	want, best, at := int16(l.GPUMilli), int16(1001), -1
	for d := range c.pools[c.nodes[n].pool].GPUsPerNode {
		if f := c.DeviceFree(n, d); f >= want && f < best {
			best, at = f, d
		}
	}
	return at
}

// DeviceFree returns the free part of GPU d of node n, in thousandths. The pool
// must not be Fluid.
func (c *Cluster) DeviceFree(n, d int) int16 {
	if c.shares == nil {
		if d < int(c.nodes[n].free) {
			return 1000
		}
		return 0
	}
	return c.shares[int(c.base[n])+d]
}

// WholeSlice returns the slice that puts all of l on node n.
func (c *Cluster) WholeSlice(l *Live, n int) Slice {
	s := Slice{Pool: c.nodes[n].pool, Node: int32(n), CPUMilli: l.CPUMilli, MemMiB: l.MemMiB}
	if l.GPUMilli > 0 {
		s.Milli, s.Device, s.profile = int32(l.GPUMilli), int32(c.Device(l, n)), int16(l.profile)
		if l.profile == 0 && c.pools[s.Pool].GPUMemMiB > 0 {
			s.gpuMem = int32(l.GPUMemMiB)
		}
	} else {
		s.GPUs = int32(l.GPUs)
	}
	return s
}

// Part returns the slice that puts gpus of l's GPUs on node n, with CPUs and memory
// in proportion, rounded up.
func (c *Cluster) Part(l *Live, n, gpus int) Slice {
	g, all := int64(gpus), int64(l.GPUs)
	return Slice{
		Pool: c.nodes[n].pool, Node: int32(n), GPUs: int32(gpus),
		CPUMilli: (l.CPUMilli*g + all - 1) / all, MemMiB: (l.MemMiB*g + all - 1) / all,
	}
}

// Instance returns where on the memory axis of its GPU the MIG instance of s starts; -1 if it is none.
func (s *Slice) Instance() int {
	if s.profile == 0 {
		return -1
	}
	return int(s.start)
}

// take claims slices. It panics if a slice is not free: no GPU may be held twice.
func (c *Cluster) take(slices []Slice) {
	for i := range slices {
		s := &slices[i]
		nd := &c.nodes[s.Node]
		if nd.pool != s.Pool || !nd.up || nd.draining || nd.free < s.GPUs {
			panic("simulate: a placement named GPUs that are not free")
		}
		if c.pools[s.Pool].CPUMilli > 0 {
			nd.cpu -= s.CPUMilli
		}
		if c.pools[s.Pool].MemMiB > 0 {
			nd.mem -= s.MemMiB
		}
		c.state[s.Pool].account.usable -= s.milli()
		if s.layout != 0 {
			c.ties.count(s, 1)
		}
		switch {
		case s.Milli > 0:
			c.takeShare(s)
		case s.GPUs > 0:
			c.takeWhole(s)
		}
	}
}

func (c *Cluster) release(slices []Slice) {
	for i := range slices {
		s := &slices[i]
		nd := &c.nodes[s.Node]
		if c.pools[s.Pool].CPUMilli > 0 {
			nd.cpu += s.CPUMilli
		}
		if c.pools[s.Pool].MemMiB > 0 {
			nd.mem += s.MemMiB
		}
		if nd.up && !nd.draining {
			c.state[s.Pool].account.usable += s.milli()
		}
		if s.layout != 0 {
			c.ties.count(s, -1)
		}
		switch {
		case s.Milli > 0:
			c.releaseShare(s)
		case s.GPUs > 0:
			c.releaseWhole(s)
		}
	}
}

// setFree sets the number of wholly free GPUs of node n, in all indexes.
func (c *Cluster) setFree(n int, free int32) {
	nd := &c.nodes[n]
	old := nd.free
	nd.free = free
	if nd.up && !nd.draining {
		c.index(n, old, free)
	}
}

// index moves node n from level old to level free, its number of free GPUs, in the indexes of its
// pool. -1 means that the node takes no work.
func (c *Cluster) index(n int, old, free int32) {
	s := &c.state[c.nodes[n].pool]
	i := n - s.first
	if s.levels != nil {
		if old >= 0 {
			s.levels[old].clear(i)
		}
		if free >= 0 {
			s.levels[free].set(i)
		}
		s.frag.move(old, free, c.now)
	}
	if s.domains != nil {
		s.domains.move(i, old, free, c.now)
	}
	s.free += int(max(free, 0)) - int(max(old, 0))
	if free > 0 || (free == 0 && c.hasShare(n)) {
		s.avail.set(i)
	} else {
		s.avail.clear(i)
	}
}

// setUp sets whether node n is up and whether it drains. It reports whether either changed.
func (c *Cluster) setUp(n int, up, draining bool) bool {
	nd := &c.nodes[n]
	was, is := nd.up && !nd.draining, up && !draining
	changed := nd.up != up || nd.draining != draining
	nd.up, nd.draining = up, draining
	a := &c.state[nd.pool].account
	switch {
	case was && !is:
		c.index(n, nd.free, -1)
		a.usable -= c.FreeMilli(n)
	case is && !was:
		c.index(n, -1, nd.free)
		a.usable += c.FreeMilli(n)
	}
	return changed
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }
func (b bitset) set(i int)   { b[i>>6] |= 1 << (i & 63) }
func (b bitset) clear(i int) { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) next(i int) int { // returns the least member above i, or -1
	i++
	w := i >> 6
	if w >= len(b) {
		return -1
	}
	if m := b[w] >> (i & 63); m != 0 {
		return i + bits.TrailingZeros64(m)
	}
	for w++; w < len(b); w++ {
		if b[w] != 0 {
			return w<<6 + bits.TrailingZeros64(b[w])
		}
	}
	return -1
}

// NodeNumber returns the number of node n within its pool, from 0.
func (c *Cluster) NodeNumber(n int) int { return n - c.state[c.nodes[n].pool].first }
