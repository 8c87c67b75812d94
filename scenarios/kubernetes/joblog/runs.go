package joblog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// apart is how far an event and the condition of the same change may be from each other.
const apart = 5

// runs derives the runs of jobs. Events tell of all runs as long as they are kept (one hour by default:
// kube-apiserver --event-ttl), conditions of the last one.
func (d *deriver) runs() {
	byWorkload := map[string][]mark{}
	for m := range d.marks {
		byWorkload[m.workload] = append(byWorkload[m.workload], m)
	}
	ids := make([]string, 0, len(byWorkload))
	for id := range byWorkload {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	gone := 0
	for _, id := range ids {
		jobID, why := d.created[id], "Finished"
		if at, ok := d.byWorkload[id]; ok {
			jobID, why = d.jobs[at].ID, cmp.Or(d.jobs[at].why, why)
		} else if jobID == "" {
			jobID = id
		}
		if _, ok := d.byWorkload[id]; !ok {
			gone++
		}
		d.list = append(d.list, runsOf(jobID, why, orderMarks(byWorkload[id]))...)
	}
	slices.SortStableFunc(d.list, func(a, b Run) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Admitted, b.Admitted), cmp.Compare(a.Stopped, b.Stopped), strings.Compare(a.Why, b.Why))
	})
	if gone > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s known only from events, since deleted: their runs are told, their GPUs are not", counted(gone, "Workload")))
	}
}

// orderMarks returns marks in order of time, without conditions of which an event tells.
func orderMarks(marks []mark) []mark {
	var out []mark
	for _, m := range marks {
		if !m.told && slices.ContainsFunc(marks, func(e mark) bool {
			return e.told && e.what == m.what && e.at >= m.at-apart && e.at <= m.at+apart
		}) {
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), strings.Compare(a.why, b.why))
	})
	return out
}

// runsOf returns the runs of one job from its marks. finish says how a finished one ended.
func runsOf(id, finish string, marks []mark) []Run {
	var out []Run
	open := false
	for from := 0; from < len(marks); {
		to := from
		for to < len(marks) && marks[to].at == marks[from].at {
			to++
		}
		now := marks[from:to] // opens first
		if open {             // what ends a run comes before what begins the next
			n := 0
			for n < len(now) && now[n].what == opens {
				n++
			}
			now = append(slices.Clone(now[n:]), now[:n]...)
		}
		for _, m := range now {
			switch {
			case m.what == opens && !open:
				out, open = append(out, Run{id, m.at, capcli.NoTime, ""}), true
			case m.what != opens && open:
				last := &out[len(out)-1]
				last.Stopped, last.Why, open = m.at, m.why, false
				if m.what == closes {
					last.Why = finish
				}
			}
		}
		from = to
	}
	return out
}
