package joblog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// The states of a job.
const (
	succeeded = "succeeded"
	failed    = "failed"
	cancelled = "cancelled" // it was deactivated and holds nothing
	running   = "running"
	pending   = "pending"
)

// Job is what the objects of a cluster tell of one job. Unknown times are NoTime.
type Job struct {
	ID, Tenant, Team               string // namespace/name, namespace, label team
	Queue, ClusterQueue            string // LocalQueue; the ClusterQueue that admitted it
	PriorityClass, Flavor, Product string // Flavor and Product are of its GPUs
	Priority, Pods, GPUs           int64
	MIG                            map[string]int64 // slices by profile; they are not in GPUs
	CPUMilli, MemMiB               int64
	Limit                          capcli.Seconds
	Submit, Reserved, Start        capcli.Time // Start is of the last run
	FirstContainer, End            capcli.Time
	State                          string
	Preemptions, Evictions         int64
	Earlier                        capcli.Seconds // admitted time of all earlier runs
	Managed                        bool           // it has a Workload

	labels   []map[string]scalar // of its objects; the first that has a label decides
	line     int
	workload string // namespace/name
	why      string // how it ended, in Kueue's words
}

// GPUSeconds returns the GPU time that the job held in all its runs; ok is false while that is not known.
// Pods that gave back their quota before the end count to the end.
func (j *Job) GPUSeconds() (seconds int64, ok bool) {
	held := int64(j.Earlier)
	switch {
	case j.State == running || j.State == pending:
		return 0, false
	case j.Start.IsKnown() && j.End.IsKnown():
		held += int64(j.End - j.Start)
	}
	return saturated(0, j.GPUs, held), true
}

// Run is a time for which a job was admitted.
type Run struct {
	ID                string
	Admitted, Stopped capcli.Time // Stopped is NoTime while it lasts, and where it is not told
	Why               string      // Succeeded, Failed, or the reason of the eviction
}

// History is what the objects of a cluster tell.
type History struct {
	Jobs   []Job // by ID
	Runs   []Run // of jobs that Kueue manages, by ID and time
	Nodes  []Node
	Latest capcli.Time
	Notes  []string
}

// History derives the jobs and their runs from the objects read so far.
func (r *Reader) History() *History {
	d := deriver{Reader: r, owners: map[string]bool{}, byWorkload: map[string]int{}, byObject: map[string]int{}, chosen: map[string]*workload{}}
	h := &History{Latest: r.latest, Notes: r.notes()}
	d.managed()
	d.unmanaged()
	d.containers()
	slices.SortFunc(d.jobs, func(a, b Job) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.workload, b.workload), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.line, b.line))
	})
	clear(d.byWorkload)
	for i := range d.jobs {
		d.byWorkload[d.jobs[i].workload] = i
	}
	d.runs()
	h.Jobs, h.Runs = d.jobs, d.list
	h.Notes = append(h.Notes, d.notes...)
	h.Nodes = r.listNodes()
	h.noteNodes()
	return h
}

// deriver makes a History of the objects of a Reader.
type deriver struct {
	*Reader
	jobs       []Job
	list       []Run
	owners     map[string]bool // keys of objects that own a Workload
	byWorkload map[string]int  // index in jobs by namespace/name of the Workload
	byObject   map[string]int  // index in jobs by UID of the object that is the job
	chosen     map[string]*workload
	notes      []string
}

// managed adds the jobs that have a Workload. Of several Workloads of one owner the youngest counts: the
// others are of earlier shapes of the job.
func (d *deriver) managed() {
	list := sortedBy(d.workloads, func(w *workload) string { return w.Metadata.id() })
	replaced := 0
	for _, w := range list {
		j := d.managedJob(w)
		key := w.Metadata.key("Workload")
		if owner := w.owner(); owner != nil {
			key = owner.UID
			key = cmp.Or(key, owner.Kind+" "+j.ID)
		}
		at, twice := d.byObject[key]
		switch {
		case !twice:
			d.byObject[key], d.chosen[key] = len(d.jobs), w
			d.byWorkload[j.workload] = len(d.jobs)
			d.jobs = append(d.jobs, j)
		case w.age() >= d.chosen[key].age():
			replaced++
			d.chosen[key] = w
			d.byWorkload[j.workload] = at
			d.jobs[at] = j
		default:
			replaced++
			d.byWorkload[j.workload] = at
		}
		d.owners[key] = true
	}
	if replaced > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s of jobs that have a younger one: left out", counted(replaced, "Workload")))
	}
}

func (w *workload) age() capcli.Time {
	at, _ := parseTime(w.Metadata.Created)
	return at
}

// owner returns the reference to the object whose Workload w is, or nil where w stands for itself.
func (w *workload) owner() *reference {
	if c := w.Metadata.controller(); c != nil {
		ref := *c
		ref.UID = cmp.Or(ref.UID, string(w.Metadata.Labels["kueue.x-k8s.io/job-uid"]))
		return &ref
	}
	return nil
}

// managedJob derives a job from its Workload and from the object that owns it, if that is there.
func (d *deriver) managedJob(w *workload) Job {
	j := Job{
		Tenant: w.Metadata.Namespace, Queue: w.Spec.QueueName, Priority: w.Spec.Priority, PriorityClass: w.Spec.PriorityClassName,
		Limit: capcli.Seconds(max(w.Spec.MaxSeconds, 0)), Earlier: capcli.Seconds(w.earlierSeconds()),
		FirstContainer: capcli.NoTime, End: capcli.NoTime, Managed: true, line: w.line, workload: w.Metadata.id(),
	}
	if ref := w.Spec.PriorityClassRef; ref != nil {
		j.PriorityClass = ref.Name
	}
	j.ID = j.workload
	j.Submit, _ = parseTime(w.Metadata.Created)
	j.labels = append(j.labels, w.Metadata.Labels)
	if len(w.Spec.PodSets) > 0 {
		j.labels = append(j.labels, w.Spec.PodSets[0].Template.Metadata.Labels)
		j.Team = string(w.Spec.PodSets[0].Template.Metadata.Labels["team"])
	}
	if owner := w.owner(); owner != nil {
		j.ID = w.Metadata.Namespace + "/" + owner.Name
		if job := d.owner(owner, j.ID); job != nil {
			j.Submit, _ = parseTime(job.Metadata.Created)
			j.labels = append([]map[string]scalar{job.Metadata.Labels}, j.labels...)
			j.Team = string(job.Metadata.Labels["team"])
			j.Limit = cmp.Or(j.Limit, capcli.Seconds(max(job.Spec.Deadline, 0)))
			j.line = job.line
		}
	}
	j.count(w)
	j.judge(w, d)
	return j
}

// owner returns the object that a reference names, or nil.
func (d *deriver) owner(ref *reference, id string) *batchJob {
	if j := d.Reader.jobs[ref.UID]; j != nil {
		return j
	}
	return d.Reader.jobs[ref.Kind+" "+id]
}

// count sets the pods and resources of j: those of its assignment, else those that it asks for.
func (j *Job) count(w *workload) {
	total := amounts{}
	var flavors []string
	if a := w.Status.Admission; a != nil {
		j.ClusterQueue = a.ClusterQueue
		for i, set := range a.Assignments {
			n := int64(1)
			switch {
			case set.Count != nil:
				n = *set.Count
			case i < len(w.Spec.PodSets) && w.Spec.PodSets[i].Count != nil:
				n = *w.Spec.PodSets[i].Count
			}
			j.Pods += n
			total.add(set.Usage.parse(), 1)
			flavors = append(flavors, flavorOf(set.Flavors)...)
		}
	} else {
		for i := range w.Spec.PodSets {
			p := &w.Spec.PodSets[i]
			n := int64(1)
			if p.Count != nil {
				n = *p.Count
			}
			j.Pods += n
			total.add(p.Template.Spec.asks(), n)
		}
	}
	for i := range w.Spec.PodSets {
		j.Product = cmp.Or(j.Product, string(w.Spec.PodSets[i].Template.Spec.NodeSelector["nvidia.com/gpu.product"]))
	}
	j.hold(total)
	j.Flavor = strings.Join(unique(flavors), "|")
}

func (j *Job) hold(total amounts) {
	j.GPUs, j.MIG = total.gpus(), total.slices()
	j.CPUMilli, j.MemMiB = total["cpu"], total["memory"]/1000>>20
}

// flavorOf returns the flavors of the GPUs in an assignment, by name of the resource.
func flavorOf(flavors map[string]string) []string {
	var names, out []string
	for name := range flavors {
		if isGPU(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, flavors[name])
	}
	return out
}

// unique returns the texts in their order, each once.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// judge sets the times and the state of j from the conditions of its Workload.
func (j *Job) judge(w *workload, d *deriver) {
	c := w.Status.Conditions
	since := func(kind, status string) capcli.Time {
		if found := c.find(kind, status); found != nil {
			at, _ := parseTime(found.Changed)
			return at
		}
		return capcli.NoTime
	}
	j.Reserved, j.Start = since("QuotaReserved", "True"), since("Admitted", "True")
	finished := c.find("Finished", "True")
	switch {
	case finished != nil:
		j.End = since("Finished", "True")
		j.State, j.why = d.ending(finished, w)
	case w.Spec.Active != nil && !*w.Spec.Active && !j.Reserved.IsKnown():
		j.State = cancelled
		if j.End = since("QuotaReserved", "False"); !j.End.IsKnown() {
			j.End = since("Evicted", "True")
		}
	case j.Start.IsKnown():
		j.State = running
	default:
		j.State = pending
	}
	if w.Status.Stats == nil {
		return
	}
	for _, e := range w.Status.Stats.Evictions {
		j.Evictions += e.Count
		if e.Reason == "Preempted" {
			j.Preemptions += e.Count
		}
	}
}

// ending returns how a finished Workload ended. Kueue before 0.9 gives JobFinished as reason in any case; the
// Job's own condition, else the message, then tells.
func (d *deriver) ending(c *condition, w *workload) (state, why string) {
	switch c.Reason {
	case "Succeeded":
		return succeeded, c.Reason
	case "Failed":
		return failed, c.Reason
	}
	if owner := w.owner(); owner != nil {
		if job := d.owner(owner, w.Metadata.Namespace+"/"+owner.Name); job != nil && job.Status.Conditions.find("Failed", "True") != nil {
			return failed, "Failed"
		}
	}
	text := strings.ToLower(c.Reason + " " + c.Message)
	if strings.Contains(text, "fail") || strings.Contains(text, "error") || strings.Contains(text, "abort") {
		return failed, "Failed"
	}
	return succeeded, "Succeeded"
}

// unmanaged adds the Jobs that have no Workload, and whose owner has none either.
func (d *deriver) unmanaged() {
	for _, b := range sortedBy(d.Reader.jobs, func(j *batchJob) string { return j.Metadata.id() + " " + j.kind }) {
		if b.kind != "Job" || d.owners[b.Metadata.key("Job")] || d.owners["Job "+b.Metadata.id()] {
			continue
		}
		if owner := b.Metadata.controller(); owner != nil && d.owners[owner.UID] {
			continue
		}
		d.byObject[b.Metadata.key("Job")] = len(d.jobs)
		d.jobs = append(d.jobs, b.job())
	}
}

// job derives the job that Kueue does not manage.
func (b *batchJob) job() Job {
	j := Job{
		ID: b.Metadata.id(), Tenant: b.Metadata.Namespace, Team: string(b.Metadata.Labels["team"]), Pods: 1,
		Limit: capcli.Seconds(max(b.Spec.Deadline, 0)), Product: string(b.Spec.Template.Spec.NodeSelector["nvidia.com/gpu.product"]),
		Reserved: capcli.NoTime, FirstContainer: capcli.NoTime, line: b.line,
		labels: []map[string]scalar{b.Metadata.Labels, b.Spec.Template.Metadata.Labels},
	}
	if n := b.Spec.Parallelism; n != nil {
		j.Pods = *n
	}
	if n := b.Spec.Completions; n != nil {
		j.Pods = min(j.Pods, *n)
	}
	total := amounts{}
	total.add(b.Spec.Template.Spec.asks(), j.Pods)
	j.hold(total)
	j.Submit, _ = parseTime(b.Metadata.Created)
	j.Start, _ = parseTime(b.Status.Start)
	j.End, _ = parseTime(b.Status.Completion)
	lost := b.Status.Conditions.find("Failed", "True")
	switch {
	case lost != nil:
		j.State = failed
		j.End, _ = parseTime(lost.Changed)
	case j.End.IsKnown() || b.Status.Conditions.find("Complete", "True") != nil:
		j.State = succeeded
	case j.Start.IsKnown() && !b.Spec.Suspend:
		j.State = running
	default:
		j.State, j.Start = pending, capcli.NoTime
	}
	return j
}

// containers sets when the first container of each job's last run began.
func (d *deriver) containers() {
	loose, gpus := 0, int64(0)
	for _, p := range sortedBy(d.pods, func(p *pod) string { return p.Metadata.id() }) {
		at, ok := d.jobOf(p)
		if !ok {
			if n := p.Spec.asks().gpus(); n > 0 {
				loose++
				gpus += n
			}
			continue
		}
		j := &d.jobs[at]
		for _, c := range p.Status.Containers {
			for _, s := range []*started{c.State.Running, c.State.Terminated} {
				if s == nil {
					continue
				}
				began, _ := parseTime(s.At)
				if began.IsKnown() && j.Start.IsKnown() && began >= j.Start && (!j.FirstContainer.IsKnown() || began < j.FirstContainer) {
					j.FirstContainer = began
				}
			}
		}
	}
	if loose > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s of no job ask for %s in all: they hold GPUs and are in no table",
			counted(loose, "pod"), counted(int(gpus), "GPU")))
	}
}

// mostOwners is the longest chain of owners that is followed from a pod.
const mostOwners = 8

func (d *deriver) jobOf(p *pod) (index int, ok bool) {
	m := &p.Metadata
	for range mostOwners {
		if at, ok := d.byObject[m.UID]; ok && m.UID != "" {
			return at, true
		}
		owner := m.controller()
		if owner == nil {
			break
		}
		if at, ok := d.byObject[owner.UID]; ok {
			return at, true
		}
		next := d.Reader.jobs[owner.UID]
		if next == nil {
			break
		}
		m = &next.Metadata
	}
	for _, name := range []scalar{
		p.Metadata.Annotations["kueue.x-k8s.io/workload"], p.Metadata.Labels["kueue.x-k8s.io/pod-group-name"],
	} {
		if at, ok := d.byWorkload[p.Metadata.Namespace+"/"+string(name)]; ok && name != "" {
			return at, true
		}
	}
	return 0, false
}

// sortedBy returns the values of m in order of their names, and of their keys where names are equal.
func sortedBy[T any](m map[string]T, name func(T) string) []T {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(strings.Compare(name(m[a]), name(m[b])), strings.Compare(a, b))
	})
	return capcli.Map(keys, func(k string) T { return m[k] })
}

func counted(n int, word string) string {
	return capcli.Grouped(int64(n)) + " " + capcli.Plural(int64(n), word)
}

// Rows returns the jobs as a table, under a header. Times are RFC 3339 in UTC; unknown values are empty.
func (h *History) Rows() [][]string {
	rows := [][]string{{
		"job_id", "tenant", "team", "queue", "cluster_queue", "priority_class", "priority", "flavor", "pods", "gpus", "mig", "submit",
		"reserved", "start", "first_container", "end", "state", "preemptions", "evictions", "earlier_seconds", "gpu_seconds",
	}}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		held := ""
		if n, ok := j.GPUSeconds(); ok {
			held = strconv.FormatInt(n, 10)
		}
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows = append(rows, []string{
			j.ID, j.Tenant, j.Team, j.Queue, j.ClusterQueue, j.PriorityClass, number(j.Priority), j.Flavor, number(j.Pods), number(j.GPUs),
			migText(j.MIG), j.Submit.String(), j.Reserved.String(), j.Start.String(), j.FirstContainer.String(), j.End.String(), j.State,
			number(j.Preemptions), number(j.Evictions), number(int64(j.Earlier)), held,
		})
	}
	return rows
}

// RunRows returns the runs as a table, under a header.
func (h *History) RunRows() [][]string {
	rows := [][]string{{"job_id", "admitted", "stopped", "why"}}
	for _, r := range h.Runs {
		rows = append(rows, []string{r.ID, r.Admitted.String(), r.Stopped.String(), r.Why})
	}
	return rows
}

// lastRun returns the last run of each job, by job.
func (h *History) lastRun() map[string]Run {
	out := map[string]Run{}
	for _, r := range h.Runs {
		out[r.ID] = r
	}
	return out
}
