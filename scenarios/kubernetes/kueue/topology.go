package kueue

import (
	"cmp"
	"slices"
	"strings"
)

// hosts is the tree of domains with what is free on each host.
type hosts struct {
	levels []string
	single bool // whether the lowest domain is a single host
	root   *domain
	list   []*domain // lowest domains, by path
}

// domain is a part of the topology: all hosts with the same labels down to its
// level.
type domain struct {
	value    string
	path     string
	children []*domain
	free     map[string]int64 // of a lowest domain, by resource
	capacity map[string]int64
	node     *Node // the first of a lowest domain

	room int64 // pods that it takes, in the search at hand
}

// placement is pods of a workload on a host.
type placement struct {
	podSet   int
	host     *domain
	values   []string // that name the host
	pods     int64
	requests map[string]int64
}

// newHosts returns the hosts of a flavor: those that have its labels and all levels of the topology.
func newHosts(t *Topology, f *Flavor, nodes []Node) *hosts {
	h := &hosts{levels: t.Levels, single: t.Levels[len(t.Levels)-1] == hostLabel, root: &domain{}}
	for i := range nodes {
		n := &nodes[i]
		d := h.root
		for _, level := range t.Levels {
			value, ok := n.Labels[level]
			if !ok {
				d = nil
				break
			}
			d = d.child(value)
		}
		if d == nil || !hasLabels(n.Labels, f.NodeLabels) {
			continue
		}
		if d.capacity == nil {
			d.capacity, d.free, d.node = map[string]int64{}, map[string]int64{}, n
			h.list = append(h.list, d)
		}
		for r, v := range n.Capacity {
			d.capacity[r] += v
			d.free[r] += v
		}
	}
	h.root.sort()
	slices.SortFunc(h.list, func(a, b *domain) int { return strings.Compare(a.path, b.path) })
	return h
}

func hasLabels(labels, want map[string]string) bool {
	for key, v := range want {
		if labels[key] != v {
			return false
		}
	}
	return true
}

// placeOn returns the placement of pods on the hosts that values name. Hosts that are gone are left out.
func (h *hosts) placeOn(named []Domain, index int, p *PodSet) []placement {
	var out []placement
	for _, x := range named {
		for _, d := range h.list {
			if slices.Equal(h.values(d), x.Values) || strings.Join(x.Values, "\x00") == d.path[1:] {
				out = append(out, placement{index, d, h.values(d), x.Count, h.requestsOf(p)})
			}
		}
	}
	return out
}

// values are the labels of d that name it: of a single host its name, else of all levels.
func (h *hosts) values(d *domain) []string {
	if h.single {
		return []string{d.value}
	}
	return strings.Split(d.path[1:], "\x00")
}

func (d *domain) child(value string) *domain {
	for _, c := range d.children {
		if c.value == value {
			return c
		}
	}
	c := &domain{value: value, path: d.path + "\x00" + value}
	d.children = append(d.children, c)
	return c
}

func (d *domain) sort() {
	slices.SortFunc(d.children, func(a, b *domain) int { return strings.Compare(a.path, b.path) })
	for _, c := range d.children {
		c.sort()
	}
}

// useHosts takes the room of placements, or with sign -1 gives it back.
func useHosts(placed []placement, sign int64) {
	for _, p := range placed {
		for r, v := range p.requests {
			p.host.free[r] -= sign * v * p.pods
		}
	}
}

// place finds hosts for the pod sets of an assignment. With empty, as if nobody
// used any. It returns false where some pods find none.
func (c *cluster) place(w *workload, a *assignment, empty bool) ([]placement, bool) {
	if c.hosts == nil {
		return nil, true
	}
	var all []placement
	defer func() { useHosts(all, -1) }()
	for i := range w.spec.PodSets {
		f := c.topologyFlavor(a, i)
		if f == nil {
			continue
		}
		placed, ok := c.hosts[f.Name].placePodSet(&w.spec.PodSets[i], i, a.counts[i], f, empty)
		if !ok {
			return nil, false
		}
		useHosts(placed, 1) // the next pod sets find what is left
		all = append(all, placed...)
	}
	return slices.Clone(all), true
}

// topologyFlavor is the flavor of a pod set that is placed on hosts, nil where
// it is not.
func (c *cluster) topologyFlavor(a *assignment, podSet int) *Flavor {
	for _, x := range a.choices {
		if x.podSet == podSet && c.hosts[x.flavor.Name] != nil {
			return x.flavor
		}
	}
	return nil
}

// placePodSet finds hosts for so many pods.
func (h *hosts) placePodSet(p *PodSet, index int, pods int64, f *Flavor, empty bool) ([]placement, bool) {
	h.countRoom(h.root, p, f, empty)
	requests := h.requestsOf(p)
	t := p.Topology
	if t == nil {
		t = &PodTopology{Unconstrained: "true"}
	}
	unconstrained := t.Required == "" && t.Preferred == ""
	level := len(h.levels) - 1
	if !unconstrained {
		level = slices.Index(h.levels, cmp.Or(t.Required, t.Preferred))
	}
	if level < 0 {
		return nil, false
	}
	taken, level := h.start(pods, level, t.Required != "", unconstrained)
	if taken == nil {
		return nil, false
	}
	for ; level < len(h.levels)-1; level++ {
		var below []*domain
		for _, d := range taken {
			below = append(below, d.children...)
		}
		taken = fill(below, pods, unconstrained)
	}
	var out []placement
	slices.SortFunc(taken, func(a, b *domain) int { return strings.Compare(a.path, b.path) })
	for _, d := range taken {
		out = append(out, placement{index, d, h.values(d), d.room, requests})
	}
	return out, true
}

// requestsOf returns what one pod takes of a host: its requests, and one of the pods that the host may
// have where hosts say how many that is.
func (h *hosts) requestsOf(p *PodSet) map[string]int64 {
	if !slices.ContainsFunc(h.list, func(d *domain) bool { return d.capacity[podsResource] > 0 }) {
		return p.Requests
	}
	requests := map[string]int64{podsResource: 1}
	for r, v := range p.Requests {
		requests[r] = v
	}
	return requests
}

// podsResource is the number of pods.
const podsResource = "pods"

// countRoom sets how many pods d and each domain below takes.
func (h *hosts) countRoom(d *domain, p *PodSet, f *Flavor, empty bool) {
	h.countDomain(d, h.requestsOf(p), func(n *Node) bool {
		every := func(string) bool { return true }
		return tolerates(n.Taints, p.Tolerations, f.Tolerations) && selects(n.Labels, p, every)
	}, empty)
}

// countDomain is countRoom for the requests of a pod. may reports whether the pods may run on a node.
func (h *hosts) countDomain(d *domain, requests map[string]int64, may func(*Node) bool, empty bool) {
	d.room = 0
	if d.capacity == nil {
		for _, c := range d.children {
			h.countDomain(c, requests, may, empty)
			d.room += c.room
		}
		return
	}
	if h.single && !may(d.node) {
		return
	}
	first := true
	for r, v := range requests {
		free := d.free[r]
		if empty {
			free = d.capacity[r]
		}
		if v <= 0 {
			continue
		}
		if n := max(0, free/v); first || n < d.room {
			d.room, first = n, false
		}
	}
}

func (h *hosts) domainsAt(level int) []*domain {
	list := []*domain{h.root}
	for ; level >= 0; level-- {
		var below []*domain
		for _, d := range list {
			below = append(below, d.children...)
		}
		list = below
	}
	return list
}

// compareRoom orders domains for a search: most room first, or least first where
// the pods are unconstrained, then by path.
func compareRoom(a, b *domain, leastFirst bool) int {
	d := cmp.Compare(b.room, a.room)
	if leastFirst {
		d = -d
	}
	return cmp.Or(d, strings.Compare(a.path, b.path))
}

// start finds the domains with which the search begins, and their level. The
// room of each becomes the pods that it takes.
func (h *hosts) start(pods int64, level int, required, unconstrained bool) ([]*domain, int) {
	list := h.domainsAt(level)
	slices.SortFunc(list, func(a, b *domain) int { return compareRoom(a, b, unconstrained) })
	if unconstrained {
		if i := slices.IndexFunc(list, func(d *domain) bool { return d.room >= pods }); i >= 0 {
			list[i].room = pods
			return list[i : i+1], level
		}
	} else if len(list) > 0 && list[0].room >= pods {
		d := leastSufficient(list, pods)
		d.room = pods
		return []*domain{d}, level
	}
	switch {
	case required:
		return nil, 0
	case !unconstrained && level > 0:
		return h.start(pods, level-1, required, unconstrained)
	}
	var room int64
	for _, d := range list {
		room += d.room
	}
	if room < pods {
		return nil, 0
	}
	return fill(list, pods, unconstrained), level
}

// leastSufficient returns, of the domains with room for so many pods, the one
// with least room, the first of equals in the list's order.
func leastSufficient(list []*domain, pods int64) *domain {
	var best *domain
	for _, d := range list {
		if d.room >= pods && (best == nil || d.room < best.room) {
			best = d
		}
	}
	return best
}

// fill takes domains in order, each to its full room, until one has room for
// what is left. That rest goes to the one of these with least room, or where the
// pods are unconstrained to the first.
func fill(list []*domain, pods int64, unconstrained bool) []*domain {
	slices.SortFunc(list, func(a, b *domain) int { return compareRoom(a, b, unconstrained) })
	var taken []*domain
	for i, d := range list {
		if d.room >= pods {
			if !unconstrained {
				d = leastSufficient(list[i:], pods)
			}
			d.room = pods
			return append(taken, d)
		}
		if d.room > 0 {
			pods -= d.room
			taken = append(taken, d)
		}
	}
	return taken
}
