package placement

import (
	"capcli"
	"capcli/simulate"
)

// leastNode puts all of l on the node with room and the least score, the lowest number
// among equals. A gang that fits on no node is split as by best fit.
func leastNode(c *simulate.Cluster, l *simulate.Live, pools []int, score func(n int) float64, dst []simulate.Slice) []simulate.Slice {
	return leastInOrder(c, l, pools, nil, score, dst)
}

// leastInOrder is leastNode where the first node of an order wins among equals.
func leastInOrder(c *simulate.Cluster, l *simulate.Live, pools []int, order []int, score func(n int) float64, dst []simulate.Slice) []simulate.Slice {
	at, least := -1, 0.0
	for _, p := range pools {
		if l.GPUs > c.Pool(p).GPUsPerNode {
			continue
		}
		for n := c.Candidate(l, p, -1); n >= 0; n = c.Candidate(l, p, n) {
			if !c.Fits(l, n) {
				continue
			}
			s := score(n)
			if at < 0 || s < least || (s == least && order != nil && order[n] < order[at]) {
				at, least = n, s
			}
		}
	}
	if at < 0 {
		return gang(c, l, pools, tightest, tightest, dst)
	}
	return append(dst, c.WholeSlice(l, at))
}

// drawn is a random order of a cluster's nodes, the same in every run. The baselines of
// Weng et al. (USENIX ATC 2023) score hundreds of nodes alike and take the first. In
// the order of the pools these would be nodes of one kind until all of them are full.
type drawn struct {
	order []int
	of    *simulate.Cluster
}

func (d *drawn) nodes(c *simulate.Cluster) []int {
	if d.of != c {
		d.of, d.order = c, capcli.Seed(0).Stream("placement/equals").Perm(c.NodeCount())
	}
	return d.order
}

// noScore gives all nodes the same score.
func noScore(int) float64 { return 0 }

// largest is the most GPUs and CPUs of a node, to which scores relate.
type largest struct {
	gpus, cpu int64 // thousandths
	of        *simulate.Cluster
}

// measure updates m for c. Counted pools matter only when there are no others.
func (m *largest) measure(c *simulate.Cluster) *largest {
	if m.of == c {
		return m
	}
	*m = largest{of: c}
	for _, counted := range []bool{false, true} {
		for i := range c.Pools() {
			if p := c.Pool(i); p.Counted() == counted {
				m.gpus = max(m.gpus, 1000*int64(p.GPUsPerNode))
				m.cpu = max(m.cpu, p.CPUMilli)
			}
		}
		if m.gpus > 0 {
			break
		}
	}
	return m
}

// share returns v as a share of all, 0 when all is 0.
func share(v, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return float64(v) / float64(all)
}
