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

// mostCycles is how many cycles an instant may have before it counts as one that
// never settles.
const mostCycles = 600

// Run decides what Kueue decides in a world, instant by instant, until nothing
// more can happen. Result.Jobs are in the
// order of the world's workloads. A world that never settles ends at that instant, with
// Result.Livelock.
// Ties that Kueue leaves to chance go by name.
func Run(ctx context.Context, w *World) (*Result, error) {
	c, err := newCluster(w)
	if err != nil {
		return nil, err
	}
	s := &simulation{c: c, total: 1, idle: 6 + 2*len(w.Workloads) + len(w.Flavors)}
	for i := range w.Workloads {
		q := c.queueNamed(w.Workloads[i].Queue)
		if q == nil {
			return nil, &capcli.InputError{Field: "workloads", Text: fmt.Sprintf("the workload %q names the queue %q, which there is not", w.Workloads[i].ID, w.Workloads[i].Queue), Hint: "give the ClusterQueue too, or mend its name"}
		}
		s.all = append(s.all, newWorkload(&w.Workloads[i], q))
	}
	given := slices.Clone(s.all)
	slices.SortStableFunc(s.all, func(a, b *workload) int {
		return cmp.Or(cmp.Compare(a.spec.Arrival, b.spec.Arrival), strings.Compare(a.spec.ID, b.spec.ID))
	})
	for s.advance() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.instant()
		if s.result.Livelock != nil {
			break
		}
	}
	for _, w := range given {
		s.result.Jobs = append(s.result.Jobs, w.result())
	}
	return &s.result, nil
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
		see(s.all[s.next].spec.Arrival)
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
	s.now, s.cycleNumber = next, 0
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
	byName := func(a, b *workload) int { return strings.Compare(a.spec.ID, b.spec.ID) }
	slices.SortFunc(ended, byName)
	slices.SortFunc(gone, byName)
	for _, w := range ended {
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
		arrived = true
	}
	cycles := s.settle()
	sortDecisions(s.result.Decisions[begun:])
	if arrived || len(s.result.Decisions) > begun {
		s.result.Steps = append(s.result.Steps, s.step(cycles))
	}
}

// settle runs cycles until nothing changes any more. It returns the number of
// the last that changed something.
func (s *simulation) settle() int {
	last, quiet := 0, 0
	for quiet < s.idle && slices.ContainsFunc(s.c.queues, func(q *queue) bool { return len(q.active) > 0 }) {
		s.cycleNumber++
		if s.cycle() {
			last, quiet = s.cycleNumber, 0
		} else {
			quiet++
		}
		if s.cycleNumber >= mostCycles {
			s.livelock()
			break
		}
	}
	return last
}

// livelock notes who goes round in circles.
func (s *simulation) livelock() {
	names := map[string]bool{}
	for _, d := range s.result.Decisions {
		if d.At == s.now && d.Cycle > mostCycles/2 {
			names[d.Workload] = true
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
		var names []string
		for _, w := range q.pending() {
			names = append(names, w.spec.ID)
		}
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
	j := JobResult{ID: w.spec.ID, State: "pending", FirstStart: w.first, Start: w.start, End: -1, Preemptions: w.evicted}
	switch {
	case w.ended:
		j.State, j.End = "finished", w.ends
	case w.admitted:
		j.State = "running"
	}
	return j
}
