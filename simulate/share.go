package simulate

import "iter"

// fluid reports whether single GPUs of pool p are not tracked: see Pool.Fluid. A mask has room for
// maxLevel GPUs.
func (c *Cluster) fluid(p int32) bool { return c.pools[p].Fluid() }

// noJobs yields no job.
func noJobs(func(*Live) bool) {}

// shareDevices starts tracking single GPUs. The engine calls it when the first job that wants a
// share of a GPU arrives. GPUs of running jobs count as full.
func (c *Cluster) shareDevices(held iter.Seq[*Live]) {
	if c.shares != nil {
		return
	}
	c.base = make([]int32, len(c.nodes))
	total := int32(0)
	for n := range c.nodes {
		c.base[n] = total
		if !c.fluid(c.nodes[n].pool) {
			total += int32(c.pools[c.nodes[n].pool].GPUsPerNode)
		}
	}
	c.shares = make([]int16, total)
	for i := range c.shares {
		c.shares[i] = 1000
	}
	if c.dev = newDevices(c); c.dev != nil && c.dev.pools != nil {
		c.closeLayouts()
	}
	for l := range held {
		for i := range l.slices {
			c.markWhole(&l.slices[i])
		}
	}
}

// closeLayouts takes the GPUs of pools with a fixed layout of instances from those that jobs can have whole.
// No node is up yet.
func (c *Cluster) closeLayouts() {
	for n := range c.nodes {
		if m := c.pools[c.nodes[n].pool].MIG; m != nil && m.Layout != nil {
			c.nodes[n].free = 0
		}
	}
}

// markWhole takes the first wholly free devices for s and records which they are. Those without MIG
// instances go first.
func (c *Cluster) markWhole(s *Slice) {
	left := s.GPUs
	s.mask, s.wait = 0, 0
	if c.fluid(s.Pool) {
		return
	}
	if c.dev != nil && c.dev.pools != nil {
		left = c.markUndivided(s, left)
	}
	for d := 0; left > 0; d++ {
		i := c.base[s.Node] + int32(d)
		if f := &c.shares[i]; *f == 1000 {
			*f = 0
			s.mask |= 1 << d
			if left--; c.dev != nil {
				c.dev.takeGPU(c, s, i)
			}
		}
	}
}

// markUndivided takes the first wholly free devices without instances for s, left at most. It returns how
// many more s wants.
func (c *Cluster) markUndivided(s *Slice, left int32) int32 {
	for d := 0; left > 0 && d < c.pools[s.Pool].GPUsPerNode; d++ {
		i := c.base[s.Node] + int32(d)
		if f := &c.shares[i]; *f == 1000 && !c.dev.isDivided(i) {
			*f = 0
			s.mask |= 1 << d
			left--
			c.dev.takeGPU(c, s, i)
		}
	}
	return left
}

func (c *Cluster) takeWhole(s *Slice) {
	if c.shares != nil {
		c.markWhole(s)
	}
	c.setFree(int(s.Node), c.nodes[s.Node].free-s.GPUs)
}

func (c *Cluster) releaseWhole(s *Slice) {
	if c.shares != nil {
		for d, m := 0, s.mask; m != 0; d, m = d+1, m>>1 {
			if m&1 != 0 {
				c.shares[int(c.base[s.Node])+d] = 1000
			}
		}
	}
	c.setFree(int(s.Node), c.nodes[s.Node].free+s.GPUs)
}

func (c *Cluster) takeShare(s *Slice) {
	if c.fluid(s.Pool) {
		c.pour(s, -s.Milli)
		return
	}
	f := &c.shares[c.base[s.Node]+s.Device]
	if int32(*f) < s.Milli {
		panic("simulate: a placement named a share of a GPU that is not free")
	}
	if c.dev != nil {
		c.dev.take(c, s, c.base[s.Node]+s.Device)
	}
	was := *f
	*f -= int16(s.Milli)
	c.shareChanged(s, was, *f)
}

func (c *Cluster) releaseShare(s *Slice) {
	if c.fluid(s.Pool) {
		c.pour(s, s.Milli)
		return
	}
	if c.dev != nil {
		c.dev.release(c, s, c.base[s.Node]+s.Device)
	}
	f := &c.shares[c.base[s.Node]+s.Device]
	was := *f
	*f += int16(s.Milli)
	if *f > 1000 {
		panic("simulate: more of a GPU was given back than was taken")
	}
	c.shareChanged(s, was, *f)
}

// pour adds milli thousandths of a GPU to the free capacity of a fluid node; a negative amount
// takes them.
func (c *Cluster) pour(s *Slice, milli int32) {
	nd := &c.nodes[s.Node]
	all := int64(nd.free)*1000 + int64(nd.part) + int64(milli)
	if all < 0 {
		panic("simulate: a placement named a share of a GPU that is not free")
	}
	if c.dev != nil && c.dev.sum != nil {
		mib := int64(s.gpuMem)
		if milli < 0 {
			mib = -mib
		}
		c.dev.pour(int(s.Node), mib, len(c.nodes))
	}
	nd.part = int32(all % 1000)
	c.setFree(int(s.Node), int32(all/1000))
}

// shareChanged updates the number of wholly free GPUs after a device's free part changed from was
// to is.
func (c *Cluster) shareChanged(s *Slice, was, is int16) {
	free := c.nodes[s.Node].free
	if m := c.pools[s.Pool].MIG; m != nil && m.Layout != nil { // never whole: see shareDevices
		c.setFree(int(s.Node), 0)
		return
	}
	if was == 1000 {
		free--
	}
	if is == 1000 {
		free++
	}
	c.setFree(int(s.Node), free)
}

// hasShare reports whether a GPU of node n is at least partly free.
func (c *Cluster) hasShare(n int) bool {
	if c.fluid(c.nodes[n].pool) {
		return c.nodes[n].part > 0
	}
	if c.shares == nil {
		return false
	}
	for d := range c.pools[c.nodes[n].pool].GPUsPerNode {
		if c.shares[int(c.base[n])+d] > 0 {
			return true
		}
	}
	return false
}

// FreeMilli returns the free capacity of node n in thousandths of GPUs.
func (c *Cluster) FreeMilli(n int) int64 {
	nd := &c.nodes[n]
	if c.shares == nil || c.fluid(nd.pool) {
		return int64(nd.free)*1000 + int64(nd.part)
	}
	var sum int64
	for d := range c.pools[nd.pool].GPUsPerNode {
		sum += int64(c.shares[int(c.base[n])+d])
	}
	return sum
}
