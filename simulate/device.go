package simulate

import (
	"strings"

	"capcli"
	"capcli/simulate/mig"
)

// devices is what a cluster knows of single GPUs beside the free thousandths: free memory, the number of
// jobs, and the instances of divided GPUs. A cluster without pools that state any of them has none. All
// lists go by the index of Cluster.shares.
type devices struct {
	mem   []int32    // free MiB, of pools that state the memory of a GPU
	sum   []int64    // free MiB of all GPUs of a node together, by node of a Fluid pool; nil if no such pool states it
	jobs  []uint8    // jobs that share it; nil unless a pool has Sharing
	mig   []division // nil unless a pool has MIG
	pools []divided  // by pool; nil unless a pool has MIG
}

// divided is how the GPUs of one pool are divided.
type divided struct {
	gpu   *mig.GPU
	index []int8 // by number of a profile: see Cluster.profile; its index in gpu.Profiles, or -1
	fixed *division
	lost  map[mig.Layout]int // compute slices stranded beside some instances: see stranded
	clock *sliceClock        // nil in copies
}

// division is how one GPU is divided now.
type division struct {
	made    mig.Layout // all instances that exist
	held    mig.Layout // those of them that jobs hold
	used    uint8      // starts of instances that jobs hold, one bit each
	profile [8]int8    // by start: 1 + index of the profile of the instance there; 0 is none
	ready   capcli.Seconds
}

// most8 is the largest number of jobs that share a GPU.
const most8 = 255

// newDevices returns the devices of c, which tracks single GPUs; nil if no pool says more of them.
func newDevices(c *Cluster) *devices {
	var v devices
	stated := false
	for i := range c.pools {
		p := &c.pools[i]
		stated = stated || p.GPUMemMiB > 0
		if p.Sharing != nil && v.jobs == nil {
			v.jobs = make([]uint8, len(c.shares))
		}
		if p.MIG != nil && v.pools == nil {
			v.mig, v.pools = make([]division, len(c.shares)), make([]divided, len(c.pools))
		}
	}
	if !stated && v.jobs == nil && v.pools == nil {
		return nil
	}
	v.mem = make([]int32, len(c.shares))
	for n := range c.nodes {
		p := &c.pools[c.nodes[n].pool]
		if p.Fluid() {
			v.pour(n, int64(p.GPUsPerNode)*p.GPUMemMiB, len(c.nodes))
			continue
		}
		for d := range p.GPUsPerNode {
			v.mem[int(c.base[n])+d] = int32(p.GPUMemMiB)
		}
	}
	for i := range v.pools {
		if c.pools[i].MIG != nil {
			v.divide(c, i)
		}
	}
	return &v
}

// pour adds free memory to node n of a Fluid pool.
func (v *devices) pour(n int, mib int64, nodes int) {
	if v.sum == nil {
		v.sum = make([]int64, nodes)
	}
	if v.sum[n] += mib; v.sum[n] < 0 {
		panic("simulate: a placement named GPU memory that is not free")
	}
}

// divide sets up the GPUs of pool p, which has MIG.
func (v *devices) divide(c *Cluster, p int) {
	m, k := c.pools[p].MIG, &v.pools[p]
	gpu, err := mig.Find(m.Table)
	if err != nil {
		panic("simulate: a pool's MIG.Table is not known: " + err.Error()) // see CheckMIG
	}
	k.gpu, k.lost, k.clock = gpu, map[mig.Layout]int{}, newSliceClock(gpu)
	for _, name := range c.profiles {
		k.index = append(k.index, int8(gpu.Index(name)))
	}
	if m.Layout == nil {
		return
	}
	k.fixed = &division{}
	mix, err := gpu.Read(m.Layout)
	if err != nil {
		panic("simulate: a pool's MIG.Layout is not known: " + err.Error())
	}
	for _, i := range mix {
		k.fixed.makeOne(gpu, i, m.Driver)
	}
	from, to := c.NodesOf(p)
	for i := c.base[from]; i < c.base[to-1]+int32(c.pools[p].GPUsPerNode); i++ {
		v.mig[i] = *k.fixed
	}
}

// makeOne makes an instance of profile i and returns its start, or -1.
func (d *division) makeOne(gpu *mig.GPU, i int, driver bool) int {
	at := -1
	if i >= 0 {
		at = gpu.Start(&d.made, i, driver)
	}
	if at >= 0 {
		gpu.Make(&d.made, i, at)
		d.profile[at] = int8(i) + 1
	}
	return at
}

// free returns the start of an instance of profile i that no job holds, or -1.
func (d *division) free(gpu *mig.GPU, i int, driver bool) int {
	starts := gpu.Profiles[i].Starts
	if driver {
		starts = gpu.Profiles[i].Driver
	}
	for _, at := range starts {
		if d.profile[at] == int8(i)+1 && d.used&(1<<at) == 0 {
			return at
		}
	}
	return -1
}

// effort is what a GPU must do for a job before it gets its instance.
type effort int16

const (
	reuse   effort = iota // an instance of the profile is free
	create                // one can be made beside the others
	reslice               // no job is on the GPU: its instances go, and one is made
	cannot
)

// effortOf says what GPU i, of pool p, must do for an instance of a profile.
func (v *devices) effortOf(c *Cluster, p int32, i int, profile int32) effort {
	k, d := &v.pools[p], &v.mig[i]
	at := k.indexOf(profile)
	m := c.pools[p].MIG
	switch {
	case at < 0:
		return cannot
	case d.free(k.gpu, at, m.Driver) >= 0:
		return reuse
	case k.fixed != nil:
		return cannot
	case k.gpu.Start(&d.made, at, m.Driver) >= 0:
		return create
	case d.used == 0:
		return reslice
	}
	return cannot
}

// indexOf returns the index in the pool's table of profile number n, or -1.
func (k *divided) indexOf(n int32) int {
	if k.gpu == nil || n <= 0 || int(n) > len(k.index) {
		return -1
	}
	return int(k.index[n-1])
}

// device returns the GPU of node n on which l's share or instance goes, or -1: the one with the least
// effort, among these with the least free capacity, among these the lowest.
func (v *devices) device(c *Cluster, l *Live, n int) int {
	best, at := int16(1<<14), -1
	for d := range c.pools[c.nodes[n].pool].GPUsPerNode {
		work := v.fits(c, l, n, d)
		if work == cannot {
			continue
		}
		if f := int16(work)<<11 + c.DeviceFree(n, d); f < best {
			best, at = f, d
		}
	}
	return at
}

// fits says what GPU d of node n must do for l's share or instance.
func (v *devices) fits(c *Cluster, l *Live, n, d int) effort {
	i := int(c.base[n]) + d
	p := c.nodes[n].pool
	pool := &c.pools[p]
	switch {
	case int(c.shares[i]) < l.GPUMilli,
		pool.GPUMemMiB > 0 && l.profile == 0 && int64(v.mem[i]) < l.GPUMemMiB,
		pool.Sharing != nil && pool.Sharing.Most > 0 && int(v.jobs[i]) >= pool.Sharing.Most,
		v.jobs != nil && v.jobs[i] == most8,
		(pool.MIG != nil) != (l.profile > 0):
		return cannot
	case pool.MIG != nil:
		return v.effortOf(c, p, i, l.profile)
	}
	return reuse
}

// DeviceFits reports whether l's share of a GPU, or its instance, fits on GPU d of node n: thousandths,
// memory, the number of jobs and the starts of instances. The pool must not be Fluid.
func (c *Cluster) DeviceFits(l *Live, n, d int) bool {
	if c.dev == nil {
		return int(c.DeviceFree(n, d)) >= l.GPUMilli
	}
	return c.dev.fits(c, l, n, d) != cannot
}

// DeviceMem returns the free memory of GPU d of node n in MiB, of a pool that states the memory of its
// GPUs. A GPU that one job holds whole has none free. The pool must not be Fluid.
func (c *Cluster) DeviceMem(n, d int) int64 {
	switch p := &c.pools[c.nodes[n].pool]; {
	case c.DeviceFree(n, d) == 0:
		return 0
	case c.dev == nil:
		return p.GPUMemMiB
	}
	return int64(c.dev.mem[int(c.base[n])+d])
}

// take claims what s takes of GPU i beside its thousandths.
func (v *devices) take(c *Cluster, s *Slice, i int32) {
	if v.mem[i] -= s.gpuMem; v.mem[i] < 0 {
		panic("simulate: a placement named GPU memory that is not free")
	}
	if v.jobs != nil {
		v.jobs[i]++
	}
	if s.profile > 0 {
		v.hold(c, s, i)
	}
}

// release frees what take claimed.
func (v *devices) release(c *Cluster, s *Slice, i int32) {
	if v.mem[i] += s.gpuMem; int64(v.mem[i]) > c.pools[s.Pool].GPUMemMiB && c.pools[s.Pool].GPUMemMiB > 0 {
		panic("simulate: more memory of a GPU was given back than was taken")
	}
	if v.jobs != nil {
		v.jobs[i]--
	}
	if s.profile > 0 {
		v.drop(c, s, i)
	}
}

// hold gives s an instance of GPU i: a free one, a new one, or one after a change of the layout.
func (v *devices) hold(c *Cluster, s *Slice, i int32) {
	k, d, m := &v.pools[s.Pool], &v.mig[i], c.pools[s.Pool].MIG
	work := v.effortOf(c, s.Pool, int(i), int32(s.profile))
	at := k.indexOf(int32(s.profile))
	k.clock.pass(c.now)
	was := k.stranded(d)
	start := -1
	switch work {
	case reuse:
		start = d.free(k.gpu, at, m.Driver)
	case reslice:
		v.wipe(c, s.Pool, i)
		start = d.makeOne(k.gpu, at, m.Driver)
	case create:
		start = d.makeOne(k.gpu, at, m.Driver)
	case cannot:
		panic("simulate: a placement named an instance that is not free")
	}
	d.used |= 1 << start
	k.gpu.Make(&d.held, at, start)
	s.start = int8(start)
	s.wait = int32(max(0, d.ready-c.now))
	k.clock.hold(at, 1, k.stranded(d)-was)
}

// drop gives the instance of s back. It stays on GPU i for other jobs where a change of the layout takes
// time or the layout is fixed.
func (v *devices) drop(c *Cluster, s *Slice, i int32) {
	k, d := &v.pools[s.Pool], &v.mig[i]
	at := k.indexOf(int32(s.profile))
	k.clock.pass(c.now)
	was := k.stranded(d)
	d.used &^= 1 << s.start
	k.gpu.Remove(&d.held, at, int(s.start))
	if k.fixed == nil && c.pools[s.Pool].MIG.Reslice == 0 {
		k.gpu.Remove(&d.made, at, int(s.start))
		d.profile[s.start] = 0
	}
	k.clock.hold(at, -1, k.stranded(d)-was)
}

// wipe removes the instances of GPU i, which nobody holds. The GPU serves from the end of the change on.
func (v *devices) wipe(c *Cluster, p, i int32) {
	d := &v.mig[i]
	if d.made.IsEmpty() {
		return
	}
	*d = division{ready: c.now + c.pools[p].MIG.Reslice}
	v.pools[p].clock.change()
}

// takeGPU gives GPU i whole to s, after its instances are gone.
func (v *devices) takeGPU(c *Cluster, s *Slice, i int32) {
	if v.pools == nil || v.pools[s.Pool].gpu == nil {
		return
	}
	v.wipe(c, s.Pool, i)
	s.wait = max(s.wait, int32(max(0, v.mig[i].ready-c.now)))
}

// isDivided reports whether GPU i of pool p has instances, which must go before a job has it whole.
func (v *devices) isDivided(i int32) bool { return v.mig != nil && !v.mig[i].made.IsEmpty() }

// stranded returns the compute slices of a GPU on which jobs hold instances that no other instance can
// take beside these. In a fixed layout these are the slices that are in no instance.
func (k *divided) stranded(d *division) int {
	if d.used == 0 {
		return 0
	}
	if k.fixed != nil {
		return k.gpu.Compute - int(k.fixed.made.Compute)
	}
	n, known := k.lost[d.held]
	if !known {
		n = k.gpu.Stranded(&d.held)
		k.lost[d.held] = n
	}
	return n
}

// copyTo makes w, an earlier copy or nil, a copy of v.
func (v *devices) copyTo(w *devices) *devices {
	if w == nil {
		w = &devices{}
	}
	w.mem, w.sum = append(w.mem[:0], v.mem...), append(w.sum[:0], v.sum...)
	w.jobs, w.mig = append(w.jobs[:0], v.jobs...), append(w.mig[:0], v.mig...)
	if v.jobs == nil {
		w.jobs = nil
	}
	w.pools = append(w.pools[:0], v.pools...)
	for i := range w.pools {
		w.pools[i].clock = nil
	}
	return w
}

// profileNumber returns the number of a MIG profile in the run, from 1.
func (c *Cluster) profileNumber(name string) int32 {
	for i, have := range c.profiles {
		if strings.EqualFold(have, name) {
			return int32(i) + 1
		}
	}
	c.profiles = append(c.profiles, name)
	if c.dev != nil {
		for i := range c.dev.pools {
			if k := &c.dev.pools[i]; k.gpu != nil {
				k.index = append(k.index, int8(k.gpu.Index(name)))
			}
		}
	}
	return int32(len(c.profiles))
}

// crowding returns the factor on the run time of a job that starts on the shared GPU of s, beside the jobs
// that are there.
func (c *Cluster) crowding(s []Slice) (num, den int64) {
	v := c.pools[s[0].Pool].Sharing
	if v == nil || len(v.Num) == 0 || c.fluid(s[0].Pool) {
		return 1, 1
	}
	i := min(int(c.dev.jobs[c.base[s[0].Node]+s[0].Device]), len(v.Num)-1)
	return v.Num[i], v.Den[i]
}
