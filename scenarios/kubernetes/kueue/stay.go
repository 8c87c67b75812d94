package kueue

import (
	"maps"
	"slices"

	"capcli"
)

// Stay is the time from a workload's admission until its quota is given back.
type Stay struct {
	Workload int // index in World.Workloads
	From, To capcli.Seconds
	Uses     []Use
	End      string         // Finish, Preempt, or "" where it went on at the end of the run
	Evicted  capcli.Seconds // when it was preempted, at most To
	By       int            // index of the workload that preempted it; -1 is none
	Reason   string         // of the preemption
}

// Use is an amount of a resource in a flavor.
type Use struct {
	Flavor, Resource string
	Amount           int64
}

// Stays returns the stays of a run of w, in order of their admission.
func (r *Result) Stays(w *World) []Stay {
	index := make(map[string]int, len(w.Workloads))
	open := make([]int, len(w.Workloads)) // stay of each workload, from 1
	var out []Stay
	for i := range w.Workloads {
		x := &w.Workloads[i]
		index[x.ID] = i
		if h := x.Holds; h != nil {
			out = append(out, Stay{Workload: i, From: h.Since, Uses: x.uses(h.Flavors, h.Counts), By: -1})
			open[i] = len(out)
		}
	}
	for k := range r.Decisions {
		d := &r.Decisions[k]
		i := index[d.Workload]
		if d.Event == Admit {
			out = append(out, Stay{Workload: i, From: d.At, Uses: w.Workloads[i].uses(d.Flavors, d.Counts), By: -1})
			open[i] = len(out)
			continue
		}
		s := &out[open[i]-1]
		s.To = d.At
		switch d.Event {
		case Finish:
			s.End = Finish
		case Preempt:
			s.End, s.Evicted, s.By, s.Reason = Preempt, d.At, index[d.By], d.Reason
		}
	}
	for i := range out {
		s := &out[i]
		if s.End == "" || s.End == Preempt && s.To == s.Evicted && w.Config.EvictTime > 0 { // its pods still leave
			s.To = r.Ended
		}
	}
	return out
}

// uses returns what the workload uses in these flavors, in order of flavor and resource.
func (w *Workload) uses(flavors map[string]map[string]string, counts map[string]int64) []Use {
	sums := map[[2]string]int64{}
	for i := range w.PodSets {
		p := &w.PodSets[i]
		count, fewer := counts[p.Name]
		if !fewer {
			count = p.Count
		}
		for r, f := range flavors[p.Name] {
			sums[[2]string{f, r}] += p.Requests[r] * count
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	})
	out := make([]Use, 0, len(keys))
	for _, k := range keys {
		out = append(out, Use{k[0], k[1], sums[k]})
	}
	return out
}
