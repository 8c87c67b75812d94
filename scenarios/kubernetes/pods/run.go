package pods

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

// Back-offs of failed pods (Kubernetes documentation, Jobs, "Pod backoff failure policy").
const (
	firstDelay capcli.Seconds = 10
	mostDelay  capcli.Seconds = 360
)

// backoff returns the delay after the nth failure in a row, from 1.
func backoff(n int) capcli.Seconds {
	d := firstDelay
	for ; n > 1 && d < mostDelay; n-- {
		d *= 2
	}
	return min(d, mostDelay)
}

type state uint8

const (
	idle    state = iota // not created, or created anew by and by
	waiting              // created, and waits for a node
	running
	leaving // preempted, and not yet gone
	done    // succeeded, killed or lost
)

type pod struct {
	owner     *owner
	index     int
	state     state
	queued    capcli.Seconds // when it was last created
	seq       int64          // of its creation
	start     capcli.Seconds
	node      *node
	nominated *node // where room is made for it
	run       int   // counts its starts, so that events of earlier ones are passed over
}

func (p *pod) result() *PodResult { return &p.owner.result.Pods[p.index] }

// owner is an owner in the simulation.
type owner struct {
	spec     *Owner
	index    int
	rank     int // in the order in which owners come
	requests []int64
	line     *line
	pods     []*pod
	quotas   []*quota // that its pods count in

	came      bool
	active    int64 // pods that are created and not gone
	up        int64 // pods that run
	succeeded int64
	failures  int64
	streak    int // failures in a row
	refusals  int // in a row
	notBefore capcli.Seconds
	nextIdle  int // no pod before it is idle
	dirty     bool
	ended     bool
	since     capcli.Seconds // of the last change of up
	refusal   string
	tried     int64 // changes so far when it was refused last
	result    OwnerResult
}

// want is how many pods it wants at once.
func (o *owner) want() int64 {
	if o.spec.Kind == Job {
		return min(o.spec.Parallelism, o.spec.Completions-o.succeeded)
	}
	return o.spec.Parallelism
}

// node is a node with what is free on it.
type node struct {
	spec      *kueue.Node
	index     int
	name      string
	capacity  []int64
	free      []int64
	pods      []*pod // running and leaving
	nominated []*pod
}

// line is pods of equal demands, in the order of their creation.
type line struct {
	list     []*pod
	reserved int  // pods of it for which a node is reserved
	stuck    bool // those without such a node find none, as long as nothing changes
}

// simulation is a run.
type simulation struct {
	w      *World
	names  []string // of the resources
	nodes  []*node  // by name
	owners []*owner // by arrival
	all    []*owner // as in the world
	quotas []*quota
	lines  []*line
	agenda capcli.Heap[item]
	now    capcli.Seconds
	seq    int64
	tried  map[*pod]bool  // pods that wait for their victims, as long as nothing changes
	dirty  []*owner       // that may lack pods
	sure   int            // items of the agenda that are no retries
	last   capcli.Seconds // when something changed last
	steps  int64          // changes so far
	seeded bool           // the pods that run at the beginning are there
	result Result
}

// item is something that will happen.
type item struct {
	at    capcli.Seconds
	order int64
	pod   *pod   // it ends, or is gone
	ends  bool   // its work is done
	run   int    // of the pod
	owner *owner // it comes, or tries again
	retry bool   // for a quota refused it
}

// Precedes orders by time, then as they were planned.
func (a item) Precedes(b item) bool {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) < 0
}

func (s *simulation) plan(it item) {
	s.seq++
	it.order = s.seq
	if !it.retry {
		s.sure++
	}
	heap.Push(&s.agenda, it)
}

// MostPods is the most pods of a world.
const MostPods = 2_000_000

// Run decides what becomes of the pods of a world, until nothing more can happen. progress receives the number of owners
// that have come; it may be nil. It fails with *capcli.InputError for more pods than MostPods.
func Run(ctx context.Context, w *World, progress func(done, total int64)) (*Result, error) {
	s, err := newSimulation(w)
	if err != nil {
		return nil, err
	}
	s.seed()
	for _, o := range s.owners {
		s.plan(item{at: max(0, o.spec.Arrival), owner: o})
	}
	came := int64(0)
	for n := 0; len(s.agenda) > 0 && !s.isOver(); n++ {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		s.now = s.agenda[0].at
		came += s.instant()
		if progress != nil && n&255 == 0 {
			progress(came, int64(len(s.owners)))
		}
	}
	s.now = s.last
	s.result.Ended = s.now
	s.close()
	return &s.result, nil
}

// isOver reports whether nothing but retries is left, and each was refused since something changed last.
func (s *simulation) isOver() bool {
	return s.sure == 0 && !slices.ContainsFunc(s.agenda, func(it item) bool { return it.owner.tried != s.steps })
}

// change notes that something changed now.
func (s *simulation) change() {
	s.steps++
	s.last = s.now
}

func newSimulation(w *World) (*simulation, error) {
	s := &simulation{w: w}
	seen := map[string]bool{PodCount: true}
	for i := range w.Owners {
		for r := range w.Owners[i].Pod.Requests {
			seen[r] = true
		}
	}
	s.names = slices.Sorted(maps.Keys(seen))
	for i := range w.Nodes {
		n := &node{spec: &w.Nodes[i], index: i, name: w.Nodes[i].Labels["kubernetes.io/hostname"]}
		for _, r := range s.names {
			v, stated := n.spec.Capacity[r]
			if r == PodCount && !stated {
				v = MostPods
			}
			n.capacity = append(n.capacity, v)
		}
		n.free = slices.Clone(n.capacity)
		s.nodes = append(s.nodes, n)
	}
	slices.SortStableFunc(s.nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for i := range w.Quotas {
		s.quotas = append(s.quotas, &quota{spec: &w.Quotas[i], used: map[string]int64{}})
	}
	lines := map[string]*line{}
	total := int64(0)
	for i := range w.Owners {
		o := s.addOwner(&w.Owners[i], i, lines)
		if total += int64(len(o.pods)); total > MostPods || o.spec.count() > MostPods {
			return nil, &capcli.InputError{Field: "completions", Text: fmt.Sprintf("the objects create over %d pods, up to %s", MostPods, o.spec.ID), Hint: "leave out what is finished"}
		}
	}
	s.owners = slices.Clone(s.all)
	slices.SortStableFunc(s.owners, func(a, b *owner) int {
		return cmp.Or(cmp.Compare(a.spec.Arrival, b.spec.Arrival), strings.Compare(a.spec.ID, b.spec.ID))
	})
	for i, o := range s.owners {
		o.rank = i
	}
	return s, nil
}

// count is the number of pods that the owner wants in all.
func (o *Owner) count() int64 {
	if o.Kind == Job {
		return o.Completions
	}
	return o.Parallelism
}

// addOwner adds an owner with its pods, of which none is created.
func (s *simulation) addOwner(spec *Owner, index int, lines map[string]*line) *owner {
	o := &owner{spec: spec, index: index, result: OwnerResult{All: -1, Ended: -1}}
	for _, r := range s.names {
		v := spec.Pod.Requests[r]
		if r == PodCount {
			v = 1
		}
		o.requests = append(o.requests, v)
	}
	for i := range min(spec.count(), MostPods+1) {
		o.pods = append(o.pods, &pod{owner: o, index: int(i)})
		o.result.Pods = append(o.result.Pods, PodResult{Wanted: -1, Created: -1})
	}
	for _, q := range s.quotas {
		if q.covers(spec) {
			o.quotas = append(o.quotas, q)
		}
	}
	b, _ := json.Marshal(spec.Pod) // maps are written in order of their keys
	shape := fmt.Sprintf("%d %t %s", spec.Priority, spec.Never, b)
	if lines[shape] == nil {
		lines[shape] = &line{}
		s.lines = append(s.lines, lines[shape])
	}
	o.line = lines[shape]
	s.all = append(s.all, o)
	return o
}

// seed starts the pods that run when the world begins.
func (s *simulation) seed() {
	for _, o := range s.all {
		for i, h := range o.spec.Holds {
			k := slices.IndexFunc(s.nodes, func(n *node) bool { return n.name == h.Node })
			if k < 0 || i >= len(o.pods) {
				continue
			}
			p := o.pods[i]
			s.create(p)
			r := p.result()
			r.Wanted, r.Created = min(0, h.Since), min(0, h.Since)
			s.bind(p, s.nodes[k], h.Since)
		}
	}
	s.seeded = true
}

// instant handles all that happens now. It returns how many owners came.
func (s *simulation) instant() (came int64) {
	for len(s.agenda) > 0 && s.agenda[0].at == s.now {
		it := heap.Pop(&s.agenda).(item)
		if !it.retry {
			s.sure--
		}
		switch {
		case it.owner != nil:
			if !it.owner.came {
				came++
				s.change()
			}
			it.owner.came = true
			s.mark(it.owner)
		case it.pod.run != it.run:
		case it.ends && (it.pod.state == running || it.pod.state == leaving): // within its grace it may finish its work
			s.finish(it.pod)
		case !it.ends && it.pod.state == leaving:
			s.leave(it.pod)
		}
	}
	for changed := true; changed; {
		s.control()
		changed = s.schedule()
	}
	return came
}

// control lets owners create the pods that they lack, in the order in which they came.
func (s *simulation) control() {
	slices.SortFunc(s.dirty, func(a, b *owner) int { return cmp.Compare(a.rank, b.rank) })
	list := s.dirty
	s.dirty = nil
	for _, o := range list {
		o.dirty = false
		if o.came && !o.ended {
			s.createMissing(o)
		}
	}
}

// mark notes that an owner may lack pods.
func (s *simulation) mark(o *owner) {
	if !o.dirty {
		o.dirty = true
		s.dirty = append(s.dirty, o)
	}
}

// unstick lets all pods be tried again.
func (s *simulation) unstick() {
	clear(s.tried)
	for _, l := range s.lines {
		l.stuck = false
	}
}

// createMissing creates pods until the owner has as many as it wants or a quota refuses one.
func (s *simulation) createMissing(o *owner) {
	for o.active < o.want() && s.now >= o.notBefore {
		for o.nextIdle < len(o.pods) && o.pods[o.nextIdle].state != idle {
			o.nextIdle++
		}
		if o.nextIdle == len(o.pods) {
			return
		}
		p := o.pods[o.nextIdle]
		if r := p.result(); r.Wanted < 0 {
			r.Wanted = s.now
		}
		refusal, ever := o.refuse()
		if o.refusal = refusal; refusal == "" {
			o.refusals = 0
			s.create(p)
			continue
		}
		o.result.Refused++
		o.tried = s.steps
		if !ever {
			o.notBefore = 1 << 60
			return
		}
		o.refusals++
		o.notBefore = s.now + backoff(o.refusals)
		s.plan(item{at: o.notBefore, owner: o, retry: true})
	}
}

// create creates a pod, which then waits.
func (s *simulation) create(p *pod) {
	o := p.owner
	s.seq++
	p.state, p.queued, p.seq, p.nominated = waiting, s.now, s.seq, nil
	if r := p.result(); r.Created < 0 {
		r.Created = s.now
	}
	s.change()
	o.active++
	o.count(1)
	o.line.list = append(o.line.list, p)
	o.line.stuck = false
}

func (s *simulation) bind(p *pod, n *node, since capcli.Seconds) {
	o := p.owner
	l := o.line
	if l.list[0] == p {
		l.list = l.list[1:]
	} else {
		l.list = slices.DeleteFunc(l.list, func(x *pod) bool { return x == p })
	}
	if p.nominated != nil && p.nominated != n {
		s.unstick()
	}
	s.nominate(p, nil)
	p.state, p.node, p.start = running, n, since
	p.run++
	n.hold(p, 1)
	n.pods = append(n.pods, p)
	s.countUp(o, 1)
	r := p.result()
	r.Starts = append(r.Starts, Start{Node: n.index, From: since, To: -1})
	if s.seeded {
		s.tell(Event{What: Starts, Owner: o.index, Pod: p.index, Node: n.index})
	}
	if o.spec.Kind != Deployment {
		s.plan(item{at: max(s.now, since+o.spec.Duration), pod: p, ends: true, run: p.run})
	}
}

// countUp changes how many pods of an owner run, and keeps its figures.
func (s *simulation) countUp(o *owner, by int64) {
	r := &o.result
	if o.up > 0 && o.up < o.want() {
		r.Partial += s.now - o.since
	}
	o.since = s.now
	o.up += by
	r.Most = max(r.Most, o.up)
	if by > 0 && r.All < 0 && o.up >= o.want() {
		r.All = s.now
	}
}

// release takes a pod off its node and out of the quotas.
func (s *simulation) release(p *pod, how Ended) {
	n := p.node
	n.hold(p, -1)
	n.pods = slices.DeleteFunc(n.pods, func(x *pod) bool { return x == p })
	p.node = nil
	p.owner.active--
	p.owner.count(-1)
	s.mark(p.owner)
	x := p.lastStay()
	x.To, x.Ended = s.now, how
	s.unstick()
}

func (p *pod) lastStay() *Start {
	r := p.result()
	return &r.Starts[len(r.Starts)-1]
}

// finish ends a pod that succeeded.
func (s *simulation) finish(p *pod) {
	o, n := p.owner, p.node
	if p.state == running {
		s.countUp(o, -1)
	}
	s.release(p, Succeeded)
	p.state = done
	o.succeeded++
	o.streak = 0
	s.tell(Event{What: Finishes, Owner: o.index, Pod: p.index, Node: n.index})
	if o.succeeded == o.spec.count() {
		o.ended, o.result.Ended = true, s.now
	}
}

// leave takes away a pod that was preempted. Its owner may create it again.
func (s *simulation) leave(p *pod) {
	o, n := p.owner, p.node
	s.release(p, Preempted)
	s.tell(Event{What: Leaves, Owner: o.index, Pod: p.index, Node: n.index})
	if o.ended {
		p.state = done
		return
	}
	p.state = idle
	o.nextIdle = min(o.nextIdle, p.index)
	switch o.spec.Kind {
	case Pod:
		p.state, o.ended = done, true
		p.result().Why = "it was preempted, and nothing creates it again"
	case Job:
		o.failures++
		o.streak++
		if o.spec.Failures >= 0 && o.failures > o.spec.Failures {
			s.fail(o)
			return
		}
		o.notBefore = max(o.notBefore, s.now+backoff(o.streak))
		s.plan(item{at: o.notBefore, owner: o})
	case Deployment:
	}
}

// fail ends a Job that had too many failures, with the pods that it has.
func (s *simulation) fail(o *owner) {
	o.ended, o.result.Failed, o.result.Ended = true, true, s.now
	why := fmt.Sprintf("its Job failed: pods of it were preempted %d times, and its backoffLimit is %d", o.failures, o.spec.Failures)
	for _, p := range o.pods {
		if p.state == done {
			continue
		}
		p.result().Why = why
		switch p.state {
		case running:
			n := p.node
			s.countUp(o, -1)
			s.release(p, Killed)
			s.tell(Event{What: Finishes, Owner: o.index, Pod: p.index, Node: n.index})
		case waiting:
			s.nominate(p, nil)
			s.unstick()
			o.line.list = slices.DeleteFunc(o.line.list, func(x *pod) bool { return x == p })
			o.active--
			o.count(-1)
			s.change()
		case leaving:
			continue // it still goes
		case idle, done:
		}
		p.state = done
	}
}

func (s *simulation) tell(e Event) {
	s.change()
	e.At = s.now
	s.result.Events = append(s.result.Events, e)
}
