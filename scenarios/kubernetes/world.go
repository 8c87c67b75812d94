package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
)

// Options say how workloads come and how long they last.
type Options struct {
	// Durations says how long a workload lasts, by the namespace and name of its job or of itself. It
	// comes before what the objects say. It may be nil.
	Durations func(id string) (capcli.Seconds, bool)
	Default   capcli.Seconds // of a workload of which nothing says how long it lasts; 0 refuses it
	EvictTime capcli.Seconds // from preemption until the pods are gone
	Jobs      []capcli.Job   // further jobs, each sent to the LocalQueue that its Partition names
	// Current begins with what workloads hold now, at the last instant that the objects tell of, and
	// leaves out what has ended. Else the past is replayed from the first creation on.
	Current bool
	Now     capcli.Time // with Current: the instant, if it is later; 0 and NoTime are none
}

// Cluster is a world made of objects, with what the world itself leaves out.
type Cluster struct {
	World    kueue.World
	Start    capcli.Time // time 0 of the world
	Infos    []Info      // of World.Workloads, in their order
	Unqueued []Unqueued  // workloads that Kueue does not consider
	Quotas   []NamespaceQuota
	Prices   map[string]capcli.USD // of a GPU-hour, by flavor, where the objects say
	Notes    []string
	Jobs     []JobRow    // what creates the pods, without Kueue, once it was decided
	Plain    *pods.World // what decides without Kueue, before World's workloads are known; nil with Kueue
	tenants  []string    // of the owners of Plain
}

// Info is what a workload is called.
type Info struct {
	Namespace, LocalQueue string
	Job                   string // namespace and name of its job
	Tenant                string
}

// Unqueued is a workload that is in no queue, and why.
type Unqueued struct {
	ID     string `json:"workload"`
	Queue  string `json:"local_queue"`
	Reason string `json:"reason"`
}

// NamespaceQuota is what pods of a namespace may request together (ResourceQuota).
type NamespaceQuota struct {
	Namespace, Name string
	Hard            map[string]int64 // by resource, in Kueue's units
}

const durationAnnotation = "capcli/duration"

type builder struct {
	*Objects
	o       *Options
	out     *Cluster
	now     capcli.Time
	jobByID map[string]*workload
	unknown []*workload // of which nothing says how long they last
	byQueue map[string]*localQueue
	byName  map[string]*clusterQueue
	bounded int
	overdue int  // workloads that have run longer than said
	guessed bool // whether the last duration is Options.Default
}

// Build makes a world of the objects. It fails with *capcli.InputError where they contradict one
// another, where nothing says how long a workload lasts, or where no workload is left.
func (o *Objects) Build(options *Options) (*Cluster, error) {
	b := o.builder(options)
	if o.isPlain() {
		return b.buildPlain()
	}
	if err := b.rules(); err != nil {
		return nil, err
	}
	if n := len(o.owners); n > 0 {
		o.note("Jobs without the label %s, Deployments and Pods are not Kueue's: they are left out", queueLabel)
	}
	all := slices.Clone(o.workloads)
	owned := map[string]bool{}
	for _, w := range o.workloads {
		owned["uid "+w.owner.uid] = true
		if w.owner.kind == "Job" {
			owned[w.jobID()] = true
		}
	}
	for _, j := range o.jobs {
		b.jobByID[j.id()] = j
		if !owned[j.id()] && (j.uid == "" || !owned["uid "+j.uid]) {
			all = append(all, j)
		}
	}
	if err := b.findNow(all); err != nil {
		return nil, err
	}
	made, err := b.traceWorkloads()
	if err != nil {
		return nil, err
	}
	all = append(all, made...)
	slices.SortStableFunc(all, func(x, y *workload) int {
		return cmp.Or(cmp.Compare(x.created, y.created), strings.Compare(x.id(), y.id()))
	})
	if err := b.setStart(all); err != nil {
		return nil, err
	}
	for _, w := range all {
		b.add(w)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	b.out.Notes = o.Notes()
	if b.overdue > 0 {
		b.out.Notes = append(b.out.Notes, fmt.Sprintf("%d workloads have run longer than they were said to last: they end at once here", b.overdue))
	}
	if b.bounded > 0 {
		b.out.Notes = append(b.out.Notes, fmt.Sprintf("%d workloads last as long as maximumExecutionTimeSeconds lets them, which is an upper bound", b.bounded))
	}
	return b.out, nil
}

func (o *Objects) builder(options *Options) *builder {
	return &builder{
		Objects: o, o: options, out: &Cluster{Start: capcli.NoTime, Prices: map[string]capcli.USD{}}, now: capcli.NoTime,
		jobByID: map[string]*workload{}, byQueue: map[string]*localQueue{}, byName: map[string]*clusterQueue{},
	}
}

// Rules makes a world of the objects that has no workloads.
func (o *Objects) Rules(options *Options) (*Cluster, error) {
	b := o.builder(options)
	rules := b.rules
	if o.isPlain() {
		rules = b.plainRules
	}
	err := rules()
	b.out.Notes = o.Notes()
	return b.out, err
}

// rules fills the world with queues, cohorts, flavors and hosts.
func (b *builder) rules() error {
	if len(b.queues) == 0 {
		return &capcli.InputError{Field: "ClusterQueue", Text: "the objects have no ClusterQueue", Hint: "give the rules too: kubectl get clusterqueues,cohorts,resourceflavors,localqueues,topologies,workloadpriorityclasses -A -o json"}
	}
	if err := b.checkFlavors(); err != nil {
		return err
	}
	w := &b.out.World
	w.Config = kueue.Config{FairSharing: b.config.fair, Strategies: b.config.strategies, EvictTime: b.o.EvictTime}
	for _, q := range b.queues {
		b.byName[q.name] = q
		w.ClusterQueues = append(w.ClusterQueues, q.ClusterQueue)
	}
	for _, c := range b.cohorts {
		w.Cohorts = append(w.Cohorts, c.Cohort)
	}
	for _, f := range b.flavors {
		w.Flavors = append(w.Flavors, f.Flavor)
		if f.price >= 0 {
			b.out.Prices[f.name] = f.price
		}
	}
	for _, t := range b.topologies {
		w.Topologies = append(w.Topologies, t.Topology)
	}
	for _, q := range b.localQueues {
		b.byQueue[q.id()] = q
	}
	w.Nodes = b.nodes
	// Ties go by name, whatever the order of the objects.
	slices.SortFunc(w.ClusterQueues, func(x, y kueue.ClusterQueue) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(w.Cohorts, func(x, y kueue.Cohort) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(w.Flavors, func(x, y kueue.Flavor) int { return strings.Compare(x.Name, y.Name) })
	b.addQuotas()
	return nil
}

// addQuotas adds the ResourceQuotas that are for all pods of their namespace.
func (b *builder) addQuotas() {
	for _, q := range b.quotas {
		if len(q.scope) == 0 {
			b.out.Quotas = append(b.out.Quotas, NamespaceQuota{q.namespace, q.name, b.hard(q)})
		}
	}
}

// hard returns what a ResourceQuota limits of what pods request, in Kueue's units, and of their number.
func (b *builder) hard(q *resourceQuota) map[string]int64 {
	out := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(q.hard)) {
		r, requests := strings.CutPrefix(name, "requests.")
		switch {
		case name == "count/pods":
			r = pods.PodCount
		case r == "storage", !requests && name != "cpu" && name != "memory" && name != pods.PodCount:
			b.note("ResourceQuotas of %s are not looked at", name)
			continue
		}
		v := units(r, q.hard[name])
		if old, twice := out[r]; twice {
			v = min(v, old)
		}
		out[r] = v
	}
	return out
}

// findNow finds the last instant of which workloads tell.
func (b *builder) findNow(all []*workload) error {
	if b.o.Now.IsKnown() && b.o.Now > 0 {
		b.now = b.o.Now
	}
	for _, w := range all {
		if !w.created.IsKnown() {
			return w.fault("metadata.creationTimestamp", w.id()+" does not say when it was created", "give creationTimestamp, as kubectl prints it")
		}
		for _, t := range []capcli.Time{w.created, w.admitted.at, w.reserved.at, w.finished.at, w.evicted.at} {
			if t.IsKnown() && t != 0 && (!b.now.IsKnown() || t > b.now) {
				b.now = t
			}
		}
	}
	if !b.now.IsKnown() {
		b.now = 0
	}
	return nil
}

func (b *builder) setStart(all []*workload) error {
	switch {
	case len(all) == 0:
		return &capcli.InputError{Field: "Workload", Text: "the objects have no Workload, and no Job with the label " + queueLabel, Hint: "give Workloads or Jobs, or the jobs of a log: --trace"}
	case b.o.Current:
		b.out.Start = b.now
	default:
		b.out.Start = all[0].created
	}
	return nil
}

// add adds a workload to the world, or to those that no queue considers.
func (b *builder) add(w *workload) {
	if b.o.Current && w.finished.isTrue() {
		return
	}
	q, reason := b.queueOf(w)
	if reason != "" {
		b.out.Unqueued = append(b.out.Unqueued, Unqueued{w.id(), w.queue, reason})
		return
	}
	length, ok := b.duration(w)
	if !ok {
		b.unknown = append(b.unknown, w)
		return
	}
	out := kueue.Workload{
		ID: w.id(), UID: cmp.Or(w.uid, w.id()), Queue: q.name, Arrival: capcli.Seconds(w.created - b.out.Start),
		Duration: length, Priority: b.priority(w),
	}
	for _, p := range w.podSets {
		set := b.podSet(p, q)
		for _, r := range slices.Sorted(maps.Keys(set.Requests)) {
			if set.Requests[r] > maxAmount/max(1, set.Count) {
				b.out.Unqueued = append(b.out.Unqueued, Unqueued{w.id(), w.queue, "it asks for more " + r + " than can be counted"})
				return
			}
		}
		out.PodSets = append(out.PodSets, set)
	}
	if b.o.Current {
		out.Holds = b.holding(w, q)
	}
	if h := out.Holds; h != nil && h.Since+out.Duration < 0 {
		if b.guessed { // it lasts as long again, from now
			out.Duration -= h.Since
		} else {
			b.overdue++
		}
	}
	b.out.World.Workloads = append(b.out.World.Workloads, out)
	b.out.Infos = append(b.out.Infos, Info{w.namespace, w.queue, w.jobID(), w.tenant()})
}

// queueOf returns the ClusterQueue of a workload, or why no queue considers it.
func (b *builder) queueOf(w *workload) (*clusterQueue, string) {
	if w.inactive && !w.finished.isTrue() {
		return nil, "it is not active"
	}
	local := b.byQueue[w.namespace+"/"+w.queue]
	if local == nil {
		return nil, "its LocalQueue is not given"
	}
	q := b.byName[local.clusterQueue]
	holds := b.o.Current && w.admission != nil
	switch {
	case q == nil:
		return nil, fmt.Sprintf("the ClusterQueue %s of its LocalQueue is not given", local.clusterQueue)
	case local.stop == "HoldAndDrain" || local.stop == "Hold" && !holds:
		return nil, "its LocalQueue has the stopPolicy " + local.stop
	case q.stop == "HoldAndDrain" || q.stop == "Hold" && !holds:
		return nil, fmt.Sprintf("the ClusterQueue %s has the stopPolicy %s", q.name, q.stop)
	case !q.selectsNamespace(w.namespace, b.namespaces[w.namespace]):
		return nil, fmt.Sprintf("the namespaceSelector of ClusterQueue %s does not select its namespace", q.name)
	}
	return q, ""
}

// selectsNamespace reports whether the queue takes workloads of a namespace. Without a selector it
// takes none.
func (q *clusterQueue) selectsNamespace(name string, labels map[string]string) bool {
	if q.selects == nil {
		return false
	}
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	all["kubernetes.io/metadata.name"] = name
	for key, v := range q.selects.labels {
		if got, ok := all[key]; !ok || got != v {
			return false
		}
	}
	for i := range q.selects.terms {
		if !q.selects.terms[i].Holds(all) {
			return false
		}
	}
	return true
}

// duration returns how long a workload lasts from its admission.
func (b *builder) duration(w *workload) (capcli.Seconds, bool) {
	b.guessed = false
	if b.o.Durations != nil {
		for _, id := range []string{w.jobID(), w.id()} {
			if v, ok := b.o.Durations(id); ok {
				return v, true
			}
		}
	}
	annotations := []map[string]string{w.annotations, w.podSets[0].pod.annotations}
	if job := b.jobByID[w.jobID()]; job != nil {
		annotations = append(annotations, job.annotations)
	}
	for _, a := range annotations {
		if s, ok := a[durationAnnotation]; ok {
			if v, err := duration(s); err == nil {
				return v, true
			}
		}
	}
	begin := w.admitted
	if !begin.isTrue() {
		begin = w.reserved
	}
	switch {
	case w.finished.isTrue() && begin.isTrue() && w.finished.at >= begin.at:
		return capcli.Seconds(w.finished.at - begin.at), true
	case b.o.Default > 0:
		b.guessed = true
		return b.o.Default, true
	case w.most > 0:
		b.bounded++
		return capcli.Seconds(w.most), true
	}
	return 0, false
}

// check fails if the annotation of a workload is no length of time, if nothing says how long one
// lasts, or if none is left.
func (b *builder) check() error {
	for _, w := range slices.Concat(b.workloads, b.jobs) {
		for _, a := range []map[string]string{w.annotations, w.podSets[0].pod.annotations} {
			if s, ok := a[durationAnnotation]; ok {
				if _, err := duration(s); err != nil {
					return w.fault("metadata.annotations."+durationAnnotation, err.Error(), "write 90s, 30m, 1h30m or 2d")
				}
			}
		}
	}
	if n := len(b.unknown); n > 0 {
		return b.unknown[0].fault("metadata.annotations."+durationAnnotation,
			fmt.Sprintf("nothing says how long %s lasts%s", b.unknown[0].id(), othersText(n-1, "other")),
			"give the annotation "+durationAnnotation+" (such as 2h30m), a --trace with job_id namespace/name and the run time, or --duration for all that say nothing")
	}
	var work float64
	for i := range b.out.World.Workloads {
		w := &b.out.World.Workloads[i]
		work += float64(asked(w)) * float64(w.Duration)
	}
	if work > maxGPUSeconds {
		return &capcli.InputError{Field: "Workload", Text: "the workloads ask for more GPU time than can be counted", Hint: "is one of the counts, requests or lengths wrong?"}
	}
	if len(b.out.World.Workloads) == 0 {
		text := "no workload is left to decide on"
		if len(b.out.Unqueued) > 0 {
			text += ": " + b.out.Unqueued[0].ID + ": " + b.out.Unqueued[0].Reason + othersText(len(b.out.Unqueued)-1, "other")
		}
		return &capcli.InputError{Field: "Workload", Text: text, Hint: "a ClusterQueue takes workloads of all namespaces with namespaceSelector: {}, and of none without it"}
	}
	return nil
}

// maxGPUSeconds is the most GPU time of a world, in GPU-seconds.
const maxGPUSeconds = 1e14

// othersText is " and 3 others", or "" for none.
func othersText(n int, what string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return " and one " + what
	}
	return fmt.Sprintf(" and %d %ss", n, what)
}

// priority returns the priority of a workload: its own, else that of its class.
func (b *builder) priority(w *workload) int64 {
	if w.priority != nil {
		return *w.priority
	}
	classes := b.classes
	if w.podClass {
		classes = b.podClasses
	}
	if w.class == "" {
		if w.podClass {
			return b.podDefault
		}
		return 0
	}
	v, ok := classes[w.class]
	if !ok {
		b.note("priority classes are named that are not given: they count as 0")
	}
	return v
}

// podSet returns a pod set as its queue sees it.
func (b *builder) podSet(p *podSet, q *clusterQueue) kueue.PodSet {
	out := kueue.PodSet{Name: p.name, Count: p.count, MinCount: p.min, NodeSelector: p.pod.selector, Tolerations: p.pod.tolerations, Affinity: p.pod.affinity}
	if p.topology != (kueue.PodTopology{}) {
		t := p.topology
		out.Topology = &t
	}
	covered := map[string]bool{}
	for _, g := range q.ResourceGroups {
		for _, r := range g.Resources {
			covered[r] = true
		}
	}
	out.Requests = b.config.effective(p.pod.requests(), covered)
	return out
}

// effective returns what requests count as, by Configuration's resources: without what is excluded,
// and with what is transformed. Pods count where the queue covers them.
func (c *configuration) effective(requests map[string]int64, covered map[string]bool) map[string]int64 {
	out := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if slices.ContainsFunc(c.excluded, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		v := requests[name]
		i := slices.IndexFunc(c.transforms, func(t transform) bool { return t.input == name })
		if i < 0 {
			out[name] += v
			continue
		}
		t := &c.transforms[i]
		if t.strategy != "Replace" {
			out[name] += v
		}
		times := v
		if by, ok := requests[t.multiplyBy]; ok && t.multiplyBy != "" {
			times = product(times, by, t.multiplyBy == "cpu")
		}
		for r, q := range t.outputs {
			out[r] += product(product(times, q.Milli(), true), unitScale(r), false) / unitScale(name)
		}
	}
	if covered["pods"] {
		out["pods"] = 1
	}
	if c.ignoreOther {
		maps.DeleteFunc(out, func(name string, _ int64) bool { return !covered[name] })
	}
	return out
}

// product returns a x b, or a thousandth of it, rounded up and limited.
func product(a, b int64, thousandth bool) int64 {
	const limit = maxAmount
	if a > 0 && b > limit/a {
		return limit
	}
	if thousandth {
		return (a*b + 999) / 1000
	}
	return a * b
}

// unitScale is how many of Kueue's units make one unit of a resource.
func unitScale(name string) int64 {
	if name == "cpu" {
		return 1000
	}
	return 1
}

// holding returns what a workload holds at the snapshot; nil if it waits.
func (b *builder) holding(w *workload, q *clusterQueue) *kueue.Holding {
	if w.admission == nil || w.admission.queue != "" && w.admission.queue != q.name || !w.reserved.isTrue() && !w.admitted.isTrue() {
		return nil
	}
	since := w.admitted
	if !since.isTrue() {
		since = w.reserved
	}
	h := &kueue.Holding{Since: min(0, capcli.Seconds(since.at-b.out.Start)), Flavors: map[string]map[string]string{}, Counts: map[string]int64{}, Domains: map[string][]kueue.Domain{}}
	for _, s := range w.admission.sets {
		h.Flavors[s.name] = s.flavors
		if s.count != nil {
			h.Counts[s.name] = *s.count
		}
		if len(s.domains) > 0 {
			h.Domains[s.name] = s.domains
		}
	}
	return h
}
