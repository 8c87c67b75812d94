// Package topology places gangs in racks, NVLink domains and nodes, in the manner of Kueue's
// topology-aware scheduling (KEP 2724, "Computing the assignment" and "Two-level scheduling"; profile
// Mixed, the default since Kueue 0.15).
//
// A Tree is the domains of a cluster. A Room says how many pods fit on each node now, and Place finds the
// nodes of a gang of equal pods: all of them or none.
package topology

import (
	"fmt"
	"slices"
)

// Tree is levels of domains from wide to narrow. The domains of the last level are the nodes. The domains
// of each level are numbered in the order of their paths, so the children of a domain are consecutive.
type Tree struct {
	levels []string
	sizes  []int     // number of domains, by level
	first  [][]int32 // by level but the last: the first child of each domain and, at the end, the number of children of all
	parent [][]int32 // by level but the first: the domain above
}

// NewConsecutive returns the tree of nodes that are numbered so that those of a domain are consecutive. starts has
// for each level but the last the first node of each domain, ascending from 0. It fails where a domain is
// not within one domain of the level above.
func NewConsecutive(levels []string, nodes int, starts [][]int32) (*Tree, error) {
	if len(starts) != len(levels)-1 {
		return nil, fmt.Errorf("a topology of %d levels has the domains of %d", len(levels), len(starts))
	}
	t := &Tree{levels: levels, sizes: make([]int, len(levels)), first: make([][]int32, len(starts)), parent: make([][]int32, len(levels))}
	t.sizes[len(levels)-1] = nodes
	for l := range starts {
		if err := checkStarts(starts[l], nodes); err != nil {
			return nil, fmt.Errorf("level %s: %w", levels[l], err)
		}
		t.sizes[l] = len(starts[l])
		below := []int32(nil) // nil is the nodes themselves
		if l+1 < len(starts) {
			below = starts[l+1]
		}
		if err := t.link(l, starts[l], below, nodes); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// checkStarts reports whether starts are numbers of nodes, ascending from 0.
func checkStarts(starts []int32, nodes int) error {
	for i, s := range starts {
		if i == 0 && s != 0 || i > 0 && s <= starts[i-1] || int(s) >= nodes {
			return fmt.Errorf("domain %d begins at node %d: domains begin at node 0 and follow each other", i, s)
		}
	}
	if len(starts) == 0 && nodes > 0 {
		return fmt.Errorf("it has no domain")
	}
	return nil
}

// link finds the children of the domains of level l. below has the first nodes of the domains below; nil
// is the nodes.
func (t *Tree) link(l int, starts, below []int32, nodes int) error {
	children := nodes
	if below != nil {
		children = len(below)
	}
	t.first[l] = make([]int32, 0, len(starts)+1)
	t.parent[l+1] = make([]int32, children)
	c := 0
	for d, s := range starts {
		if below == nil {
			c = int(s)
		} else {
			for c < len(below) && below[c] < s {
				c++
			}
			if c == len(below) || below[c] != s {
				return fmt.Errorf("domain %d of level %s has nodes of domains %d and %d of level %s: domains are within one of the level above",
					c-1, t.levels[l+1], d-1, d, t.levels[l])
			}
		}
		t.first[l] = append(t.first[l], int32(c))
	}
	t.first[l] = append(t.first[l], int32(children))
	for d := range starts {
		for c := t.first[l][d]; c < t.first[l][d+1]; c++ {
			t.parent[l+1][c] = int32(d)
		}
	}
	return nil
}

// Levels returns the names of the levels from wide to narrow. The last is the node.
func (t *Tree) Levels() []string { return t.levels }

// Level returns the number of a level by its name, or -1.
func (t *Tree) Level(name string) int { return slices.Index(t.levels, name) }

// Node returns the number of the level of nodes.
func (t *Tree) Node() int { return len(t.levels) - 1 }

// Size returns the number of domains of a level.
func (t *Tree) Size(level int) int { return t.sizes[level] }

// DomainOf returns the domain of a level that a node is in.
func (t *Tree) DomainOf(node, level int) int {
	d := int32(node)
	for l := t.Node(); l > level; l-- {
		d = t.parent[l][d]
	}
	return int(d)
}

// Nodes returns the nodes of a domain: from up to, but not including, to.
func (t *Tree) Nodes(level, domain int) (from, to int) {
	from, to = domain, domain+1
	for ; level < t.Node(); level++ {
		from, to = int(t.first[level][from]), int(t.first[level][to])
	}
	return from, to
}

// Cluster is the spread of a gang that no domain holds whole.
const Cluster = -1

// Spread returns the narrowest level of which one domain holds all parts, or Cluster.
func (t *Tree) Spread(parts []Part) int {
	if len(parts) == 0 {
		return Cluster
	}
	for l := t.Node(); l >= 0; l-- {
		d := t.DomainOf(parts[0].Node, l)
		if !slices.ContainsFunc(parts[1:], func(p Part) bool { return t.DomainOf(p.Node, l) != d }) {
			return l
		}
	}
	return Cluster
}

// Touched returns the number of domains of a level that have a part. Parts are in order of node.
func (t *Tree) Touched(parts []Part, level int) int {
	n, last := 0, -1
	for _, p := range parts {
		if d := t.DomainOf(p.Node, level); d != last {
			n, last = n+1, d
		}
	}
	return n
}
