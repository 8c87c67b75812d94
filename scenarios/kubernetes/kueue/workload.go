package kueue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// workload is a workload in the simulation.
type workload struct {
	spec  *Workload
	queue *queue
	shape string

	admitted bool
	leaving  bool           // preempted, and holds its quota until leaves
	leaves   capcli.Seconds // when its pods are gone
	ends     capcli.Seconds
	start    capcli.Seconds // of its last admission
	first    capcli.Seconds
	ended    bool
	evicted  int // times preempted

	usage  usage // while admitted
	placed []placement

	positions []position // of its last search
	stored    int        // total cycle of that search
	changes   int        // of its queue at that search
}

// position is where the search for a flavor of a pod set's resource stopped.
type position struct {
	podSet   int
	resource string
	index    int // -1: start again
}

func newWorkload(spec *Workload, q *queue) *workload {
	return &workload{spec: spec, queue: q, shape: shapeOf(spec), start: -1, first: -1, ends: -1}
}

// shapeOf is equal for workloads that ask for the same.
func shapeOf(w *Workload) string {
	b, _ := json.Marshal(w.PodSets) // maps are written in order of their keys
	return fmt.Sprintf("%d %s", w.Priority, b)
}

// compareWaiting is the order of a queue: higher priority, earlier, by name.
func compareWaiting(a, b *workload) int {
	return cmp.Or(cmp.Compare(b.spec.Priority, a.spec.Priority), cmp.Compare(a.spec.Arrival, b.spec.Arrival), strings.Compare(a.spec.tieName(), b.spec.tieName()))
}

// line is the waiting workloads of a queue that have the same shape. Their order is that of the queue,
// the first at the end of the list.
type line struct {
	shape string
	list  []*workload
	aside bool // set aside until something in the tree is freed
}

// push puts w into the line of its shape, which may be set aside.
func (q *queue) push(w *workload) {
	l := q.byShape[w.shape]
	if l == nil {
		l = &line{shape: w.shape}
		q.byShape[w.shape] = l
		q.lines = append(q.lines, l)
	}
	i, _ := slices.BinarySearchFunc(l.list, w, func(a, b *workload) int { return compareWaiting(b, a) })
	l.list = slices.Insert(l.list, i, w)
}

// isActive reports whether a workload waits in q that is not set aside.
func (q *queue) isActive() bool {
	return slices.ContainsFunc(q.lines, func(l *line) bool { return !l.aside && len(l.list) > 0 })
}

// pop takes off the head: the sticky workload, else the first in order. It returns nil if none is
// active.
func (q *queue) pop() *workload {
	var first *line
	for _, l := range q.lines {
		if l.aside || len(l.list) == 0 {
			continue
		}
		if q.sticky != nil && l.shape == q.sticky.shape {
			if i := slices.Index(l.list, q.sticky); i >= 0 {
				l.list = slices.Delete(l.list, i, i+1)
				return q.sticky
			}
		}
		if first == nil || compareWaiting(l.list[len(l.list)-1], first.list[len(first.list)-1]) < 0 {
			first = l
		}
	}
	if first == nil {
		return nil
	}
	w := first.list[len(first.list)-1]
	first.list = first.list[:len(first.list)-1]
	return w
}

// setAside puts w aside, and with it all that are active and of equal shape.
func (q *queue) setAside(w *workload) {
	q.push(w)
	q.byShape[w.shape].aside = true
}

// free puts back what was set aside in the tree of n.
func (c *cluster) free(n *node) {
	root := n.root()
	for _, q := range c.queues {
		if q.node.root() == root {
			for _, l := range q.lines {
				l.aside = false
			}
		}
	}
}

// compareInQueue is the order of a queue, the sticky workload first.
func (q *queue) compareInQueue(a, b *workload) int {
	if (a == q.sticky) != (b == q.sticky) {
		if a == q.sticky {
			return -1
		}
		return 1
	}
	return compareWaiting(a, b)
}

// pending are those that wait, active or aside, in the order of the queue.
func (q *queue) pending() []*workload {
	var all []*workload
	for _, l := range q.lines {
		all = append(all, l.list...)
	}
	slices.SortFunc(all, q.compareInQueue)
	return all
}

// firstPending is the first of pending; nil if none waits.
func (q *queue) firstPending() *workload {
	var first *workload
	for _, l := range q.lines {
		if len(l.list) > 0 && (first == nil || q.compareInQueue(l.list[len(l.list)-1], first) < 0) {
			first = l.list[len(l.list)-1]
		}
		if q.sticky != nil && slices.Contains(l.list, q.sticky) {
			return q.sticky
		}
	}
	return first
}

// resourceNames are the resources that a pod set asks for, in order.
func (p *PodSet) resourceNames() []string { return slices.Sorted(maps.Keys(p.Requests)) }
