package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate/topology"
)

// plain is a domain with its domains below, written for the reader: every count is found anew by
// recursion, and lists are sorted from scratch.
type plain struct {
	path  []string
	below []*plain
	free  int // of a node
}

func (d *plain) pods() int {
	sum := d.free
	for _, b := range d.below {
		sum += b.pods()
	}
	return sum
}

// units is what a domain can take: slices of so many pods down to the level of slices (depth), pods below.
func (d *plain) units(slice, depth int) int {
	if len(d.path) > depth {
		return 0
	}
	if len(d.path) == depth {
		return d.pods() / slice
	}
	sum := 0
	for _, b := range d.below {
		sum += b.units(slice, depth)
	}
	return sum
}

func (d *plain) domainsAt(depth int) []*plain {
	if len(d.path) == depth {
		return []*plain{d}
	}
	var out []*plain
	for _, b := range d.below {
		out = append(out, b.domainsAt(depth)...)
	}
	return out
}

// plainGang is a gang to place by the rules as the README of the golden answers states them.
type plainGang struct {
	pods, slice, depth int // depth of the slices, from 1 for the widest level
	mode               capcli.NearMode
	least              bool
}

func (g *plainGang) order(list []*plain) []*plain {
	list = slices.Clone(list)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if ua, ub := a.units(g.slice, g.depth), b.units(g.slice, g.depth); ua != ub {
			return (ua > ub) != g.least
		}
		if pa, pb := a.pods(), b.pods(); pa != pb {
			return pa < pb
		}
		return slices.Compare(a.path, b.path) < 0
	})
	return list
}

// hand deals need out to the domains of the list, by what count says that each can take.
func (g *plainGang) hand(list []*plain, need int, count func(*plain) int) map[*plain]int {
	given := map[*plain]int{}
	for i := 0; i < len(list) && need > 0; i++ {
		d := list[i]
		if count(d) >= need && !g.least {
			for _, x := range list[i:] {
				if count(x) >= need && count(x) < count(d) {
					d = x
				}
			}
		}
		take := min(count(d), need)
		given[d] += take
		need -= take
	}
	return given
}

// place returns the pods by node.
func (g *plainGang) place(root *plain, level, bottom int) map[string]int {
	need := g.pods / g.slice
	units := func(d *plain) int { return d.units(g.slice, g.depth) }
	if g.least {
		level = bottom
	}
	var chosen []*plain
	for {
		list := g.order(root.domainsAt(level))
		var enough []*plain
		total := 0
		for _, d := range list {
			if total += units(d); units(d) >= need {
				enough = append(enough, d)
			}
		}
		if len(enough) > 0 {
			best := enough[0]
			for _, d := range enough {
				if !g.least && units(d) < units(best) {
					best = d
				}
			}
			chosen = []*plain{best}
			break
		}
		if g.mode == capcli.Required {
			return nil
		}
		if !g.least && level > 1 {
			level--
			continue
		}
		if total < need {
			return nil
		}
		chosen = list
		break
	}
	out := map[string]int{}
	g.descend(g.hand(chosen, need, units), level, bottom, need, out)
	return out
}

// descend takes the shares of the domains of a level to the nodes.
func (g *plainGang) descend(given map[*plain]int, level, bottom, need int, out map[string]int) {
	if level < g.depth { // children of all, in slices
		var pool []*plain
		for d := range given {
			pool = append(pool, d.below...)
		}
		sort.Slice(pool, func(i, j int) bool { return slices.Compare(pool[i].path, pool[j].path) < 0 })
		g.descend(g.hand(g.order(pool), need, func(d *plain) int { return d.units(g.slice, g.depth) }), level+1, bottom, need, out)
		return
	}
	for d, n := range given {
		g.takeWithin(d, n*g.slice, out)
	}
}

// takeWithin takes pods of one domain to its nodes, without regard to slices.
func (g *plainGang) takeWithin(d *plain, pods int, out map[string]int) {
	if len(d.below) == 0 {
		out[strings.Join(d.path, "/")] += pods
		return
	}
	for b, n := range g.hand(g.order(d.below), pods, (*plain).pods) {
		if n > 0 {
			g.takeWithin(b, n, out)
		}
	}
}

// drawTree draws a tree of depth levels.
func drawTree(rng *rand.Rand, path []string, depth, most int) *plain {
	d := &plain{path: slices.Clone(path)}
	if len(path) == depth {
		if d.free = rng.IntN(most + 1); rng.IntN(4) == 0 {
			d.free = most
		}
		return d
	}
	for i := range 1 + rng.IntN(5) {
		d.below = append(d.below, drawTree(rng, append(path, fmt.Sprintf("d%d", i)), depth, most))
	}
	return d
}

// drawn is a drawn question with both forms of its tree.
type drawn struct {
	root *plain
	tree *topology.Tree
	room *topology.Room
	path []string // by node
	free []int
	q    topology.Request
}

func draw(t *testing.T, rng *rand.Rand) *drawn {
	depth := 1 + rng.IntN(4)
	d := &drawn{root: drawTree(rng, nil, depth, 1+rng.IntN(9))}
	var levels []string
	for l := range depth {
		levels = append(levels, fmt.Sprintf("level%d", l))
	}
	nodes := d.root.domainsAt(depth)
	paths := make([][]string, len(nodes))
	rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for i, n := range nodes {
		paths[i] = n.path
	}
	tree, order, err := topology.NewTree(levels, paths)
	if err != nil {
		t.Fatal(err)
	}
	d.tree, d.room = tree, topology.NewRoom(tree)
	for n, i := range order {
		d.room.Set(n, nodes[i].free)
		d.path, d.free = append(d.path, strings.Join(paths[i], "/")), append(d.free, nodes[i].free)
	}
	d.q = topology.Request{Mode: capcli.NearMode(1 + rng.IntN(3)), Level: rng.IntN(depth), Pods: 1 + rng.IntN(30)}
	if rng.IntN(2) == 0 {
		d.q.Slice = 1 + rng.IntN(6)
		d.q.Pods = d.q.Slice * (1 + rng.IntN(8))
		d.q.SliceLevel = rng.IntN(depth)
		if d.q.Mode != capcli.Unconstrained {
			d.q.SliceLevel = d.q.Level + rng.IntN(depth-d.q.Level)
		} else {
			d.q.SliceLevel = depth - 1
		}
	}
	if err := d.q.Check(tree); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPlain: drawn gangs go where the rules written plainly put them.
func TestPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 13))
	placed := 0
	for i := range 6000 {
		d := draw(t, rng)
		g := plainGang{pods: d.q.Pods, slice: max(1, d.q.Slice), depth: d.tree.Node() + 1, mode: d.q.Mode, least: d.q.Mode == capcli.Unconstrained}
		if g.slice > 1 {
			g.depth = d.q.SliceLevel + 1
		}
		want := g.place(d.root, d.q.Level+1, d.tree.Node()+1)
		for k, n := range want {
			if n == 0 {
				delete(want, k)
			}
		}
		got := map[string]int{}
		for _, p := range d.room.Place(&d.q) {
			got[d.path[p.Node]] = p.Pods
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("case %d: %+v on %v: placed %v, plainly %v", i, d.q, d.free, got, want)
		}
		if len(got) > 0 {
			placed++
		}
	}
	if placed < 1000 {
		t.Errorf("only %d of the drawn gangs fit", placed)
	}
}

// TestLaws: a gang is placed whole or not at all, on what is free, within one domain where that is
// required, with whole slices; and it is placed whenever it can be.
func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range 6000 {
		d := draw(t, rng)
		parts := d.room.Place(&d.q)
		sum := 0
		bySlice := map[int]int{}
		for _, p := range parts {
			sum += p.Pods
			if p.Pods < 1 || p.Pods > d.free[p.Node] {
				t.Fatalf("case %d: %d pods on a node with room for %d", i, p.Pods, d.free[p.Node])
			}
			bySlice[d.tree.DomainOf(p.Node, d.q.SliceLevel)] += p.Pods
		}
		switch {
		case sum != 0 && sum != d.q.Pods:
			t.Fatalf("case %d: %d of %d pods placed", i, sum, d.q.Pods)
		case sum > 0 && d.q.Mode == capcli.Required && d.tree.Spread(parts) < d.q.Level:
			t.Fatalf("case %d: a gang is required within level %d and spans %d", i, d.q.Level, d.tree.Spread(parts))
		case sum == 0 && d.fits():
			t.Fatalf("case %d: %+v on %v fits and is not placed", i, d.q, d.free)
		}
		for domain, n := range bySlice {
			if d.q.Slice > 1 && n%d.q.Slice != 0 {
				t.Fatalf("case %d: domain %d has %d pods of slices of %d", i, domain, n, d.q.Slice)
			}
		}
		for l := range d.tree.Levels() {
			if least := d.room.MinDomains(d.q.Pods, l); sum > 0 && (least < 1 || least > d.tree.Touched(parts, l)) {
				t.Fatalf("case %d: %d domains of level %d are touched, fewest is %d", i, d.tree.Touched(parts, l), l, least)
			}
		}
	}
}

// fits reports whether the gang fits at all: whole slices, within one domain if that is required.
func (d *drawn) fits() bool {
	slice, depth := max(1, d.q.Slice), d.tree.Node()+1
	if slice > 1 {
		depth = d.q.SliceLevel + 1
	}
	most := d.root.units(slice, depth)
	if d.q.Mode == capcli.Required {
		most = 0
		for _, x := range d.root.domainsAt(d.q.Level + 1) {
			most = max(most, x.units(slice, depth))
		}
	}
	return most*slice >= d.q.Pods
}

// TestMinDomains: no fewer domains can hold the pods, by trying all sets of domains.
func TestMinDomains(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for range 1500 {
		d := draw(t, rng)
		for l := range d.tree.Levels() {
			if d.tree.Size(l) > 10 {
				continue
			}
			best := -1
			for set := range 1 << d.tree.Size(l) {
				n, sum := 0, 0
				for x := range d.tree.Size(l) {
					if set&(1<<x) == 0 {
						continue
					}
					n++
					for from, to := d.tree.Nodes(l, x); from < to; from++ {
						sum += d.free[from]
					}
				}
				if sum >= d.q.Pods && (best < 0 || n < best) {
					best = n
				}
			}
			if got := d.room.MinDomains(d.q.Pods, l); got != best {
				t.Fatalf("%d domains of level %d, want %d", got, l, best)
			}
		}
	}
}

// TestTree: what is no tree is told, and nodes find their domains.
func TestTree(t *testing.T) {
	for _, bad := range []struct {
		levels []string
		paths  [][]string
	}{
		{nil, nil},
		{[]string{"rack", "node"}, [][]string{{"r0"}}},
		{[]string{"rack", "node"}, [][]string{{"r0", "n0"}, {"r1", "n0"}, {"r0", "n0"}}},
	} {
		if _, _, err := topology.NewTree(bad.levels, bad.paths); err == nil {
			t.Errorf("no error for %v of %v", bad.paths, bad.levels)
		}
	}
	for _, bad := range [][][]int32{
		{{0, 5}, {0, 4, 8}}, {{1}, {0}}, {{0, 3, 3}, {0, 3}}, {{}, {0}}, {{0}}, {{0, 12}, {0, 12}},
	} {
		if _, err := topology.NewConsecutive([]string{"block", "rack", "node"}, 12, bad); err == nil {
			t.Errorf("no error for domains that begin at %v", bad)
		}
	}
	tree, err := topology.NewConsecutive([]string{"block", "rack", "node"}, 12, [][]int32{{0, 8}, {0, 4, 8, 11}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		rack := min(n/4, 2)
		if n == 11 {
			rack = 3
		}
		if tree.DomainOf(n, 0) != n/8 || tree.DomainOf(n, 1) != rack || tree.DomainOf(n, 2) != n {
			t.Errorf("node %d is in block %d and rack %d", n, tree.DomainOf(n, 0), tree.DomainOf(n, 1))
		}
	}
	if from, to := tree.Nodes(0, 1); from != 8 || to != 12 {
		t.Errorf("block 1 has nodes %d to %d", from, to)
	}
}

func BenchmarkPlace(b *testing.B) {
	starts := [][]int32{{}, {}}
	for n := int32(0); n < 1024; n += 8 {
		if starts[1] = append(starts[1], n); n%64 == 0 {
			starts[0] = append(starts[0], n)
		}
	}
	tree, err := topology.NewConsecutive([]string{"block", "rack", "node"}, 1024, starts)
	if err != nil {
		b.Fatal(err)
	}
	room := topology.NewRoom(tree)
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 1024 {
		room.Set(n, rng.IntN(9))
	}
	q := topology.Request{Pods: 128, Mode: capcli.Preferred, Level: 1, Slice: 16, SliceLevel: 1}
	b.ReportAllocs()
	for b.Loop() {
		if room.Place(&q) == nil {
			b.Fatal("no room")
		}
	}
}
