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

// push puts w among those that wait, or aside where its like is.
func (q *queue) push(w *workload) {
	if q.shapes[w.shape] {
		q.aside = append(q.aside, w)
		return
	}
	q.active = append(q.active, w)
}

// pop takes off the head: the sticky workload, else the first in order.
func (q *queue) pop() *workload {
	if len(q.active) == 0 {
		return nil
	}
	i := slices.Index(q.active, q.sticky)
	if i < 0 {
		i = 0
		for k, w := range q.active {
			if compareWaiting(w, q.active[i]) < 0 {
				i = k
			}
		}
	}
	w := q.active[i]
	q.active = slices.Delete(q.active, i, i+1)
	return w
}

// setAside puts w aside, and with it all that are active and of equal shape.
func (q *queue) setAside(w *workload) {
	q.shapes[w.shape] = true
	q.aside = append(q.aside, w)
	q.active = slices.DeleteFunc(q.active, func(o *workload) bool {
		if o.shape != w.shape {
			return false
		}
		q.aside = append(q.aside, o)
		return true
	})
}

// free puts back what was set aside in the tree of n.
func (c *cluster) free(n *node) {
	root := n.root()
	for _, q := range c.queues {
		if q.node.root() == root {
			q.active = append(q.active, q.aside...)
			q.aside = nil
			clear(q.shapes)
		}
	}
}

// pending are those that wait, active or aside, in the order of the queue.
func (q *queue) pending() []*workload {
	all := slices.Concat(q.active, q.aside)
	slices.SortFunc(all, func(a, b *workload) int {
		if (a == q.sticky) != (b == q.sticky) {
			if a == q.sticky {
				return -1
			}
			return 1
		}
		return compareWaiting(a, b)
	})
	return all
}

// resourceNames are the resources that a pod set asks for, in order.
func (p *PodSet) resourceNames() []string {
	return slices.Sorted(maps.Keys(p.Requests))
}
