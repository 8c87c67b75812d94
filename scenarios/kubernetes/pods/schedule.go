package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

// hold takes the room of a pod on the node, or with by -1 gives it back.
func (n *node) hold(p *pod, by int64) {
	for i, v := range p.owner.requests {
		n.free[i] -= by * v
	}
}

// fits reports whether a pod has room on the node beside what runs there and what is reserved for pods of its priority or
// a higher one.
func (n *node) fits(p *pod) bool {
	for i, v := range p.owner.requests {
		if v == 0 {
			continue
		}
		free := n.free[i]
		for _, x := range n.nominated {
			if x != p && x.owner.spec.Priority >= p.owner.spec.Priority {
				free -= x.owner.requests[i]
			}
		}
		if v > free {
			return false
		}
	}
	return true
}

// allows reports whether the pod may run on the node, were it empty of pods.
func (n *node) allows(p *pod) bool { return kueue.MayRun(n.spec, &p.owner.spec.Pod) }

// score is the mean share of cpu and memory in hundredths that would be free with the pod (LeastAllocated).
func (s *simulation) score(n *node, p *pod) int64 {
	sum, parts := int64(0), int64(0)
	for i, name := range s.names {
		if (name == "cpu" || name == "memory") && n.capacity[i] > 0 {
			sum += max(0, n.free[i]-p.owner.requests[i]) * 100 / n.capacity[i]
			parts++
		}
	}
	return sum / max(1, parts)
}

// comparePods is the order of the scheduling queue.
func comparePods(a, b *pod) int {
	return cmp.Or(cmp.Compare(b.owner.spec.Priority, a.owner.spec.Priority), cmp.Compare(a.queued, b.queued), cmp.Compare(a.seq, b.seq))
}

// schedule tries all waiting pods in the order of the queue. It reports whether pods went away, so that owners and the queue
// must be looked at again.
func (s *simulation) schedule() (gone bool) {
	s.tried = map[*pod]bool{}
	for {
		var p *pod
		for _, l := range s.lines {
			if x := l.next(s.tried); x != nil && (p == nil || comparePods(x, p) < 0) {
				p = x
			}
		}
		if p == nil {
			return false
		}
		if n := s.choose(p); n != nil {
			s.bind(p, n, s.now)
			continue
		}
		if p.nominated != nil && slices.ContainsFunc(p.nominated.pods, func(x *pod) bool { return x.state == leaving && x.owner.spec.Priority < p.owner.spec.Priority }) {
			s.tried[p] = true
			continue
		}
		switch preempted, gone := s.preempt(p); {
		case gone:
			return true
		case preempted:
			s.tried[p] = true
		default:
			if p.nominated != nil {
				s.nominate(p, nil)
				s.unstick()
			}
			p.owner.line.stuck = true
		}
	}
}

// next returns the first pod of the line to try; nil if there is none.
func (l *line) next(tried map[*pod]bool) *pod {
	if l.stuck && l.reserved == 0 {
		return nil
	}
	for _, p := range l.list {
		if !tried[p] && (!l.stuck || p.nominated != nil) {
			return p
		}
	}
	return nil
}

// choose returns the node for a pod: that which is reserved for it, else of those on which it fits the one of the best score, the
// first by name; nil if there is none.
func (s *simulation) choose(p *pod) *node {
	if n := p.nominated; n != nil && n.fits(p) {
		return n
	}
	var best *node
	most := int64(-1)
	for _, n := range s.nodes {
		if !n.fits(p) || !n.allows(p) {
			continue
		}
		if x := s.score(n, p); x > most {
			best, most = n, x
		}
	}
	return best
}

// nominate reserves room on a node for a pod, against those of lower or equal priority; nil gives it up.
func (s *simulation) nominate(p *pod, n *node) {
	if old := p.nominated; old != nil {
		old.nominated = slices.DeleteFunc(old.nominated, func(x *pod) bool { return x == p })
		p.owner.line.reserved--
	}
	p.nominated = n
	if n == nil {
		return
	}
	p.owner.line.reserved++
	for _, x := range slices.Clone(n.nominated) {
		if x.owner.spec.Priority < p.owner.spec.Priority {
			s.nominate(x, nil)
			s.unstick() // others may have the room that was reserved for it
		}
	}
	n.nominated = append(n.nominated, p)
}

// victims returns the pods that must go from a node so that p fits; ok is false where it does not, even so.
func (n *node) victims(p *pod) (out []*pod, ok bool) {
	if !n.allows(p) {
		return nil, false
	}
	var lower []*pod
	for _, x := range n.pods {
		if x.owner.spec.Priority < p.owner.spec.Priority {
			lower = append(lower, x)
			n.hold(x, -1)
		}
	}
	defer func() {
		for _, x := range out {
			n.hold(x, 1)
		}
	}()
	if !n.fits(p) {
		out = lower
		return out, false
	}
	slices.SortFunc(lower, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(b.owner.spec.Priority, a.owner.spec.Priority), cmp.Compare(a.start, b.start), cmp.Compare(a.seq, b.seq))
	})
	for _, x := range lower { // the most important stay first
		n.hold(x, 1)
		if !n.fits(p) {
			n.hold(x, -1)
			out = append(out, x)
		}
	}
	return out, true
}

// toll is what preemption on a node costs, by the rules by which a node is chosen.
type toll struct {
	highest, sum int64
	count        int
	latest       capcli.Seconds // the earliest start of the victims of the highest priority
}

func tollOf(victims []*pod) toll {
	t := toll{count: len(victims)}
	for i, v := range victims {
		x := v.owner.spec.Priority
		t.sum += x
		if i == 0 || x > t.highest || x == t.highest && v.start < t.latest {
			t.highest, t.latest = x, v.start
		}
	}
	return t
}

func (t toll) compare(o toll) int {
	return cmp.Or(cmp.Compare(t.highest, o.highest), cmp.Compare(t.sum, o.sum), cmp.Compare(t.count, o.count), cmp.Compare(o.latest, t.latest))
}

// preempt makes room for a pod on the best node. gone says that the victims are gone at once.
func (s *simulation) preempt(p *pod) (preempted, gone bool) {
	if p.owner.spec.Never {
		return false, false
	}
	var best *node
	var victims []*pod
	for _, n := range s.nodes {
		v, ok := n.victims(p)
		if ok && len(v) > 0 && (best == nil || tollOf(v).compare(tollOf(victims)) < 0) {
			best, victims = n, v
		}
	}
	if best == nil {
		return false, false
	}
	if p.nominated != nil && p.nominated != best {
		s.unstick()
	}
	s.nominate(p, best)
	victims = slices.DeleteFunc(victims, func(v *pod) bool { return v.state == leaving }) // those go already
	for _, v := range victims {
		s.dismiss(v, p)
	}
	if s.w.EvictTime > 0 {
		return true, false
	}
	for _, v := range victims {
		s.leave(v)
	}
	return true, true
}

// dismiss tells a pod to leave for another.
func (s *simulation) dismiss(v, by *pod) {
	o := v.owner
	s.countUp(o, -1)
	v.state = leaving
	o.result.Preempted++
	x := v.lastStay()
	x.At, x.By = s.now, [2]int{by.owner.index, by.index}
	s.tell(Event{What: Preempts, Owner: o.index, Pod: v.index, Node: v.node.index, By: x.By})
	if s.w.EvictTime > 0 {
		s.plan(item{at: s.now + s.w.EvictTime, pod: v, run: v.run})
	}
}

// close says at the end why pods do not run, and closes the figures.
func (s *simulation) close() {
	for _, o := range s.all {
		s.countUp(o, 0)
		for _, p := range o.pods {
			r := p.result()
			if r.Why != "" {
				continue
			}
			switch {
			case p.state == waiting:
				r.Why, r.Never = s.whyWaiting(p)
			case p.state == idle && o.refusal != "" && r.Wanted >= 0:
				r.Why, r.Never = o.refusal, o.notBefore == 1<<60
			case p.state == idle:
				r.Why = "its owner has not come to create it"
				if o.refusal != "" {
					r.Why = "pods before it are refused: " + o.refusal
					r.Never = o.notBefore == 1<<60
				}
			}
		}
		s.result.Owners = append(s.result.Owners, o.result)
	}
}

// whyWaiting says why a pod finds no node, and whether it never will.
func (s *simulation) whyWaiting(p *pod) (string, bool) {
	allowed, large := 0, 0
	for _, n := range s.nodes {
		if !n.allows(p) {
			continue
		}
		allowed++
		empty := &node{free: n.capacity}
		if empty.fits(p) {
			large++
		}
	}
	var asks []string
	for i, name := range s.names {
		if v := p.owner.requests[i]; v > 0 && name != PodCount {
			asks = append(asks, fmt.Sprintf("%s=%d", name, v))
		}
	}
	all := len(s.nodes)
	switch {
	case allowed == 0:
		return fmt.Sprintf("0 of %d nodes are allowed by its selector, affinity and tolerations", all), true
	case large == 0:
		return fmt.Sprintf("0 of %d nodes are large enough for a pod of it (%s)", all, strings.Join(asks, ", ")), true
	}
	return fmt.Sprintf("0 of %d nodes have room for a pod of it (%s)", all, strings.Join(asks, ", ")), false
}
