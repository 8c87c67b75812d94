package eta

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"capcli"
	"capcli/profile/logs/trace"
)

// Held are waiting jobs that no free GPU would start, by the reason that Slurm gives.
type Held struct {
	Reason string  `json:"reason"`
	Jobs   int     `json:"jobs"`
	GPUs   float64 `json:"gpus"`
}

// listing is what squeue says of a moment, and sinfo of the nodes.
type listing struct {
	jobs    []capcli.Job
	reasons map[string]string // of the waiting jobs
	asOf    capcli.Time       // NoTime where it does not tell
	gpus    int               // of the nodes that take jobs; 0 is unknown
	remarks []string
}

// readListing reads the files of squeue and sinfo called names, in any order.
func readListing(ctx context.Context, open trace.Opener, names []string, o trace.Options) (*listing, error) {
	var ins []trace.Input
	for _, name := range names {
		in, closer, err := open(name)
		if err != nil {
			return nil, err
		}
		defer closer.Close() //nolint:errcheck // it was only read
		ins = append(ins, in)
	}
	out := &listing{reasons: map[string]string{}}
	r, err := trace.Open(ins[0], trace.Options{
		Format: "squeue", TZ: o.TZ, DSTLater: o.DSTLater, Dates: o.Dates, More: ins[1:],
		Waits: func(job, reason string) { out.reasons[job] = reason },
		Tables: func(t trace.Table) {
			for _, row := range t.Rows[1:] {
				n, _ := strconv.Atoi(row[3]) // the reader wrote a number
				out.gpus += n
			}
		},
	})
	if err != nil {
		return nil, err
	}
	for j, err := range capcli.WatchJobs(ctx, r.Jobs(), func(int64) {}) {
		if err != nil {
			return nil, err
		}
		out.jobs = append(out.jobs, j)
	}
	report := r.Report()
	out.asOf, out.remarks = report.AsOf, report.Remarks()
	return out, nil
}

// inRace says whether a waiting job starts as soon as there are GPUs for it and those before it: by Slurm's job
// reason codes (squeue's manual) it waits for these alone. Any other reason is a hold, a dependency, a limit, or a
// node or reservation that it asks for.
func inRace(reason string) bool {
	return slices.Contains([]string{"", "None", "Priority", "Resources"}, reason)
}

// setNow puts the queue of this moment in place of what the log says of it: jobs of the listing are as it has them,
// and what the log has as waiting or running and the listing lacks is gone.
func (h *History) setNow(q *Request, now *listing) error {
	listed := make(map[string]bool, len(now.jobs))
	for i := range now.jobs {
		listed[now.jobs[i].ID] = true
	}
	at := max(q.At, now.asOf)
	switch {
	case !at.IsKnown():
		return &capcli.RequestError{Field: "at", Text: "is needed: no running job in the listing tells when it was printed", Hint: "give the time at which squeue was run"}
	case q.At.IsKnown() && q.At < now.asOf:
		return &capcli.RequestError{Field: "at", Text: fmt.Sprintf("wants a time from the listing on, which was printed %s, found %s", now.asOf, q.At), Hint: "leave it out: the job is submitted when the listing was printed"}
	}
	h.Jobs = slices.DeleteFunc(h.Jobs, func(j Job) bool { return listed[j.ID] })
	logged := len(h.Jobs)
	h.Jobs = slices.DeleteFunc(h.Jobs, func(j Job) bool { return !j.End.IsKnown() })
	gone := logged - len(h.Jobs)
	held := map[string]*Held{}
	for i := range now.jobs {
		j := &now.jobs[i]
		reason := now.reasons[j.ID]
		if j.Start.IsKnown() || inRace(reason) {
			h.add(j, q.Partition)
			continue
		}
		if j.Milli() <= 0 || q.Partition != "" && j.Partition != q.Partition {
			continue
		}
		if held[reason] == nil {
			held[reason] = &Held{Reason: reason}
		}
		held[reason].Jobs++
		held[reason].GPUs += float64(j.Milli()) / milli
	}
	for _, k := range held {
		h.Held = append(h.Held, *k)
	}
	slices.SortFunc(h.Held, func(a, b Held) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Reason, b.Reason))
	})
	for _, line := range now.remarks {
		h.remarks = append(h.remarks, "queue of now: "+line)
	}
	if gone > 0 {
		h.remarks = append(h.remarks, fmt.Sprintf("%d %s without an end in the log, gone from the queue of now: left out", gone, capcli.Plural(int64(gone), "job")))
	}
	h.isNow, h.Last, h.End = true, at, max(h.End, at)
	if q.Partition == "" {
		h.nodeGPUs = now.gpus
	}
	return nil
}
