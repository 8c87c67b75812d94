package kueue

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

const (
	// mostCycles is how many cycles an instant may have before it is looked at whether it ever settles.
	mostCycles = 600
	// mostRounds is how often a workload may be preempted in such an instant.
	mostRounds = 10
	// mostFruitless is how many preemptions there may be while no workload comes or ends.
	mostFruitless = 10_000
)

// Options are settings of a run that decide nothing.
type Options struct {
	Steps    bool                    // also describe the cluster at each instant: Result.Steps
	StopAt   string                  // end at the instant at which the workload of this ID is first admitted
	Progress func(done, total int64) // receives the number of workloads that have arrived; may be nil
}

// Run decides what Kueue decides in a world, instant by instant, until nothing
// more can happen. Result.Jobs are in the order of the world's workloads. A world that never
// settles ends at that instant, with Result.Livelock. Ties that Kueue leaves to chance go by name.
func Run(ctx context.Context, w *World, o Options) (*Result, error) {
	c, err := newCluster(w)
	if err != nil {
		return nil, err
	}
	s := &simulation{c: c, options: o, total: 1, idle: 6 + 2*len(w.Workloads) + len(w.Flavors)}
	given := make([]*workload, 0, len(w.Workloads))
	for i := range w.Workloads {
		q := c.queueNamed(w.Workloads[i].Queue)
		if q == nil {
			return nil, &capcli.InputError{Field: "workloads", Text: fmt.Sprintf("the workload %q names the queue %q, which there is not", w.Workloads[i].ID, w.Workloads[i].Queue), Hint: "give the ClusterQueue too, or mend its name"}
		}
		x := newWorkload(&w.Workloads[i], q)
		given = append(given, x)
		if x.spec.Holds == nil {
			s.all = append(s.all, x)
		}
	}
	for _, x := range given {
		if x.spec.Holds != nil {
			s.seed(x)
		}
	}
	slices.SortStableFunc(s.all, func(a, b *workload) int {
		return cmp.Or(cmp.Compare(a.spec.Arrival, b.spec.Arrival), strings.Compare(a.spec.tieName(), b.spec.tieName()))
	})
	for n := 0; s.advance(); n++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if o.Progress != nil && n&255 == 0 {
			o.Progress(int64(s.next), int64(len(s.all)))
		}
		begun := len(s.result.Decisions)
		s.instant()
		if s.result.Livelock != nil || s.stopped(begun) {
			s.last = s.now
			break
		}
	}
	s.result.Ended = max(0, s.last)
	for _, x := range given {
		r := x.result()
		if r.State == Pending {
			r.Why = s.whyPending(x)
			r.Impossible = s.neverFits(x) != ""
		}
		s.result.Jobs = append(s.result.Jobs, r)
	}
	return &s.result, nil
}

// stopped reports whether a decision since the one of an index admits the workload of Options.StopAt.
func (s *simulation) stopped(since int) bool {
	return s.options.StopAt != "" && slices.ContainsFunc(s.result.Decisions[since:], func(d Decision) bool {
		return d.Event == Admit && d.Workload == s.options.StopAt
	})
}

// seed lets a workload hold what it held before the run. What the world no longer has is left out.
func (s *simulation) seed(w *workload) {
	h := w.spec.Holds
	w.usage = make(usage, len(s.c.names))
	for i := range w.spec.PodSets {
		p := &w.spec.PodSets[i]
		count, ok := h.Counts[p.Name]
		if !ok {
			count = p.Count
		}
		for r, flavor := range h.Flavors[p.Name] {
			if at, ok := s.c.slots[[2]string{flavor, r}]; ok {
				w.usage[at] += p.Requests[r] * count
			}
			if hosts := s.c.hosts[flavor]; hosts != nil && len(w.placed) == 0 {
				w.placed = hosts.placeOn(h.Domains[p.Name], i, p)
			}
		}
	}
	w.admitted, w.start, w.first = true, h.Since, h.Since
	w.ends = max(0, h.Since+w.spec.Duration)
	w.queue.admitted = append(w.queue.admitted, w)
	s.c.hold(w, 1)
}

// advance goes to the next instant at which something happens.
func (s *simulation) advance() bool {
	next := capcli.Seconds(-1)
	see := func(t capcli.Seconds) {
		if next < 0 || t < next {
			next = t
		}
	}
	if s.next < len(s.all) {
		see(max(0, s.all[s.next].spec.Arrival))
	}
	for _, q := range s.c.queues {
		for _, w := range q.admitted {
			if w.leaving {
				see(w.leaves)
			} else {
				see(w.ends)
			}
		}
	}
	s.last, s.now, s.cycleNumber = s.now, next, 0
	return next >= 0
}

// instant handles all that happens now.
func (s *simulation) instant() {
	begun := len(s.result.Decisions)
	var ended, gone []*workload
	for _, q := range s.c.queues {
		for _, w := range q.admitted {
			switch {
			case w.leaving && w.leaves <= s.now:
				gone = append(gone, w)
			case !w.leaving && w.ends <= s.now:
				ended = append(ended, w)
			}
		}
	}
	byName := func(a, b *workload) int { return strings.Compare(a.spec.tieName(), b.spec.tieName()) }
	slices.SortFunc(ended, byName)
	slices.SortFunc(gone, byName)
	for _, w := range ended {
		s.fruitless = 0
		w.ended = true
		s.giveBack(w)
		s.c.free(w.queue.node)
		s.decide(Decision{Event: Finish, Workload: w.spec.ID})
	}
	for _, w := range gone {
		s.release(w)
		s.decide(Decision{Event: Release, Workload: w.spec.ID})
	}
	arrived := false
	for ; s.next < len(s.all) && s.all[s.next].spec.Arrival <= s.now; s.next++ {
		s.all[s.next].queue.push(s.all[s.next])
		arrived, s.fruitless = true, 0
	}
	cycles := s.settle()
	sortDecisions(s.result.Decisions[begun:])
	if s.options.Steps && (arrived || len(s.result.Decisions) > begun) {
		s.result.Steps = append(s.result.Steps, s.step(cycles))
	}
}

// settle runs cycles until nothing changes any more. It returns the number of
// the last that changed something.
func (s *simulation) settle() int {
	last, quiet, same := 0, 0, 0
	begun := len(s.result.Decisions)
	for quiet < s.idle && same < 2 && slices.ContainsFunc(s.c.queues, (*queue).isActive) {
		s.cycleNumber++
		switch changed := s.cycle(); {
		case changed:
			last, quiet, same = s.cycleNumber, 0, 0
		case s.moved:
			quiet, same = quiet+1, 0
		default: // the next cycle would be this one again
			quiet, same = quiet+1, same+1
		}
		if s.cycleNumber%mostCycles == 0 && s.goesRound(s.result.Decisions[begun:]) || s.fruitless > mostFruitless {
			s.livelock()
			break
		}
	}
	return last
}

// goesRound reports whether a workload was preempted so often within an instant that this will not end.
func (s *simulation) goesRound(decisions []Decision) bool {
	times := map[string]int{}
	for i := range decisions {
		d := &decisions[i]
		if d.Event == Preempt {
			if times[d.Workload]++; times[d.Workload] >= mostRounds {
				return true
			}
		}
	}
	return false
}

// livelock notes who goes round in circles: those in the later half of the instant's cycles, or in the
// last decisions where it takes time to evict.
func (s *simulation) livelock() {
	names := map[string]bool{}
	last := len(s.result.Decisions) - mostCycles
	for i, d := range s.result.Decisions {
		if d.At == s.now && d.Cycle > s.cycleNumber/2 || s.fruitless > mostFruitless && i >= last {
			names[d.Workload] = true
			if d.By != "" {
				names[d.By] = true
			}
		}
	}
	s.result.Livelock = &Livelock{At: s.now, Workloads: slices.Sorted(maps.Keys(names))}
}

// sortDecisions orders the decisions of an instant by cycle, event and workload.
func sortDecisions(list []Decision) {
	order := []string{Finish, Release, Admit, Preempt}
	slices.SortStableFunc(list, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(slices.Index(order, a.Event), slices.Index(order, b.Event)), strings.Compare(a.Workload, b.Workload))
	})
}

// step describes the cluster as it stands.
func (s *simulation) step(cycles int) Step {
	out := Step{At: s.now, Cycles: cycles, Pending: map[string][]string{}, Used: map[string]map[string]int64{}}
	for _, q := range s.c.queues {
		names := capcli.Map(q.pending(), func(w *workload) string { return w.spec.ID })
		if names != nil {
			out.Pending[q.node.name] = names
		}
		used := map[string]int64{}
		for at, v := range q.node.usage {
			if v != 0 {
				used[s.c.names[at][0]+"/"+s.c.names[at][1]] = v
			}
		}
		out.Used[q.node.name] = used
	}
	for _, n := range s.c.nodes {
		if n.parent == nil {
			continue
		}
		to := &out.CohortShares
		if n.queue != nil {
			to = &out.Shares
		}
		if *to == nil {
			*to = map[string]float64{}
		}
		(*to)[n.name] = n.share(s.c).value()
	}
	return out
}

// result is what became of a workload.
func (w *workload) result() JobResult {
	j := JobResult{ID: w.spec.ID, State: Pending, FirstStart: w.first, Start: w.start, End: -1, Preemptions: w.evicted}
	switch {
	case w.ended:
		j.State, j.End = Finished, w.ends
	case w.admitted:
		j.State = Running
	}
	return j
}
