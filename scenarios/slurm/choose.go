package slurm

import "slices"

// free is what is free of a node.
type free struct {
	cpus, mem, gpus int64
	jobs            int  // that hold part of it
	whole           bool // held by a job alone
}

func allOf(n *machine) free { return free{cpus: n.CPUs, mem: n.MemMB, gpus: n.GPUs} }

// room is what is free of each node, now or in a what-if.
type room []free

// take takes what a job holds (sign 1), or gives it back (-1).
func (r room) take(j *job, sign int64) {
	for _, s := range j.on {
		d := &r[s.node]
		d.cpus, d.mem, d.gpus, d.jobs = d.cpus-sign*s.cpus, d.mem-sign*s.mem, d.gpus-sign*s.gpus, d.jobs+int(sign)
		d.whole = d.jobs > 0 && (d.whole || j.req.whole)
	}
}

// scratch is memory that is used again.
type scratch struct {
	room   room
	cpus   []int64
	usable []int
	spans  []span
	set    set
	key    []byte
}

// room copies what is free now, until the next call.
func (c *cluster) room() room {
	c.scratch.room = append(c.scratch.room[:0], c.free...)
	return c.scratch.room
}

// usable returns how many CPUs of a node a job can use, in whole tasks; 0 is none.
func (q *request) usable(d *free) int64 {
	if d.whole || q.whole && d.jobs > 0 || d.gpus < q.perNode || q.perJob > 0 && d.gpus == 0 || d.mem < q.memNode {
		return 0
	}
	cpus := d.cpus
	if q.memCPU > 0 {
		cpus = min(cpus, d.mem/q.memCPU)
	}
	return cpus / q.cpus * q.cpus
}

// tally is how many nodes a job can use, and what they have. To a job of one node only those count that do alone.
type tally struct {
	nodes      int
	cpus, gpus int64
}

// count counts a node (sign 1), or takes it off (-1).
func (n *tally) count(q *request, d *free, sign int64) {
	if u := q.usable(d); u > 0 && (q.maxNodes > 1 || u >= q.tasks*q.cpus && d.gpus >= q.perJob) {
		n.nodes, n.cpus, n.gpus = n.nodes+int(sign), n.cpus+sign*u, n.gpus+sign*d.gpus
	}
}

// mayDo reports whether the nodes may do for a job.
func (n *tally) mayDo(q *request) bool {
	return n.nodes >= q.minNodes && n.cpus >= q.tasks*q.cpus && n.gpus >= q.perJob
}

// choose returns the nodes of among that a job gets, or nil. With byWeight the nodes of the lowest weight
// are tried alone, then those of the next with them, as select_nodes does.
func (c *cluster) choose(r room, q *request, among set, byWeight bool) []int {
	if len(c.scratch.cpus) < len(r) {
		c.scratch.cpus = make([]int64, len(r))
	}
	cpus, usable := c.scratch.cpus, c.scratch.usable[:0]
	for i := range among.members {
		if cpus[i] = q.usable(&r[i]); cpus[i] > 0 && q.suited.has(i) {
			usable = append(usable, i)
		}
	}
	c.scratch.usable = usable
	if !byWeight {
		return c.fit(r, q, usable, cpus)
	}
	var weights []int64
	for _, i := range usable {
		weights = append(weights, c.nodes[i].Weight)
	}
	slices.Sort(weights)
	for _, w := range slices.Compact(weights) {
		light := slices.DeleteFunc(slices.Clone(usable), func(i int) bool { return c.nodes[i].Weight > w })
		if on := c.fit(r, q, light, cpus); on != nil {
			return on
		}
	}
	return nil
}

// fit tries all nodes, then again and again without those that have least.
func (c *cluster) fit(r room, q *request, usable []int, cpus []int64) []int {
	for {
		n, least := tally{}, never
		have := func(i int) int64 { return cpus[i] + r[i].gpus*min(1, q.perNode+q.perJob) }
		for _, i := range usable {
			n.count(q, &r[i], 1)
			least = min(least, have(i))
		}
		if !n.mayDo(q) {
			return nil
		}
		if on := c.bestRuns(r, q, usable, cpus); on != nil {
			return on
		}
		usable = slices.DeleteFunc(usable, func(i int) bool { return have(i) == least })
	}
}

// span is a run of neighbouring nodes of one weight.
type span struct {
	nodes     []int
	cpus      int64
	gpus      int64
	weight    int64
	fits, out bool
}

// spansOf returns the runs of the usable nodes, until the next call.
func (c *cluster) spansOf(r room, usable []int, cpus []int64) []span {
	spans := c.scratch.spans[:0]
	for k, i := range usable {
		w := c.nodes[i].Weight
		if k == 0 || i != usable[k-1]+1 || w != spans[len(spans)-1].weight {
			spans = append(spans, span{weight: w, nodes: usable[k:k]})
		}
		s := &spans[len(spans)-1]
		s.nodes = s.nodes[:len(s.nodes)+1]
		s.cpus += cpus[i]
		s.gpus += r[i].gpus
	}
	c.scratch.spans = spans
	return spans
}

// bestSpan returns the span to take nodes of next, or nil.
func bestSpan(spans []span, nodes int, need, gpus int64) (best *span) {
	for k := range spans {
		s := &spans[k]
		if s.out {
			continue
		}
		s.fits = s.cpus >= need && len(s.nodes) >= nodes && s.gpus >= gpus
		if best == nil || s.weight < best.weight ||
			s.weight == best.weight && (s.fits && (!best.fits || s.cpus < best.cpus) || !s.fits && !best.fits && s.cpus > best.cpus) {
			best = s
		}
	}
	return best
}

// bestRuns chooses nodes as select/cons_tres does without topology: of runs of neighbouring nodes the
// lightest, then one that is large enough, then the tightest; within it from the first node on.
func (c *cluster) bestRuns(r room, q *request, usable []int, cpus []int64) (on []int) {
	spans := c.spansOf(r, usable, cpus)
	nodes, need, gpus := q.minNodes, q.tasks*q.cpus, q.perJob
	for len(on) < q.maxNodes {
		best := bestSpan(spans, nodes, need, gpus)
		if best == nil {
			return nil
		}
		best.out = true
		list := best.nodes
		if i := tightest(r, best, nodes, need, gpus, cpus); i >= 0 {
			list = []int{i}
		}
		for _, i := range list {
			if nodes <= 0 && need <= 0 && gpus <= 0 || len(on) >= q.maxNodes {
				break
			}
			nodes, need, gpus = nodes-1, need-cpus[i], gpus-r[i].gpus
			on = append(on, i)
		}
		if nodes <= 0 && need <= 0 && gpus <= 0 {
			slices.Sort(on)
			return on
		}
	}
	return nil
}

// tightest returns the node of a span with the fewest CPUs that alone gives what is left to find, or -1.
func tightest(r room, s *span, nodes int, need, gpus int64, cpus []int64) int {
	best := -1
	for _, i := range s.nodes {
		if nodes <= 1 && cpus[i] >= need && r[i].gpus >= gpus && (best < 0 || cpus[i] < cpus[best]) {
			best = i
		}
	}
	return best
}

// divide returns what a job holds of the nodes that were chosen: a task each, then one more each in turn.
func (c *cluster) divide(r room, q *request, on []int) []share {
	out := make([]share, len(on))
	tasks, gpus := q.tasks, q.perJob
	for progress := true; tasks > 0 && progress; {
		progress = false
		for k, i := range on {
			if tasks > 0 && out[k].cpus+q.cpus <= q.usable(&r[i]) {
				out[k].cpus += q.cpus
				tasks--
				progress = true
			}
		}
	}
	for k, i := range on {
		s, d := &out[k], c.nodes[i]
		s.node, s.gpus = i, q.perNode
		if q.perJob > 0 {
			s.gpus = min(gpus-int64(len(on)-1-k), r[i].gpus)
			gpus -= s.gpus
		}
		if q.whole {
			s.cpus, s.gpus = d.CPUs, d.GPUs
		}
		s.mem = max(q.memNode, s.cpus*q.memCPU)
	}
	return out
}
