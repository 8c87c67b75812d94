package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
)

// JobRow is what came of what creates pods, without Kueue. Its pods start one by one.
type JobRow struct {
	ID        string          `json:"job"`
	Kind      string          `json:"kind"` // Job, Deployment or Pod
	Priority  int64           `json:"priority"`
	Pods      int             `json:"pods"`
	Finished  int             `json:"finished"`
	Most      int64           `json:"most_at_once"`
	Wanted    int64           `json:"wanted_at_once"`
	First     *capcli.Seconds `json:"first_start_s"` // from its creation; null is never
	All       *capcli.Seconds `json:"all_start_s"`   // when all that it wanted at once first ran
	Partial   capcli.Seconds  `json:"partial_s"`     // time with some of its pods, but fewer than it wanted
	Preempted int             `json:"preempted"`
	Refused   int             `json:"refused"` // creations that quotas refused
	State     string          `json:"state"`
}

// podPriority is the reason of a preemption by the default scheduler.
const podPriority = "PodPriority"

// decidePlain runs the world without Kueue and tells it as a world of pods: each is a workload of its namespace.
func (c *Cluster) decidePlain(ctx context.Context, progress func(done, total int64)) (*Study, error) {
	r, err := pods.Run(ctx, c.Plain, progress)
	if err != nil {
		return nil, err
	}
	out := *c
	out.World.Workloads, out.Infos = nil, nil
	decided := &kueue.Result{Ended: r.Ended}
	first := make([]int, len(r.Owners)) // workload of the first pod of each owner
	for i := range r.Owners {
		o, spec := &r.Owners[i], &c.Plain.Owners[i]
		first[i] = len(out.World.Workloads)
		for k := range o.Pods {
			out.addPod(spec, k, &o.Pods[k], r.Ended, c.tenants[i])
			decided.Jobs = append(decided.Jobs, podResult(podName(spec, k), &o.Pods[k]))
		}
		out.Jobs = append(out.Jobs, jobRow(spec, o))
	}
	slices.SortStableFunc(out.Jobs, func(a, b JobRow) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	for _, e := range r.Events {
		spec := &c.Plain.Owners[e.Owner]
		d := kueue.Decision{At: e.At, Cycle: 1, Event: string(e.What), Workload: podName(spec, e.Pod)}
		switch e.What {
		case pods.Starts:
			n := &c.Plain.Nodes[e.Node]
			flavors := map[string]string{}
			for name := range out.World.Workloads[first[e.Owner]+e.Pod].PodSets[0].Requests {
				flavors[name] = flavorOf(n)
			}
			d.Flavors = map[string]map[string]string{"main": flavors}
			d.Domains = map[string][]kueue.Domain{"main": {{Values: []string{n.Labels["kubernetes.io/hostname"]}, Count: 1}}}
		case pods.Preempts:
			d.By, d.Reason = podName(&c.Plain.Owners[e.By[0]], e.By[1]), podPriority
		case pods.Finishes, pods.Leaves:
		}
		decided.Decisions = append(decided.Decisions, d)
	}
	return &Study{&out, decided, decided.Stays(&out.World)}, nil
}

// podName names a pod of an owner by the owner's kind and its place, as namespace/job/name-0.
func podName(o *pods.Owner, k int) string {
	name := fmt.Sprintf("%s/%s/%s", o.Namespace, strings.ToLower(string(o.Kind)), strings.TrimPrefix(o.ID, o.Namespace+"/"))
	if o.Kind == pods.Pod {
		return name
	}
	return fmt.Sprintf("%s-%d", name, k)
}

// addPod adds a pod as a workload. One of a Deployment lasts from its creation to the end.
func (c *Cluster) addPod(o *pods.Owner, k int, p *pods.PodResult, ended capcli.Seconds, tenant string) {
	set := o.Pod
	set.Requests = map[string]int64{pods.PodCount: 1}
	for r, v := range o.Pod.Requests {
		set.Requests[r] = v
	}
	w := kueue.Workload{ID: podName(o, k), Queue: o.Namespace, Arrival: o.Arrival, Duration: o.Duration, Priority: o.Priority, PodSets: []kueue.PodSet{set}}
	if p.Wanted >= 0 {
		w.Arrival = p.Wanted
	}
	if o.Kind == pods.Deployment {
		w.Duration = max(0, ended-w.Arrival)
	}
	c.World.Workloads = append(c.World.Workloads, w)
	c.Infos = append(c.Infos, Info{Namespace: o.Namespace, LocalQueue: cmp.Or(o.Class, "(no class)"), Job: o.ID, Tenant: tenant})
}

// podResult returns what became of a pod.
func podResult(name string, p *pods.PodResult) kueue.JobResult {
	j := kueue.JobResult{ID: name, State: kueue.Pending, FirstStart: -1, Start: -1, End: -1, Why: p.Why, Impossible: p.Never}
	for i := range p.Starts {
		s := &p.Starts[i]
		if i == 0 {
			j.FirstStart = s.From
		}
		j.Start = s.From
		switch s.Ended {
		case pods.Goes:
			j.State = kueue.Running
		case pods.Succeeded:
			j.State, j.End = kueue.Finished, s.To
		case pods.Preempted:
			j.Preemptions++
		case pods.Killed:
		}
	}
	return j
}

func jobRow(o *pods.Owner, r *pods.OwnerResult) JobRow {
	row := JobRow{
		ID: o.ID, Kind: string(o.Kind), Priority: o.Priority, Pods: len(r.Pods), Most: r.Most, Wanted: o.Parallelism, Partial: r.Partial,
		Preempted: r.Preempted, Refused: r.Refused, State: kueue.Pending,
	}
	if o.Kind != pods.Deployment {
		row.Wanted = min(o.Parallelism, o.Completions)
	}
	since := func(at capcli.Seconds) *capcli.Seconds {
		at -= o.Arrival
		return &at
	}
	goes := false
	for i := range r.Pods {
		for k, s := range r.Pods[i].Starts {
			if s.Ended == pods.Succeeded {
				row.Finished++
			}
			goes = goes || s.Ended == pods.Goes
			if x := since(s.From); k == 0 && (row.First == nil || *x < *row.First) {
				row.First = x
			}
		}
	}
	if r.All >= 0 && len(r.Pods) > 0 {
		row.All = since(r.All)
	}
	switch {
	case r.Failed:
		row.State = "failed"
	case r.Ended >= 0:
		row.State = kueue.Finished
	case goes:
		row.State = kueue.Running
	}
	return row
}

// plainNotes say what the rules leave open, where it counts.
func (s *Study) plainNotes() (out []string) {
	partial, refused := 0, 0
	for i := range s.Jobs {
		if s.Jobs[i].Partial > 0 {
			partial++
		}
		refused += s.Jobs[i].Refused
	}
	if partial > 0 {
		out = append(out, fmt.Sprintf("%d of %d ran for a time with fewer pods than they wanted: nothing here starts all pods of a job together, and one that needs all of them holds its GPUs idle meanwhile", partial, len(s.Jobs)))
	}
	if refused > 0 {
		out = append(out, fmt.Sprintf("ResourceQuotas refused %s creations of pods, each tried again after 10 s, 20 s and so on up to 6 min", capcli.Grouped(int64(refused))))
	}
	return append(out, "the default scheduler's own back-off, disruption budgets, affinity and spreading between pods, and scores other than LeastAllocated are not modelled")
}
