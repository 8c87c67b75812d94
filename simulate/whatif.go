package simulate

// WhatIf is a copy of the cluster, for a policy that tests what would fit later.
type WhatIf struct {
	e *engine
	c *Cluster
}

// Release frees what running job l holds.
func (w *WhatIf) Release(l *Live) { w.c.release(l.slices) }

// GiveBack ends the withholding of pool p in the copy: see Pool.Withheld.
func (w *WhatIf) GiveBack(p int) {
	s := &w.c.state[p]
	s.account.usable += s.withheld
	s.withheld = 0
}

// Take claims slices, which must be free.
func (w *WhatIf) Take(s []Slice) { w.c.take(s) }

// Find returns where the run's placement would put l in one of the pools; nil if it does not fit.
// The slices are valid until the next call.
func (w *WhatIf) Find(l *Live, pools []int) []Slice { return w.e.findIn(w.c, l, pools) }

// Holds reports whether all of the slices are free.
func (w *WhatIf) Holds(s []Slice) bool { return w.c.holds(s) }

// Usable returns the free capacity of pool p in the copy, in thousandths of GPUs.
func (w *WhatIf) Usable(p int) int64 { return w.c.Usable(p) }

// CopyWith returns a copy of c in which also the nodes of pool p for which up is true take work. It
// overwrites w, an earlier copy, unless w is nil.
func (c *Cluster) CopyWith(w *Cluster, p int, up func(n int) bool) *Cluster {
	w = c.copyTo(w)
	for n, to := c.NodesOf(p); n < to; n++ {
		if up(n) {
			w.setUp(n, true, false)
		}
	}
	return w
}

// copyTo makes w, an earlier copy or nil, a copy of c. Of the accounts it copies only the usable
// capacity.
func (c *Cluster) copyTo(w *Cluster) *Cluster {
	if w == nil || len(w.nodes) != len(c.nodes) {
		w = newCluster(c.pools)
	}
	w.now = c.now
	w.ties = c.ties.copyTo(w.ties)
	copy(w.nodes, c.nodes)
	if c.shares != nil {
		w.shares = append(w.shares[:0], c.shares...)
		w.base = c.base
	}
	if c.dev != nil {
		w.dev, w.profiles = c.dev.copyTo(w.dev), c.profiles
	}
	for p := range c.state {
		from, to := &c.state[p], &w.state[p]
		to.free = from.free
		to.account.usable, to.withheld = from.account.usable, from.withheld
		copy(to.avail, from.avail)
		for f := range from.levels {
			copy(to.levels[f], from.levels[f])
		}
	}
	return w
}

func (c *Cluster) holds(slices []Slice) bool {
	for i := range slices {
		s := &slices[i]
		nd := &c.nodes[s.Node]
		if !nd.up || nd.draining || !c.fitsHost(nd, s.CPUMilli, s.MemMiB) {
			return false
		}
		if s.Milli > 0 && !c.holdsShare(s) {
			return false
		}
		if nd.free < s.GPUs {
			return false
		}
	}
	return true
}

// holdsShare reports whether the share of a GPU, or the instance, of s is free.
func (c *Cluster) holdsShare(s *Slice) bool {
	switch i := int(c.base[s.Node] + s.Device); {
	case c.fluid(s.Pool) || c.dev == nil:
		return int32(c.DeviceFree(int(s.Node), int(s.Device))) >= s.Milli
	case int32(c.shares[i]) < s.Milli || c.dev.mem[i] < s.gpuMem:
		return false
	case s.profile > 0:
		return c.dev.effortOf(c, s.Pool, i, int32(s.profile)) != cannot
	default:
		most := c.pools[s.Pool].Sharing
		return most == nil || most.Most == 0 || int(c.dev.jobs[i]) < most.Most
	}
}
