package simulate

import "math/bits"

// Candidate returns the next node of pool p after n (-1 to start) that could have room for a part
// of l, or -1. Such a node takes work and, if l wants GPUs, has some GPU capacity free.
func (c *Cluster) Candidate(l *Live, p, n int) int {
	s := &c.state[p]
	i := n - s.first
	if n < 0 {
		i = -1
	}
	if l.GPUs > 0 {
		if i = s.avail.next(i); i < 0 {
			return -1
		}
		return s.first + i
	}
	for i++; i < s.n; i++ {
		if nd := &c.nodes[s.first+i]; nd.up && !nd.draining {
			return s.first + i
		}
	}
	return -1
}

// NextRoom returns the first node of pool p after node after (-1 to start) with at least gpus
// wholly free GPUs, or -1.
func (c *Cluster) NextRoom(p, gpus, after int) int {
	s := &c.state[p]
	if s.levels == nil {
		for n := c.NextFree(p, after); n >= 0; n = c.NextFree(p, n) {
			if int(c.nodes[n].free) >= gpus {
				return n
			}
		}
		return -1
	}
	i := after - s.first
	if after < 0 {
		i = -1
	}
	i++
	skip := uint64(1)<<(i&63) - 1 // masks the bits of the first word up to after
	for w := i >> 6; w < len(s.levels[0]); w++ {
		var any uint64
		for f := gpus; f < len(s.levels); f++ {
			any |= s.levels[f][w]
		}
		if any &^= skip; any != 0 {
			return s.first + w<<6 + bits.TrailingZeros64(any)
		}
		skip = 0
	}
	return -1
}

// FitsPart reports whether node n has the CPUs and memory for gpus of l's GPUs. It does
// not check GPUs.
func (c *Cluster) FitsPart(l *Live, n, gpus int) bool {
	if l.CPUMilli == 0 && l.MemMiB == 0 {
		return true
	}
	if gpus == l.GPUs {
		return c.fitsHost(&c.nodes[n], l.CPUMilli, l.MemMiB)
	}
	s := c.Part(l, n, gpus)
	return c.fitsHost(&c.nodes[n], s.CPUMilli, s.MemMiB)
}
