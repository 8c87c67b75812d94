package kubernetes

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// resultSchema is the schema of a Result. Fields may be added to it but never renamed.
const resultSchema = "capcli/kueue/v1"

// Result is what came of the workloads of a world, and how its quotas were used.
type Result struct {
	Schema string         `json:"schema"`
	Start  capcli.Time    `json:"start"`
	Length capcli.Seconds `json:"length_s"` // until the last decision
	Rules  Rules          `json:"rules"`

	Workloads   Counts          `json:"workloads"`
	Waits       outcome.Waits   `json:"waits"`
	Possible    capcli.GPUTime  `json:"possible_gpu_hours"` // work of all workloads
	Served      capcli.GPUTime  `json:"served_gpu_hours"`   // of it, work of those that finished
	Lost        capcli.GPUTime  `json:"lost_gpu_hours"`     // held by workloads that were then preempted
	Queues      []QueueRow      `json:"cluster_queues"`
	LocalQueues []QueueRow      `json:"local_queues"`
	Flavors     []FlavorRow     `json:"flavors"`
	Quotas      []QuotaRow      `json:"quotas"`
	Preemptions []PreemptionRow `json:"preemptions"`
	Pending     []PendingRow    `json:"pending"`
	Unqueued    []Unqueued      `json:"unqueued"`
	Namespaces  []NamespaceRow  `json:"resource_quotas"`
	Livelock    *LivelockRow    `json:"livelock"`
	Jobs        []JobRow        `json:"jobs,omitempty"` // what creates the pods, without Kueue: workloads are then pods, queues namespaces
	Notes       []string        `json:"notes"`
}

// Rules are the rules by which was decided.
type Rules struct {
	Kueue       string         `json:"kueue"`               // version; "" where Kueue does not decide
	Scheduler   string         `json:"scheduler,omitempty"` // what decides without Kueue
	FairSharing bool           `json:"fair_sharing"`
	EvictTime   capcli.Seconds `json:"evict_s"`
	Ties        string         `json:"ties"`
}

// plainScheduler is what decides without Kueue.
const plainScheduler = "Kubernetes 1.36, default scheduler and quota admission"

// Counts are numbers of workloads: read = finished + running + pending + unqueued.
type Counts struct {
	Read        int `json:"read"`
	Finished    int `json:"finished"`
	Running     int `json:"running"`
	Pending     int `json:"pending"`
	Unqueued    int `json:"unqueued"`
	Preemptions int `json:"preemptions"`
	Cycles      int `json:"decisions"`
}

// QueueRow is what came of the workloads of a queue.
type QueueRow struct {
	Name       string         `json:"queue"`
	Cohort     string         `json:"cohort,omitempty"`
	Workloads  int            `json:"workloads"`
	Finished   int            `json:"finished"`
	Pending    int            `json:"pending"`
	Preempted  int            `json:"preempted"`
	Preempting int            `json:"preempting"`
	Used       capcli.GPUTime `json:"used_gpu_hours"`
	Lost       capcli.GPUTime `json:"lost_gpu_hours"`
	Unserved   capcli.GPUTime `json:"unserved_gpu_hours"`
	outcome.Waits
	tally simulate.WaitTally
}

// FlavorRow is the use of a resource in a flavor by all queues. The unit of cpu is a core, that of
// memory a GiB.
type FlavorRow struct {
	Flavor   string  `json:"flavor"`
	Resource string  `json:"resource"`
	Unit     string  `json:"unit"`    // cores, GiB or "" for a number
	Nominal  float64 `json:"nominal"` // of all queues and cohorts
	Mean     float64 `json:"used_mean"`
	Most     float64 `json:"used_max"`
	Share    float64 `json:"used_share"` // Mean over Nominal; 0 without a quota
}

// unitOf returns how people count a resource, and how many of Kueue's units that is.
func unitOf(resource string) (unit string, scale float64) {
	switch {
	case resource == "cpu":
		return "cores", 1000
	case resource == "memory", resource == "ephemeral-storage", strings.HasPrefix(resource, "hugepages-"):
		return "GiB", 1 << 30
	}
	return "", 1
}

// QuotaRow is the use of a queue's quota.
type QuotaRow struct {
	Queue string `json:"cluster_queue"`
	FlavorRow
	Borrowed     float64 `json:"borrowed_mean"`
	BorrowedMost float64 `json:"borrowed_max"`
}

// PreemptionRow counts preemptions by who, of whom and why.
type PreemptionRow struct {
	By     string         `json:"by_cluster_queue"`
	Of     string         `json:"of_cluster_queue"`
	Reason string         `json:"reason"`
	Count  int            `json:"count"`
	Lost   capcli.GPUTime `json:"lost_gpu_hours"`
}

// PendingRow is a workload that waits at the end, and why.
type PendingRow struct {
	ID      string         `json:"workload"`
	Queue   string         `json:"cluster_queue"`
	Waiting capcli.Seconds `json:"waiting_s"`
	Started bool           `json:"has_run"` // it was preempted and did not start again
	Why     string         `json:"why"`
}

// NamespaceRow compares what a namespace held with its ResourceQuota, which Kueue does not look at.
type NamespaceRow struct {
	Namespace string         `json:"namespace"`
	Name      string         `json:"resource_quota"`
	Resource  string         `json:"resource"`
	Unit      string         `json:"unit"`
	Hard      float64        `json:"hard"`
	Most      float64        `json:"used_max"`
	Over      capcli.Seconds `json:"over_s"` // how long more was held than Hard
}

// LivelockRow is an instant at which the cluster does not settle.
type LivelockRow struct {
	At        capcli.Seconds `json:"t_s"`
	Workloads []string       `json:"workloads"`
}

// gpuTime is the GPU time of uses over some time.
func gpuTime(uses []kueue.Use, length capcli.Seconds) capcli.GPUTime {
	var n int64
	for _, u := range uses {
		if IsGPU(u.Resource) {
			n += u.Amount
		}
	}
	return capcli.GPUTime(n*int64(length)) * capcli.GPUSecond
}

// asked is the GPUs that a workload asks for.
func asked(w *kueue.Workload) (gpus int64) {
	for i := range w.PodSets {
		for r, v := range w.PodSets[i].Requests {
			if IsGPU(r) {
				gpus += v * w.PodSets[i].Count
			}
		}
	}
	return gpus
}

// Result sums the study up.
func (s *Study) Result() *Result {
	r := &Result{
		Schema: resultSchema, Start: s.Start, Length: s.Decided.Ended,
		Rules:       Rules{"0.19", "", s.World.Config.FairSharing, s.World.Config.EvictTime, "where Kueue follows the order of a map, names decide"},
		Preemptions: []PreemptionRow{}, Pending: []PendingRow{}, Unqueued: append([]Unqueued{}, s.Unqueued...), Namespaces: []NamespaceRow{}, Notes: append([]string{}, s.Notes...),
	}
	r.Workloads.Read, r.Workloads.Unqueued, r.Workloads.Cycles = len(s.World.Workloads)+len(s.Unqueued), len(s.Unqueued), len(s.Decided.Decisions)
	queues, locals := s.queueRows()
	var all simulate.WaitTally
	for i := range s.Decided.Jobs {
		j, w := &s.Decided.Jobs[i], &s.World.Workloads[i]
		q, l := queues[w.Queue], locals[s.Infos[i].Namespace+"/"+s.Infos[i].LocalQueue]
		r.count(j, w, q, l)
		for _, t := range []*simulate.WaitTally{&all, &q.tally, &l.tally} {
			switch {
			case w.Holds != nil: // it started before the run
			case j.FirstStart >= 0:
				t.Add(j.FirstStart - max(0, w.Arrival))
			default:
				t.AddOpen(r.Length - max(0, w.Arrival))
			}
		}
	}
	s.sumStays(r, queues, locals)
	stats := all.Stats()
	r.Waits = outcome.WaitsOf(&stats)
	r.Queues, r.LocalQueues = closeRows(queues), closeRows(locals)
	slices.SortFunc(r.Pending, func(a, b PendingRow) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), strings.Compare(a.ID, b.ID))
	})
	s.useRows(r)
	if s.Plain != nil {
		r.Rules = Rules{Scheduler: plainScheduler, EvictTime: s.World.Config.EvictTime, Ties: "equal nodes go by name"}
		r.Jobs = s.Jobs
		r.Notes = append(r.Notes, s.plainNotes()...)
	}
	if r.Workloads.Preemptions > 0 {
		r.Notes = append(r.Notes, "a preempted workload starts again from its beginning; one that keeps checkpoints loses less")
	}
	if l := s.Decided.Livelock; l != nil {
		r.Livelock = &LivelockRow{l.At, l.Workloads}
	}
	return r
}

// queueRows returns an empty row for each ClusterQueue and each LocalQueue that has workloads.
func (s *Study) queueRows() (queues, locals map[string]*QueueRow) {
	queues, locals = map[string]*QueueRow{}, map[string]*QueueRow{}
	for i := range s.World.ClusterQueues {
		q := &s.World.ClusterQueues[i]
		queues[q.Name] = &QueueRow{Name: q.Name, Cohort: q.Cohort}
	}
	for _, x := range s.Infos {
		name := x.Namespace + "/" + x.LocalQueue
		if locals[name] == nil {
			locals[name] = &QueueRow{Name: name}
		}
	}
	return queues, locals
}

func closeRows(rows map[string]*QueueRow) []QueueRow {
	out := []QueueRow{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row := rows[name]
		stats := row.tally.Stats()
		row.Waits = outcome.WaitsOf(&stats)
		out = append(out, *row)
	}
	return out
}

// count counts what came of a workload in the rows of its queues.
func (r *Result) count(j *kueue.JobResult, w *kueue.Workload, rows ...*QueueRow) {
	work := capcli.GPUTime(asked(w)*int64(w.Duration)) * capcli.GPUSecond
	r.Possible += work
	r.Workloads.Preemptions += j.Preemptions
	switch j.State {
	case kueue.Finished:
		r.Workloads.Finished++
		r.Served += work
	case kueue.Running:
		r.Workloads.Running++
	default:
		r.Workloads.Pending++
		r.Pending = append(r.Pending, PendingRow{j.ID, w.Queue, r.Length - max(0, w.Arrival), j.FirstStart >= 0, j.Why})
	}
	for _, row := range rows {
		row.Workloads++
		row.Preempted += j.Preemptions
		switch j.State {
		case kueue.Finished:
			row.Finished++
		case kueue.Pending:
			row.Pending++
			row.Unserved += work
		}
	}
}

// sumStays adds the time that workloads held, and their preemptions.
func (s *Study) sumStays(r *Result, queues, locals map[string]*QueueRow) {
	type key struct{ by, of, reason string }
	rows := map[key]*PreemptionRow{}
	for i := range s.Stays {
		x := &s.Stays[i]
		w, info := &s.World.Workloads[x.Workload], &s.Infos[x.Workload]
		q, l := queues[w.Queue], locals[info.Namespace+"/"+info.LocalQueue]
		used := gpuTime(x.Uses, x.To-max(0, x.From))
		q.Used += used
		l.Used += used
		if x.End != kueue.Preempt {
			continue
		}
		lost := gpuTime(x.Uses, x.To-x.From)
		r.Lost += lost
		q.Lost += lost
		l.Lost += lost
		by := s.World.Workloads[x.By].Queue
		queues[by].Preempting++
		k := key{by, w.Queue, x.Reason}
		if rows[k] == nil {
			rows[k] = &PreemptionRow{By: by, Of: w.Queue, Reason: x.Reason}
		}
		rows[k].Count++
		rows[k].Lost += lost
	}
	for _, row := range rows {
		r.Preemptions = append(r.Preemptions, *row)
	}
	slices.SortFunc(r.Preemptions, func(a, b PreemptionRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.By, b.By), strings.Compare(a.Of, b.Of), strings.Compare(a.Reason, b.Reason))
	})
}

// Answer says in a few sentences what came of the workloads.
func (r *Result) Answer() string {
	c := &r.Workloads
	who, what, outside := "Kueue "+r.Rules.Kueue, "workloads", fmt.Sprintf("%d are in no queue", c.Unqueued)
	if r.Rules.Scheduler != "" {
		who, what, outside = "Kubernetes without Kueue", "pods", fmt.Sprintf("%d objects create no pods", c.Unqueued)
	}
	text := fmt.Sprintf("%s finishes %d of %d %s in %s", who, c.Finished, c.Read, what, r.Length)
	switch w := r.Waits.WaitP95; {
	case w != nil && *w == 0 && r.Waits.Started > 0:
		text += "; 95% do not wait"
	case w != nil && r.Waits.Started > 0:
		text += fmt.Sprintf("; 95%% wait at most %s for their first start", *w)
	}
	if c.Preemptions > 0 {
		text += fmt.Sprintf("; %s: %.1f GPU-hours of work lost", fmt.Sprintf("%s %s", capcli.Grouped(int64(c.Preemptions)), capcli.Plural(int64(c.Preemptions), "preemption")), r.Lost.Hours())
	}
	if c.Running+c.Pending+c.Unqueued > 0 {
		text += fmt.Sprintf("; %d still run, %d still wait and %s", c.Running, c.Pending, outside)
		if undone := r.Possible - r.Served; undone > 0 {
			text += fmt.Sprintf(", with %.1f GPU-hours of work not done", undone.Hours())
		}
	}
	text += "."
	if l := r.Livelock; l != nil {
		names, rest := l.Workloads, ""
		if len(names) > 8 {
			rest = fmt.Sprintf(" and %d others", len(names)-8)
			names = names[:8]
		}
		text = fmt.Sprintf("The cluster does not settle %s after the start: %s%s preempt one another without end. What follows goes up to there.\n", l.At, strings.Join(names, ", "), rest) + text
	}
	return text
}

// WriteDecisions writes the decisions as CSV, in their order: t_s, cycle, event, workload, flavors, by,
// reason. Flavors are podset.resource=flavor, with the number of pods where fewer start than were asked
// for, and with their hosts where they are placed on hosts. guard makes a text safe for spreadsheets.
func (s *Study) WriteDecisions(w io.Writer, guard func(string) string) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"t_s", "cycle", "event", "workload", "flavors", "by", "reason"}); err != nil {
		return err
	}
	for i := range s.Decided.Decisions {
		d := &s.Decided.Decisions[i]
		if err := out.Write([]string{fmt.Sprint(int64(d.At)), fmt.Sprint(d.Cycle), d.Event, guard(d.Workload), guard(flavorsText(d)), guard(d.By), d.Reason}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// flavorsText writes the flavors of an admission, by pod set and resource.
func flavorsText(d *kueue.Decision) string {
	var parts []string
	for _, set := range slices.Sorted(maps.Keys(d.Flavors)) {
		for _, r := range slices.Sorted(maps.Keys(d.Flavors[set])) {
			parts = append(parts, set+"."+r+"="+d.Flavors[set][r])
		}
		if n, fewer := d.Counts[set]; fewer {
			parts = append(parts, fmt.Sprintf("%s.count=%d", set, n))
		}
		for _, x := range d.Domains[set] {
			parts = append(parts, fmt.Sprintf("%s@%s=%d", set, strings.Join(x.Values, "/"), x.Count))
		}
	}
	return strings.Join(parts, ";")
}
