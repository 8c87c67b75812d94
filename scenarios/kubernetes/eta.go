package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/kubernetes/kueue"
)

// Ask asks when one more workload would start, if it came now.
type Ask struct {
	Request
	Queue    string // LocalQueue, namespace/name, or a name that is the only one
	GPUs     int
	Limit    capcli.Seconds // how long it would last; 0 is an hour, which delays only others
	Priority int
	At       capcli.Time // now; NoTime is the last instant of which the objects tell
}

// Start is the answer to an Ask.
type Start struct {
	Schema       string          `json:"schema"`
	At           capcli.Time     `json:"at"`
	LocalQueue   string          `json:"local_queue"`
	ClusterQueue string          `json:"cluster_queue"`
	GPUs         int             `json:"gpus"`
	Position     int             `json:"position"` // in its ClusterQueue, from 1
	Starts       bool            `json:"starts"`   // false: never, and Why says why
	Why          string          `json:"why,omitempty"`
	Wait         *capcli.Seconds `json:"wait_s"` // nil if it never starts
	Start        *capcli.Time    `json:"start"`
	Flavors      []string        `json:"flavors"`
	Preempts     []Victim        `json:"preempts"`
	EndFirst     []string        `json:"must_end_first"`  // workloads of its cohort that end or are preempted before it starts
	NowGPUs      int             `json:"starts_now_gpus"` // the most GPUs, up to those asked for, with which it starts at once
	Notes        []string        `json:"notes"`
}

// Victim is a workload that the new one preempts, and why.
type Victim struct {
	ID     string `json:"workload"`
	Queue  string `json:"cluster_queue"`
	Reason string `json:"reason"`
}

// askedID is the ID of the new workload.
const askedID = "the-new-workload"

// Check fails with *capcli.RequestError if the question cannot be answered.
func (q *Ask) Check() error {
	switch {
	case q.GPUs < 1 || q.GPUs > 1_000_000:
		return &capcli.RequestError{Field: "gpus", Text: fmt.Sprintf("wants 1 to 1000000, found %d", q.GPUs)}
	case q.Queue == "":
		return &capcli.RequestError{Field: "queue", Text: "wants a LocalQueue", Hint: "for example --queue team-a/main"}
	}
	return q.Request.Check()
}

// Answer reads the objects and decides with one more workload. What workloads hold now is as their
// admission says.
func (q *Ask) Answer(ctx context.Context, open trace.Opener, note func(string)) (*Start, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	o, err := q.objects(open)
	if err != nil {
		return nil, err
	}
	if o.isPlain() {
		return nil, &capcli.RequestError{Field: "kueue", Text: "has no ClusterQueue, and when one more would start is answered for Kueue's queues alone", Hint: "capcli simulate --kueue plays Jobs, Deployments and Pods without Kueue"}
	}
	options := Options{Default: q.Default, EvictTime: q.EvictTime, Current: true, Now: q.At}
	if q.Trace != "" {
		if err := q.readTrace(&options, open, note); err != nil {
			return nil, err
		}
		options.Jobs = nil
	}
	first, err := q.try(ctx, o, options, q.GPUs)
	if err != nil {
		return nil, err
	}
	if first.startsNow() {
		first.NowGPUs = q.GPUs
		return first, nil
	}
	lo, hi := 0, q.GPUs // lo starts at once, hi does not
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		s, err := q.try(ctx, o, options, mid)
		if err != nil {
			return nil, err
		}
		if s.startsNow() {
			lo = mid
		} else {
			hi = mid
		}
	}
	first.NowGPUs = lo
	return first, nil
}

// try decides with a new workload of so many GPUs.
func (q *Ask) try(ctx context.Context, o *Objects, options Options, gpus int) (*Start, error) {
	options.Jobs = []capcli.Job{{ID: askedID, Partition: q.Queue, GPUs: gpus, Run: cmp.Or(q.Limit, capcli.Hour), Priority: q.Priority, Submit: capcli.NoTime}}
	c, err := o.Build(&options)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.World.Workloads, func(w kueue.Workload) bool { return w.UID == askedID })
	if i < 0 {
		return nil, &capcli.RequestError{Field: "queue", Text: fmt.Sprintf("is %s, which takes no workload: %s", capcli.Quoted(q.Queue), c.unqueuedReason()), Hint: "name a LocalQueue as namespace/name"}
	}
	w := &c.World.Workloads[i]
	r, err := kueue.Run(ctx, &c.World, kueue.Options{StopAt: w.ID})
	if err != nil {
		return nil, err
	}
	s := &Start{
		Schema: "capcli/eta-kueue/v1", At: c.Start, LocalQueue: c.Infos[i].Namespace + "/" + c.Infos[i].LocalQueue, ClusterQueue: w.Queue, GPUs: gpus,
		Position: 1, Flavors: []string{}, Preempts: []Victim{}, EndFirst: []string{}, Notes: append([]string{}, c.Notes...),
	}
	c.fillStart(s, w, r)
	if j := &r.Jobs[i]; j.FirstStart >= 0 {
		at := c.Start + capcli.Time(j.FirstStart)
		s.Starts, s.Wait, s.Start = true, &j.FirstStart, &at
	} else {
		s.Why, s.EndFirst = j.Why, []string{}
	}
	return s, nil
}

func (c *Cluster) unqueuedReason() string {
	for _, x := range c.Unqueued {
		if strings.HasSuffix(x.ID, askedID) {
			return x.Reason
		}
	}
	return "it is not known"
}

// fillStart says of the decisions up to the start of w what they have to do with it.
func (c *Cluster) fillStart(s *Start, w *kueue.Workload, r *kueue.Result) {
	queues, related := map[string]string{}, map[string]bool{w.Queue: true}
	for i := range c.World.Workloads {
		x := &c.World.Workloads[i]
		queues[x.ID] = x.Queue
		if x.Queue == w.Queue && x.ID != w.ID && x.Holds == nil && x.Priority >= w.Priority {
			s.Position++
		}
	}
	for i := range c.World.ClusterQueues {
		q := &c.World.ClusterQueues[i]
		related[q.Name] = related[q.Name] || q.Cohort != "" // cohorts may stand in one tree
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		switch {
		case d.Event == kueue.Preempt && d.By == w.ID:
			s.Preempts = append(s.Preempts, Victim{d.Workload, queues[d.Workload], d.Reason})
		case d.Event == kueue.Admit && d.Workload == w.ID:
			for _, byResource := range d.Flavors {
				for _, f := range byResource {
					if !slices.Contains(s.Flavors, f) {
						s.Flavors = append(s.Flavors, f)
					}
				}
			}
			slices.Sort(s.Flavors)
		case (d.Event == kueue.Finish || d.Event == kueue.Preempt) && related[queues[d.Workload]] && !slices.Contains(s.EndFirst, d.Workload) && len(s.EndFirst) < maxEndFirst:
			s.EndFirst = append(s.EndFirst, d.Workload)
		}
	}
}

// maxEndFirst is the most workloads that Start.EndFirst names.
const maxEndFirst = 100

// startsNow reports whether the workload starts at once.
func (s *Start) startsNow() bool { return s.Starts && *s.Wait == 0 }

// Answer says the start in one sentence.
func (s *Start) Answer() string {
	job := fmt.Sprintf("A workload of %s %s in %s", capcli.Grouped(int64(s.GPUs)), capcli.Plural(int64(s.GPUs), "GPU"), s.LocalQueue)
	text := ""
	switch {
	case !s.Starts:
		text = fmt.Sprintf("%s would not start: %s", job, s.Why)
	case s.startsNow():
		text = job + " would start at once"
	default:
		text = fmt.Sprintf("%s would start in %s, if workloads last as said", job, *s.Wait)
	}
	if len(s.Flavors) > 0 {
		text += ", on " + strings.Join(s.Flavors, ", ")
	}
	if n := len(s.Preempts); n > 0 {
		text += fmt.Sprintf(", and preempt %d", n)
	}
	if s.NowGPUs < s.GPUs {
		text += fmt.Sprintf("; at once: %d %s", s.NowGPUs, capcli.Plural(int64(s.NowGPUs), "GPU"))
	}
	return text + "."
}
