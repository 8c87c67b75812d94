package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/topology"
)

// layout is what a shape asks of the place where its jobs run, in terms of each pool of the run.
type layout struct {
	topo    *topo
	shape   *capcli.Shape
	number  int32 // in topo.layouts, from 1
	counted int   // number of the shape's name in topo.counted, from 1; 0 is not counted
	beside  int   // the same of the shape that its jobs must be beside; 0 is none
	pools   []poolLayout
	spread  spreadTally
	sizes   []sizeCount // of the jobs that arrived
}

// poolLayout is a layout in one pool. Levels are numbers of the pool's tree.
type poolLayout struct {
	can                 bool // the pool has the levels that the shape cannot do without
	level, segmentLevel int
	apart, with         int     // levels of Apart, and of the domain of Beside
	slowdown            []ratio // by the level of the spread plus 1; nil is none
}

// ratio is a factor on a run time.
type ratio struct{ num, den int64 }

// layoutOf returns the layout of a shape; nil if it asks for nothing. The first job of the shape makes it.
func (t *topo) layoutOf(s *capcli.Shape) *layout {
	if l, known := t.byShape[s]; known {
		return l
	}
	t.byShape[s] = nil
	t.shapes = append(t.shapes, s)
	if s.Near.IsZero() && !slices.Contains(t.counted, s.Name) {
		return nil
	}
	return t.newLayout(s)
}

func (t *topo) newLayout(s *capcli.Shape) *layout {
	n := &s.Near
	l := &layout{topo: t, shape: s, number: int32(len(t.layouts) + 1), counted: slices.Index(t.counted, s.Name) + 1}
	for p := range t.pools {
		l.pools = append(l.pools, newPoolLayout(t.pools[p].tree, n, t.pools[p].scattered))
	}
	t.layouts = append(t.layouts, l)
	t.byShape[s] = l
	if t.e.c.ties == nil {
		t.e.c.ties = &ties{topo: t}
	}
	if n.Mode != capcli.Anywhere || n.Apart != "" || n.Beside != "" {
		t.e.counts = false // where a job fits is no longer a matter of numbers alone
	}
	if n.Apart != "" {
		t.countShape(s.Name)
	}
	if n.Beside != "" {
		if !slices.ContainsFunc(t.layouts, func(o *layout) bool { return o.beside > 0 }) {
			t.e.hooks.add(t) // from now on starts may let others start
		}
		l.beside = t.countShape(n.Beside)
	}
	return l
}

// newPoolLayout says what n means in a pool.
func newPoolLayout(tree *topology.Tree, n *capcli.Near, scattered bool) poolLayout {
	out := poolLayout{can: true, level: tree.Level(n.Level), segmentLevel: tree.Level(n.SliceLevel)}
	switch {
	case n.Mode == capcli.Required && out.level < 0, n.SliceGPUs > 0 && out.segmentLevel < 0:
		out.can = false
	case n.Mode == capcli.Preferred && out.level < 0:
		out.level = 0
	}
	out.apart, out.with = max(-1, tree.Level(n.Apart)), tree.Level(cmp.Or(n.Level, NodeLevel))
	if scattered { // its one node is none
		out.can = out.can && n.Mode != capcli.Required && n.SliceGPUs == 0
		out.apart, out.with = -1, -1
	}
	if len(n.Slowdown) > 0 {
		out.slowdown = make([]ratio, tree.Node()+2)
		for level := -1; level <= tree.Node(); level++ {
			out.slowdown[level+1] = slowdownAt(tree, n.Slowdown, level)
		}
	}
	return out
}

// slowdownAt returns the factor of a job that one domain of a level holds and no narrower one. Where the
// table does not name the level it is that of the next wider one that the table names, or else of the
// next narrower.
func slowdownAt(tree *topology.Tree, table []capcli.Slowdown, level int) ratio {
	named := func(level int) (ratio, bool) {
		name := ClusterLevel
		if level >= 0 {
			name = tree.Levels()[level]
		}
		i := slices.IndexFunc(table, func(s capcli.Slowdown) bool { return s.Level == name })
		if i < 0 {
			return ratio{1, 1}, false
		}
		return ratio{table[i].Num, table[i].Den}, true
	}
	for l := level; l >= -1; l-- {
		if r, ok := named(l); ok {
			return r
		}
	}
	for l := level + 1; l <= tree.Node(); l++ {
		if r, ok := named(l); ok {
			return r
		}
	}
	return ratio{1, 1}
}

// countShape begins to count the jobs of the shapes of a name by node, and returns its number from 1.
func (t *topo) countShape(name string) int {
	if i := slices.Index(t.counted, name); i >= 0 {
		return i + 1
	}
	t.counted = append(t.counted, name)
	number := len(t.counted)
	on := make([]int32, len(t.e.c.nodes))
	t.e.c.ties.jobs = append(t.e.c.ties.jobs, on)
	for _, l := range t.layouts {
		if l.shape.Name == name {
			l.counted = number
		}
	}
	for l := range t.e.allRunning() {
		if l.Shape == nil || l.Shape.Name != name {
			continue
		}
		if l.layout == nil { // its shape asked for nothing of its own until now
			l.layout = t.besideOnly(l.Shape)
		}
		for i := range l.slices {
			on[l.slices[i].Node]++
			l.slices[i].layout = l.layout.mark(i)
		}
	}
	for l := range t.e.allWaiting() {
		if l.Shape != nil && l.Shape.Name == name && l.layout == nil {
			l.layout = t.besideOnly(l.Shape)
		}
	}
	for _, s := range t.shapes {
		if s.Name == name {
			t.besideOnly(s)
		}
	}
	return number
}

// besideOnly gives a shape that asks for nothing a layout, because jobs of another shape must be beside
// its jobs.
func (t *topo) besideOnly(s *capcli.Shape) *layout {
	if l := t.byShape[s]; l != nil {
		return l
	}
	return t.newLayout(s)
}

// mark returns Slice.layout of the i-th slice of a job.
func (l *layout) mark(i int) int32 {
	if i == 0 {
		return l.number
	}
	return -l.number
}

// WorkerOf returns the GPUs of one worker of a job of so many GPUs on nodes of a size. A worker is never
// split over nodes. If the shape does not say, it is the whole job where a node can hold it, else the
// largest equal part of the job that fills nodes; and one GPU where a job would like one node but need
// not have it.
func workerOf(n *capcli.Near, gpus, node int) int {
	w := gpus
	switch {
	case n.WorkerGPUs > 0:
		w = common(gpus, n.WorkerGPUs)
	case n.Mode == capcli.Preferred && n.Level == NodeLevel:
		w = 1
	case gpus > node:
		w = common(gpus, node)
	}
	if n.SliceGPUs > 0 && gpus > n.SliceGPUs {
		w = common(w, n.SliceGPUs)
	}
	return w
}

// common returns the largest number that divides both.
func common(a, b int) int { return int(gcd(int64(a), int64(b))) }

// request returns what l asks of pool p in workers, and the GPUs of one worker. It is false where the
// pool can never give it.
func (l *layout) request(p *Pool, tree *topology.Tree, at *poolLayout, gpus int) (q topology.Request, worker int, ok bool) {
	n := &l.shape.Near
	worker = workerOf(n, gpus, p.GPUsPerNode)
	q = topology.Request{Pods: gpus / worker, Mode: n.Mode, Level: at.level}
	if n.SliceGPUs > 0 { // a job smaller than a segment is one segment
		q.Slice, q.SliceLevel = min(gpus, n.SliceGPUs)/worker, at.segmentLevel
	}
	if n.Mode == capcli.Anywhere { // segments alone: anywhere, but each in its domain
		q.Mode, q.Level = capcli.Preferred, 0
	}
	return q, worker, worker <= p.GPUsPerNode && gpus%max(1, min(gpus, n.SliceGPUs)) == 0 && q.Check(tree) == nil
}

// whyNever says why a job of the layout can run in no pool of its class; "" if that is not the reason.
func (t *topo) whyNever(l *Live) string {
	n := &l.layout.shape.Near
	reach := slices.Concat(l.class.ranks...)
	lacks := func(level string) bool {
		return level != "" && !slices.ContainsFunc(reach, func(p int) bool { return t.pools[p].tree.Level(level) >= 0 })
	}
	switch {
	case n.Mode == capcli.Required && lacks(n.Level):
		return fmt.Sprintf("must be within one %s, and no pool that it may use has such domains", n.Level)
	case n.SliceGPUs > 0 && lacks(n.SliceLevel):
		return fmt.Sprintf("its segments must be within one %s, and no pool that it may use has such domains", n.SliceLevel)
	case n.SliceGPUs > 0 && l.GPUs > n.SliceGPUs && l.GPUs%n.SliceGPUs != 0:
		return fmt.Sprintf("wants %d GPUs, which are not whole segments of %d", l.GPUs, n.SliceGPUs)
	case n.Mode == capcli.Required && n.Level != "":
		return fmt.Sprintf("wants %d GPUs within one %s, which no empty one of a pool that it may use has", l.GPUs, n.Level)
	case n.SliceGPUs > 0:
		return fmt.Sprintf("wants %d GPUs in segments of %d within one %s, which no empty pool has", l.GPUs, min(l.GPUs, n.SliceGPUs), n.SliceLevel)
	}
	return ""
}
