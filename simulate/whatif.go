package simulate

// whatIf is a copy of the cluster as it is now, for a policy that wants to know
// what would fit later: give slices back on it, place jobs on it. It is good
// until the next call.
func (t *Turn) whatIf() *Cluster {
	t.e.imagined = t.e.c.copyTo(t.e.imagined)
	return t.e.imagined
}

// copyTo makes w, a former copy or nil, a copy of c with nothing in its
// accounts but what can be used.
func (c *Cluster) copyTo(w *Cluster) *Cluster {
	if w == nil || len(w.nodes) != len(c.nodes) {
		w = newCluster(c.pools)
	}
	w.now = c.now
	copy(w.nodes, c.nodes)
	if c.shares != nil {
		w.shares = append(w.shares[:0], c.shares...)
		w.base = c.base
	}
	for p := range c.state {
		from, to := &c.state[p], &w.state[p]
		to.free = from.free
		to.account.usable = from.account.usable
		copy(to.avail, from.avail)
		for f := range from.levels {
			copy(to.levels[f], from.levels[f])
		}
	}
	return w
}

// holds tells whether the slices are free on the cluster, all of them.
func (c *Cluster) holds(slices []Slice) bool {
	for i := range slices {
		s := &slices[i]
		nd := &c.nodes[s.Node]
		if !nd.up || nd.draining || !c.fitsHost(nd, s.CPUMilli, s.MemMiB) {
			return false
		}
		if s.Milli > 0 && int32(c.share(int(s.Node), int(s.Device))) < s.Milli {
			return false
		}
		if nd.free < s.GPUs {
			return false
		}
	}
	return true
}
