package kueue

import "fmt"

// whyPending says why a workload still waits at the end of a run: what keeps it from ever starting, or
// before what it waits.
func (s *simulation) whyPending(w *workload) string {
	if l := s.result.Livelock; l != nil {
		return "the cluster does not settle"
	}
	if why := s.neverFits(w); why != "" {
		return why
	}
	if w.queue.rules.Strategy == StrictFIFO {
		if head := w.queue.firstPending(); head != nil && head != w {
			return fmt.Sprintf("it waits behind %s, as %s is StrictFIFO", head.spec.ID, w.queue.node.name)
		}
	}
	counts := make([]int64, len(w.spec.PodSets))
	for i := range counts {
		counts[i] = w.spec.PodSets[i].Count
	}
	a := s.c.assign(w, counts, nil)
	if a.mode == fit && s.c.hosts != nil {
		if _, ok := s.c.place(w, a, true); !ok {
			return "its pods find no hosts, even if nobody else used any"
		}
		return "its pods find no hosts"
	}
	return "the quota is used by others, and nobody may be preempted for it"
}

// neverFits says what a workload asks for that its queue could not have even if nobody else used
// anything; "" is nothing.
func (s *simulation) neverFits(w *workload) string {
	q := w.queue
	for i := range w.spec.PodSets {
		p := &w.spec.PodSets[i]
		count := p.Count
		if p.MinCount > 0 {
			count = p.MinCount
		}
		for _, r := range p.resourceNames() {
			g := q.byRes[r]
			if g == nil {
				return fmt.Sprintf("%s has no quota of %s", q.node.name, r)
			}
			var most int64
			matched := false
			for _, f := range g.flavors {
				if at, ok := s.c.slots[[2]string{f.Name, r}]; ok && allows(g, f, p) {
					matched = true
					most = max(most, q.node.potential(at))
				}
			}
			switch {
			case !matched:
				return fmt.Sprintf("no flavor of %s matches its selector, affinity and tolerations", q.node.name)
			case p.Requests[r]*count > most:
				return fmt.Sprintf("it asks for %s of %s, and %s can have at most %s", amountText(r, p.Requests[r]*count), r, q.node.name, amountText(r, most))
			}
		}
	}
	return ""
}

// amountText writes an amount of a resource in its unit.
func amountText(resource string, v int64) string {
	if resource == "cpu" && v%1000 != 0 {
		return fmt.Sprintf("%dm", v)
	}
	if resource == "cpu" {
		v /= 1000
	}
	return fmt.Sprint(v)
}
