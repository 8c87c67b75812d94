package eta

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
)

// History is what a log tells of jobs, for estimates. Units are thousandths of a GPU.
type History struct {
	Jobs       []Job
	Partitions []string // names in the log, sorted; "" is not one
	First      capcli.Time
	Last       capcli.Time // the last submission
	End        capcli.Time // the latest time in the log

	CPUOnly   int    // jobs without a GPU, left out
	Elsewhere int    // jobs of other partitions, left out
	Unknown   int    // jobs that ran at a time that the log does not tell, left out
	TooLarge  int    // jobs over the capacity given, left out
	Held      []Held // jobs of the queue of now that no free GPU would start, left out; the most first
	started   int
	remarks   []string // what the reader of the log says
	isNow     bool     // the queue is that of a listing of now
	nodeGPUs  int      // GPUs of the nodes of that listing; 0 is unknown
}

// Read reads the log called name. It fails as readHistory does, and where the log cannot be read.
// progress receives the jobs read.
func (q *Request) Read(ctx context.Context, open trace.Opener, name string, o trace.Options, progress func(done, total int64)) (*History, error) {
	in, closer, err := open(name)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	o.ZeroRuns, o.Aliases = true, true
	r, err := trace.Open(in, o)
	if err != nil {
		return nil, err
	}
	h, err := readHistory(capcli.WatchJobs(ctx, r.Jobs(), func(n int64) { progress(n, 0) }), q.Partition)
	if err != nil {
		return nil, err
	}
	report := r.Report()
	h.remarks = report.Remarks()
	if len(q.Now) > 0 {
		now, err := readListing(ctx, open, q.Now, o)
		if err != nil {
			return nil, err
		}
		if err := h.setNow(q, now); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// readHistory collects the jobs of one partition; "" takes all. It fails where the log has no such
// partition, and where it records no start.
func readHistory(jobs capcli.Jobs, partition string) (*History, error) {
	h := &History{First: capcli.NoTime, Last: capcli.NoTime, End: capcli.NoTime}
	seen := map[string]bool{}
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		seen[j.Partition] = true
		h.add(&j, partition)
	}
	delete(seen, "")
	for p := range seen {
		h.Partitions = append(h.Partitions, p)
	}
	slices.Sort(h.Partitions)
	if partition != "" {
		if err := capcli.CheckChoice("partition", partition, h.Partitions); err != nil {
			return nil, err
		}
	}
	if h.started == 0 {
		return nil, &capcli.InputError{
			Text: "expected jobs with GPUs and recorded starts, found none: waits cannot be learnt",
			Hint: "a log with a column start (and end) is needed; capcli trace describe says what there is",
		}
	}
	return h, nil
}

// add takes in one job of the log.
func (h *History) add(j *capcli.Job, partition string) {
	switch {
	case j.Milli() <= 0:
		h.CPUOnly++
		return
	case partition != "" && j.Partition != partition:
		h.Elsewhere++
		return
	}
	out := Job{
		ID: j.ID, Tenant: j.Tenant, Partition: j.Partition, Queued: j.QueueTime(), Start: j.Start, End: j.End,
		Units: j.Milli(), Limit: j.Limit, Priority: j.Priority,
	}
	if out.Start.IsKnown() {
		h.started++
		out.Queued = min(out.Queued, out.Start)
		if !out.End.IsKnown() && j.Run > 0 && !strings.HasPrefix(j.State, "RUNNING") {
			out.End = out.Start + capcli.Time(j.Run)
		}
	} else if !waited(j) {
		h.Unknown++
		return
	}
	h.First = earliest(h.First, out.Queued)
	h.Last = max(h.Last, out.Queued)
	h.End = max(h.End, out.Queued, out.Start, out.End)
	h.Jobs = append(h.Jobs, out)
}

// waited reports whether a job without a start waited in the queue, rather than ran unrecorded: it
// was cancelled, or is pending.
func waited(j *capcli.Job) bool {
	state := strings.ToUpper(j.State)
	return strings.HasPrefix(state, "PENDING") || j.End.IsKnown() && j.Run <= 0 && (state == "" || strings.HasPrefix(state, "CANCELLED"))
}

func earliest(a, b capcli.Time) capcli.Time {
	if !a.IsKnown() {
		return b
	}
	return min(a, b)
}

// dropLarge leaves out the jobs over a capacity given; 0 drops none. It fails if none is left.
func (h *History) dropLarge(capacity int64) error {
	if capacity <= 0 {
		return nil
	}
	n := len(h.Jobs)
	h.Jobs = slices.DeleteFunc(h.Jobs, func(j Job) bool { return j.Units > capacity })
	h.TooLarge += n - len(h.Jobs)
	if len(h.Jobs) == 0 {
		return &capcli.RequestError{Field: "capacity", Text: fmt.Sprintf("is below the size of each of the %d jobs", n)}
	}
	return nil
}

// notes returns what a reader must know of the jobs left out.
func (h *History) notes() []string {
	out := slices.Clone(h.remarks)
	for _, c := range []struct {
		n    int
		text string
	}{
		{h.CPUOnly, "without a GPU: left out"},
		{h.Elsewhere, "of other partitions: left out"},
		{h.Unknown, "whose start the log does not tell: left out"},
		{h.TooLarge, "larger than the capacity: left out"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%s %s %s", capcli.Grouped(int64(c.n)), capcli.Plural(int64(c.n), "job"), c.text))
		}
	}
	return out
}

// milli is the number of units of a history in a GPU.
const milli = 1000

// gpuLog returns a log in thousandths of a GPU, with a capacity of so many GPUs.
func gpuLog(jobs []Job, capacity int) *Log {
	l := NewLog(jobs, int64(capacity)*milli)
	l.PerGPU = milli
	return l
}

// capacityFrom says where the capacity comes from.
func capacityFrom(given int) string {
	if given > 0 {
		return "given"
	}
	return "the highest use so far (a lower bound)"
}
