package simulate

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/topology"
)

// NodeLevel and ClusterLevel are the names of the narrowest and of the widest extent of a job: one node, and
// more than one domain of any level of the pool.
const (
	NodeLevel    = "node"
	ClusterLevel = "cluster"
)

// topo is the topology of the pools of a run and the layouts of its shapes. Copies of the cluster share it.
type topo struct {
	e       *engine
	pools   []poolTopo
	byShape map[*capcli.Shape]*layout // nil for a shape that asks for nothing
	shapes  []*capcli.Shape           // of byShape, in order of arrival
	layouts []*layout
	counted []string       // names of shapes whose jobs are counted by node
	can     []int          // scratch of findLaidOut
	hidden  []int          // scratch of findLaidOut
	marked  []bool         // scratch of hide
	plain   spreadTally    // stays of jobs without a layout, in pools with domains
	woken   bool           // a job started beside which others may
	stopped capcli.Seconds // the last stop of a job
	wokenAt capcli.Seconds
	wakes   int // turns at wokenAt because of that
}

// poolTopo is the topology of a pool.
type poolTopo struct {
	tree      *topology.Tree
	scattered bool
	room      *topology.Room // made when a gang asks for it
}

// newTopo returns the topology of the pools. It fails where domains of a pool cross each other.
func newTopo(e *engine) (*topo, error) {
	pools := e.cfg.Pools
	t := &topo{e: e, pools: make([]poolTopo, len(pools)), byShape: map[*capcli.Shape]*layout{}}
	for i := range pools {
		tree, err := pools[i].Topology()
		if err != nil {
			return nil, err
		}
		t.pools[i].tree, t.pools[i].scattered = tree, pools[i].Scattered
	}
	t.watch(e.c)
	return t, nil
}

// watch begins to measure the room in the domains of the cluster of the run, none of whose nodes takes work
// yet.
func (t *topo) watch(c *Cluster) {
	for p := range c.state {
		if len(c.pools[p].Domains) > 0 && c.state[p].levels != nil {
			c.state[p].domains = newDomainClock(t.pools[p].tree, &c.pools[p])
		}
	}
}

// Topology returns the levels of p's domains, and its nodes as the last level. It fails where the domains
// of a level are not within those of the level above.
func (p *Pool) Topology() (*topology.Tree, error) {
	levels := make([]string, 0, len(p.Domains)+1)
	starts := make([][]int32, 0, len(p.Domains))
	for i := range p.Domains {
		d := &p.Domains[i]
		if d.Level == NodeLevel || d.Level == ClusterLevel || slices.Contains(levels, d.Level) {
			return nil, fmt.Errorf("simulate: pool %s: level %s of domains is there twice, or is the node or the cluster", p.Name, d.Level)
		}
		levels, starts = append(levels, d.Level), append(starts, d.starts(p.Nodes))
	}
	tree, err := topology.NewConsecutive(append(levels, NodeLevel), p.Nodes, starts)
	if err != nil {
		return nil, fmt.Errorf("simulate: pool %s: %w", p.Name, err)
	}
	return tree, nil
}

// starts returns the first nodes of the domains in a pool of so many nodes.
func (d *Domain) starts(nodes int) []int32 {
	if d.Starts != nil {
		return d.Starts
	}
	var out []int32
	for n := 0; n < nodes; n += max(1, d.Nodes) {
		out = append(out, int32(n))
	}
	return out
}

// Room returns the room of pool p, all of whose nodes are to be set.
func (t *topo) roomOf(p int) *topology.Room {
	if t.pools[p].room == nil {
		t.pools[p].room = topology.NewRoom(t.pools[p].tree)
	}
	return t.pools[p].room
}

// spreadOf returns the narrowest level of their pool of which one domain holds all slices, or
// topology.Cluster.
func (t *topo) spreadOf(c *Cluster, s []Slice) int {
	tree := t.pools[s[0].Pool].tree
	if t.pools[s[0].Pool].scattered && s[0].GPUs > 1 {
		return topology.Cluster
	}
	if len(s) == 1 {
		return tree.Node()
	}
	first := c.state[s[0].Pool].first
	for level := tree.Node() - 1; level >= 0; level-- {
		d := tree.DomainOf(int(s[0].Node)-first, level)
		if !slices.ContainsFunc(s[1:], func(x Slice) bool { return tree.DomainOf(int(x.Node)-first, level) != d }) {
			return level
		}
	}
	return topology.Cluster
}

// levelName returns the name of a level of pool p, or ClusterLevel.
func (t *topo) levelName(p, level int) string {
	if level == topology.Cluster {
		return ClusterLevel
	}
	return t.pools[p].tree.Levels()[level]
}

// ties are the places in which jobs of other shapes may or may not run because of those that run.
type ties struct {
	topo *topo
	jobs [][]int32 // jobs on each node, by number in topo.counted
}

// count adds a slice of a job that starts (sign 1), or subtracts one of a job that stops (-1).
func (t *ties) count(s *Slice, sign int32) {
	l := t.topo.layouts[max(s.layout, -s.layout)-1]
	if l.counted > 0 {
		t.jobs[l.counted-1][s.Node] += sign
	}
}

// copyTo makes w, an earlier copy or nil, a copy of t.
func (t *ties) copyTo(w *ties) *ties {
	if t == nil {
		return nil
	}
	if w == nil {
		w = &ties{}
	}
	w.topo = t.topo
	for len(w.jobs) < len(t.jobs) {
		w.jobs = append(w.jobs, nil)
	}
	for i := range t.jobs {
		w.jobs[i] = append(w.jobs[i][:0], t.jobs[i]...)
	}
	return w
}
