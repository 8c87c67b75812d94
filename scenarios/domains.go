package scenarios

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// DomainSpec is a level of a pool's domains, such as racks of 8 nodes.
type DomainSpec struct {
	Level string
	Nodes int // 0 is as a column of the file of nodes says
}

var domainSection = strict.Section[DomainSpec]{Name: "capacity.domains", Needs: []string{"level"}, Fields: func(d *DomainSpec) []strict.Field {
	return []strict.Field{
		{"level", "what such a domain is called: block, rack, nvlink", strict.Name(&d.Level)},
		{"nodes", "nodes of one domain, consecutive ones; with nodes_file the column of that name says it", strict.Integer(&d.Nodes, 1, maxGPUs)},
	}
}}

// checkDomains checks that each domain is within one of the level above, and that racks that fail are those
// of the domains.
func (c *Capacity) checkDomains(o *strict.Object) {
	if o.Has("domains") {
		switch {
		case o.Has("buy"):
			o.FaultName("domains", "bought nodes stand where the cloud puts them; domains are of nodes that stay")
		case c.Nodes == 0 && c.NodesFile == "" && o.IsClean("nodes", "gpus", "gpus_per_node"):
			o.FaultName("domains", "domains are of nodes: give nodes and gpus_per_node")
		}
	}
	switch {
	case o.Has("topology") && o.Has("nodes_file"):
		o.FaultName("topology", "topology and nodes_file both say which nodes there are; leave one out")
	case o.Has("topology") && len(c.Domains) == 0:
		o.FaultMissing("domains", "topology needs a name for each level, from wide to narrow: domains: [{level: block}, {level: rack}]")
	}
	for i, d := range c.Domains {
		switch {
		case d.Level == simulate.NodeLevel || d.Level == simulate.ClusterLevel:
			o.Fault("domains", "the %s is always the %s level; domains are between", d.Level, map[bool]string{true: "last", false: "first"}[d.Level == simulate.NodeLevel])
		case slices.ContainsFunc(c.Domains[:i], func(x DomainSpec) bool { return x.Level == d.Level }):
			o.Fault("domains", "level %s is there twice", capcli.Quoted(d.Level))
		case c.Topology != "" && d.Nodes > 0:
			o.Fault("domains", "topology says which nodes share a %s; leave nodes out", d.Level)
		case c.NodesFile == "" && c.Topology == "" && d.Nodes == 0:
			o.Fault("domains", "level %s needs nodes: {level: %s, nodes: 8}", capcli.Quoted(d.Level), d.Level)
		case c.NodesFile != "" && d.Nodes > 0:
			o.Fault("domains", "column %s of nodes_file says which nodes share a %s; leave nodes out", capcli.Quoted(d.Level), d.Level)
		case i > 0 && d.Nodes > 0 && c.Domains[i-1].Nodes%d.Nodes != 0:
			o.Fault("domains", "a %s of %d nodes is no whole number of %ss of %d: levels go from wide to narrow", c.Domains[i-1].Level, c.Domains[i-1].Nodes, d.Level, d.Nodes)
		}
	}
	c.checkRack(o)
}

// rackLevel is the level of the domains that fail as racks.
const rackLevel = "rack"

// checkRack sets the nodes of racks that fail from the domains, or checks that both say the same.
func (c *Capacity) checkRack(o *strict.Object) {
	if c.Failures == nil || c.Failures.Rack == nil {
		return
	}
	r := c.Failures.Rack
	level := r.Level
	level = cmp.Or(level, rackLevel)
	i := slices.IndexFunc(c.Domains, func(d DomainSpec) bool { return d.Level == level })
	switch {
	case i < 0 && r.Level != "":
		o.Fault("failures", "rack is of level %s, which the domains of the pool do not have", capcli.Quoted(r.Level))
	case i < 0 && r.Nodes == 0:
		o.Fault("failures", "rack needs nodes, or domains of level rack: {level: rack, nodes: 8}")
	case i < 0:
	case c.Domains[i].Nodes == 0 && r.Nodes > 0:
		o.Fault("failures", "the file of nodes says what a %s is; leave nodes out", level)
	case r.Nodes > 0 && r.Nodes != c.Domains[i].Nodes:
		o.Fault("failures", "rack has %d nodes here and %d in domains; leave nodes out", r.Nodes, c.Domains[i].Nodes)
	default:
		r.Nodes, r.Level = c.Domains[i].Nodes, level
	}
}

// size returns the nodes of a rack of the pool; the mean, rounded up, where racks differ.
func (r *RackFailures) size(p *simulate.Pool) int {
	for i := range p.Domains {
		if d := &p.Domains[i]; d.Level == r.Level && len(d.Starts) > 0 {
			return (p.Nodes + len(d.Starts) - 1) / len(d.Starts)
		}
	}
	return r.Nodes
}

func (c *Capacity) domains(g *group) []simulate.Domain {
	var out []simulate.Domain
	for i, d := range c.Domains {
		x := simulate.Domain{Level: d.Level, Nodes: d.Nodes}
		if g.paths != nil {
			x.Starts = startsOf(g.paths, i)
		}
		out = append(out, x)
	}
	return out
}

// startsOf returns the first nodes of the domains of a level, by the sorted paths of the nodes.
func startsOf(paths [][]string, level int) []int32 {
	var out []int32
	for n := range paths {
		if n == 0 || !slices.Equal(paths[n][:level+1], paths[n-1][:level+1]) {
			out = append(out, int32(n))
		}
	}
	return out
}
