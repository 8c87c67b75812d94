package kueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"capcli"
)

// cluster is the world as indices, and who uses what of it now.
type cluster struct {
	config    Config
	flavors   map[string]*Flavor
	slots     map[[2]string]slot // by flavor and resource
	names     [][2]string        // the inverse
	resources []string
	slotsOf   [][]slot          // by resource
	nodes     []*node           // cohorts, then queues
	queues    []*queue          // by name
	hosts     map[string]*hosts // by flavor; nil without a topology
}

// queue is a ClusterQueue: its rules, its place in the tree and who waits in it.
type queue struct {
	rules  *ClusterQueue
	node   *node
	groups []group
	byRes  map[string]*group

	lines    []*line // those that wait
	byShape  map[string]*line
	admitted []*workload // those that hold quota, in the order of admission
	sticky   *workload
	changes  int // admissions, evictions, releases and ends so far
}

// group is a resource group as indices.
type group struct {
	resources []string
	flavors   []*Flavor
}

// newCluster returns the world's cluster with nothing in it.
func newCluster(w *World) (*cluster, error) {
	c := &cluster{config: w.Config, flavors: map[string]*Flavor{}, slots: map[[2]string]slot{}}
	for i := range w.Flavors {
		c.flavors[w.Flavors[i].Name] = &w.Flavors[i]
	}
	for i := range w.Cohorts {
		c.addSlots(w.Cohorts[i].ResourceGroups)
	}
	for i := range w.ClusterQueues {
		c.addSlots(w.ClusterQueues[i].ResourceGroups)
	}
	cohorts, err := c.addCohorts(w.Cohorts)
	if err != nil {
		return nil, err
	}
	for i := range w.ClusterQueues {
		if err := c.addQueue(&w.ClusterQueues[i], cohorts); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.queues, func(a, b *queue) int { return cmp.Compare(a.node.name, b.node.name) })
	// Where nothing else decides, names do, whatever the order of the lists.
	byName := func(a, b *node) int { return cmp.Compare(a.name, b.name) }
	slices.SortStableFunc(c.nodes, byName)
	for _, n := range c.nodes {
		slices.SortStableFunc(n.children, byName)
		if n.parent == nil {
			n.finish()
		}
	}
	return c, c.addHosts(w)
}

// addHosts finds the hosts of the flavors that have a topology.
func (c *cluster) addHosts(w *World) error {
	for i := range w.Flavors {
		f := &w.Flavors[i]
		if f.Topology == "" {
			continue
		}
		k := slices.IndexFunc(w.Topologies, func(t Topology) bool { return t.Name == f.Topology })
		if k < 0 || len(w.Topologies[k].Levels) == 0 {
			return &capcli.InputError{Field: "flavors", Text: fmt.Sprintf("the flavor %q names the topology %q, which there is not", f.Name, f.Topology), Hint: "give the Topology too, or mend its name"}
		}
		if c.hosts == nil {
			c.hosts = map[string]*hosts{}
		}
		c.hosts[f.Name] = newHosts(&w.Topologies[k], f, w.Nodes)
	}
	return nil
}

// addSlots gives each flavor and resource of the groups an index.
func (c *cluster) addSlots(groups []ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range slices.Sorted(maps.Keys(f.Quota)) {
				key := [2]string{f.Flavor, r}
				if _, ok := c.slots[key]; ok {
					continue
				}
				s := slot(len(c.names))
				c.slots[key] = s
				c.names = append(c.names, key)
				i := slices.Index(c.resources, r)
				if i < 0 {
					i = len(c.resources)
					c.resources = append(c.resources, r)
					c.slotsOf = append(c.slotsOf, nil)
				}
				c.slotsOf[i] = append(c.slotsOf[i], s)
			}
		}
	}
}

func (c *cluster) addCohorts(list []Cohort) (map[string]*node, error) {
	cohorts := map[string]*node{}
	for i := range list {
		n := newNode(list[i].Name, list[i].Weight, len(c.names))
		c.setQuotas(n, list[i].ResourceGroups)
		cohorts[n.name] = n
		c.nodes = append(c.nodes, n)
	}
	for i := range list {
		if list[i].Parent != "" {
			attach(cohorts[list[i].Name], c.cohort(cohorts, list[i].Parent))
		}
	}
	for _, n := range c.nodes {
		steps := 0
		for p := n.parent; p != nil; p = p.parent {
			if steps++; steps > len(c.nodes) {
				return nil, &capcli.InputError{Field: "cohorts", Text: fmt.Sprintf("the cohort %q is its own ancestor", n.name), Hint: "a cohort stands in one tree: mend its parent"}
			}
		}
	}
	return cohorts, nil
}

// cohort returns a cohort by name. One that is only named, by a queue or a
// cohort, has no quota of its own.
func (c *cluster) cohort(cohorts map[string]*node, name string) *node {
	n, ok := cohorts[name]
	if !ok {
		n = newNode(name, nil, len(c.names))
		cohorts[name] = n
		c.nodes = append(c.nodes, n)
	}
	return n
}

func attach(child, parent *node) {
	child.parent = parent
	parent.children = append(parent.children, child)
}

func (c *cluster) setQuotas(n *node, groups []ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for r, q := range f.Quota {
				s := c.slots[[2]string{f.Flavor, r}]
				n.nominal[s] = q.Nominal
				if q.Borrowing != nil {
					n.borrowing[s] = *q.Borrowing
				}
				if q.Lending != nil {
					n.lending[s] = *q.Lending
				}
			}
		}
	}
}

func (c *cluster) addQueue(rules *ClusterQueue, cohorts map[string]*node) error {
	n := newNode(rules.Name, rules.Weight, len(c.names))
	q := &queue{rules: rules, node: n, byRes: map[string]*group{}, byShape: map[string]*line{}}
	n.queue = q
	c.setQuotas(n, rules.ResourceGroups)
	if rules.Cohort != "" {
		attach(n, c.cohort(cohorts, rules.Cohort))
	}
	for _, g := range rules.ResourceGroups {
		out := group{resources: g.Resources}
		for _, f := range g.Flavors {
			flavor := c.flavors[f.Flavor]
			if flavor == nil {
				return &capcli.InputError{Field: "cluster_queues", Text: fmt.Sprintf("the queue %q names the flavor %q, which there is not", rules.Name, f.Flavor), Hint: "give the ResourceFlavor too, or mend its name"}
			}
			out.flavors = append(out.flavors, flavor)
		}
		q.groups = append(q.groups, out)
	}
	for i := range q.groups {
		for _, r := range q.groups[i].resources {
			q.byRes[r] = &q.groups[i]
		}
	}
	c.nodes = append(c.nodes, n)
	c.queues = append(c.queues, q)
	return nil
}

// queueNamed returns a queue by name, nil where there is none.
func (c *cluster) queueNamed(name string) *queue {
	i, ok := slices.BinarySearchFunc(c.queues, name, func(q *queue, name string) int { return cmp.Compare(q.node.name, name) })
	if !ok {
		return nil
	}
	return c.queues[i]
}

// hold adds the quota and the hosts of an admitted workload to the use, or with
// sign -1 takes them away.
func (c *cluster) hold(w *workload, sign int64) {
	c.use(w.queue, w.usage, sign)
	useHosts(w.placed, sign)
}

func (c *cluster) use(q *queue, u usage, sign int64) {
	for s, v := range u {
		if v != 0 {
			q.node.add(slot(s), sign*v)
		}
	}
}

// fits tells whether the queue can use u now. Without borrowing, within its own
// quota alone.
func (c *cluster) fits(q *queue, u usage, borrow bool) bool {
	for s, v := range u {
		if v == 0 {
			continue
		}
		if v > max(0, q.node.available(slot(s))) || !borrow && q.node.exceeds(slot(s), v) {
			return false
		}
	}
	return true
}

// usage is an amount by slot.
type usage []int64
