package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
	"capcli/scenarios/strict"
)

// The values of preemptionPolicy.
const (
	preemptLower = "PreemptLowerPriority"
	preemptNever = "Never"
)

// builtIn are the PriorityClasses that every cluster has (Kubernetes documentation, "Guaranteed Scheduling For Critical
// Add-On Pods").
var builtIn = map[string]int64{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// failurePolicy reads whether a Job's podFailurePolicy ignores disruptions, so that preemptions are no failures.
func failurePolicy(spared *bool) strict.Reader {
	type condition struct{ kind, status string }
	type rule struct {
		action string
		of     []condition
	}
	var rules []rule
	read := object("podFailurePolicy", field("rules", list(&rules, "rules", func(x *rule) strict.Reader {
		return object("rules", field("action", text(&x.action)), field("onExitCodes", skip), field("onPodConditions", list(&x.of, "conditions", func(c *condition) strict.Reader {
			return object("onPodConditions", field("type", text(&c.kind)), field("status", text(&c.status)))
		})))
	})))
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		for _, x := range rules {
			for _, c := range x.of {
				if c.kind == "DisruptionTarget" && cmp.Or(c.status, "True") == "True" {
					*spared = x.action == "Ignore"
					return // the first rule that matches counts
				}
			}
		}
	}
}

// readDeployment reads a Deployment, whose pods run for ever.
func readDeployment(r *reader, n *yaml.Node, m *meta) func() error {
	w := &workload{kind: "Deployment", parallel: 1, podSets: []*podSet{{name: "main", count: 1}}}
	r.readObject(n, m, "Deployment", field("status", skip), field("spec", object("spec", slices.Concat([]strict.Field{
		field("replicas", strict.Integer(&w.parallel, 0, maxPods)), field("template", r.podTemplate(&w.podSets[0].pod)),
	}, skipped("selector strategy minReadySeconds revisionHistoryLimit progressDeadlineSeconds paused"))...)))
	return func() error {
		w.setPlain(m)
		r.owners = append(r.owners, w)
		return nil
	}
}

// readPod reads a Pod. One that something else made is left out.
func readPod(r *reader, n *yaml.Node, m *meta) func() error {
	w := &workload{kind: "Pod", parallel: 1, completions: 1, podSets: []*podSet{{name: "main", count: 1}}}
	r.readObject(n, m, "Pod", field("status", skip), field("spec", r.podSpec(&w.podSets[0].pod, "spec")))
	return func() error {
		if m.owner.kind != "" {
			r.note("Pods that another object owns are made by it: they are left out")
			return nil
		}
		w.podSets[0].pod.labels, w.podSets[0].pod.annotations = m.labels, m.annotations
		w.setPlain(m)
		r.owners = append(r.owners, w)
		return nil
	}
}

// setPlain sets what an owner of pods has of its metadata and of its pods.
func (w *workload) setPlain(m *meta) {
	p := &w.podSets[0].pod
	w.meta, w.class, w.podClass, w.priority = *m, p.priorityClass, true, p.priority
}

// isPlain reports whether nothing of Kueue is there, so that quotas of namespaces and the default scheduler decide.
func (o *Objects) isPlain() bool {
	return len(o.queues)+len(o.localQueues)+len(o.workloads)+len(o.jobs) == 0 && len(o.owners) > 0
}

// flavorOf names the kind of a node: its GPU product, else its instance type.
func flavorOf(n *kueue.Node) string {
	return cmp.Or(n.Labels["nvidia.com/gpu.product"], n.Labels["node.kubernetes.io/instance-type"], "nodes")
}

// plainRules fills the world with the nodes: each kind of node is a flavor, each namespace a queue that may use all.
func (b *builder) plainRules() error {
	if len(b.nodes) == 0 {
		return &capcli.InputError{Field: "Node", Text: "the objects have no Node that takes pods", Hint: "give the nodes too: kubectl get nodes,resourcequotas,priorityclasses,jobs,deployments,pods -A -o json"}
	}
	w := &b.out.World
	w.Nodes, w.Config.EvictTime = b.nodes, b.o.EvictTime
	sums := map[string]map[string]int64{}
	resources := map[string]bool{}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		kind := flavorOf(n)
		if sums[kind] == nil {
			sums[kind] = map[string]int64{}
		}
		for r, v := range n.Capacity {
			sums[kind][r] = min(sums[kind][r]+v, maxAmount)
			resources[r] = true
		}
	}
	all := kueue.ResourceGroup{Resources: slices.Sorted(maps.Keys(resources))}
	use := kueue.ResourceGroup{Resources: all.Resources}
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		w.Flavors = append(w.Flavors, kueue.Flavor{Name: kind})
		has, none := map[string]kueue.Quota{}, map[string]kueue.Quota{}
		for r, v := range sums[kind] {
			has[r], none[r] = kueue.Quota{Nominal: v}, kueue.Quota{}
		}
		all.Flavors = append(all.Flavors, kueue.FlavorQuotas{Flavor: kind, Quota: has})
		use.Flavors = append(use.Flavors, kueue.FlavorQuotas{Flavor: kind, Quota: none})
	}
	w.Cohorts = []kueue.Cohort{{Name: "nodes", ResourceGroups: []kueue.ResourceGroup{all}}}
	seen := map[string]bool{}
	for _, x := range b.owners {
		if !seen[x.namespace] {
			seen[x.namespace] = true
			w.ClusterQueues = append(w.ClusterQueues, kueue.ClusterQueue{Name: x.namespace, ResourceGroups: []kueue.ResourceGroup{use}})
		}
	}
	slices.SortFunc(w.ClusterQueues, func(x, y kueue.ClusterQueue) int { return strings.Compare(x.Name, y.Name) })
	b.addQuotas()
	return nil
}

// buildPlain makes a world on which the default scheduler and quota admission decide.
func (b *builder) buildPlain() (*Cluster, error) {
	if b.o.Current {
		return nil, &capcli.RequestError{Field: "current", Text: "wants Workloads of Kueue, and the objects have none", Hint: "leave it out: the past is replayed from the first creation on"}
	}
	if err := b.plainRules(); err != nil {
		return nil, err
	}
	all := slices.Clone(b.owners)
	if err := b.findNow(all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y *workload) int {
		return cmp.Or(cmp.Compare(x.created, y.created), strings.Compare(x.kind, y.kind), strings.Compare(x.id(), y.id()))
	})
	b.out.Start = all[0].created
	b.out.Plain = &pods.World{Nodes: b.out.World.Nodes, EvictTime: b.o.EvictTime}
	for _, q := range b.quotas {
		b.out.Plain.Quotas = append(b.out.Plain.Quotas, pods.Quota{Namespace: q.namespace, Name: q.name, Hard: b.hard(q), Scope: q.scope})
	}
	for _, w := range all {
		if why := b.addPlain(w); why != "" {
			b.out.Unqueued = append(b.out.Unqueued, Unqueued{w.id(), w.kind, why})
		}
	}
	if err := b.checkPlain(); err != nil {
		return nil, err
	}
	b.out.Notes = b.Notes()
	return b.out, nil
}

// addPlain adds an owner of pods. It returns why it creates none.
func (b *builder) addPlain(w *workload) string {
	p := &w.podSets[0].pod
	if s := p.schedulerName; s != "" && s != "default-scheduler" {
		return "its pods name the scheduler " + s
	}
	o := pods.Owner{
		ID: w.id(), Namespace: w.namespace, Kind: pods.Kind(w.kind), Arrival: capcli.Seconds(w.created - b.out.Start),
		Parallelism: w.parallel, Completions: w.completions, Failures: w.failures, Class: w.class,
		Pod: kueue.PodSet{Name: "main", Count: 1, Requests: p.requests(), NodeSelector: p.selector, Tolerations: p.tolerations, Affinity: p.affinity},
	}
	if w.inactive {
		return "it is suspended"
	}
	if o.Completions < 0 {
		o.Completions = o.Parallelism // it ends when all of its pods have
	}
	if w.spared {
		o.Failures = -1
	}
	if p.nodeName != "" {
		o.Pod.Affinity = onNode(o.Pod.Affinity, p.nodeName)
	}
	o.Class = cmp.Or(o.Class, b.podDefaultName)
	value, system := builtIn[o.Class]
	given, known := b.podClasses[o.Class]
	switch {
	case w.priority != nil:
		o.Priority = *w.priority
	case known:
		o.Priority = given
	case system:
		o.Priority = value
	case o.Class != "":
		return fmt.Sprintf("its PriorityClass %s is not given: its pods are rejected", o.Class)
	}
	o.Never = cmp.Or(p.preemption, b.podPolicies[o.Class]) == preemptNever
	if o.Kind != pods.Deployment {
		length, ok := b.duration(w)
		if !ok {
			b.unknown = append(b.unknown, w)
			return ""
		}
		if rounds := (o.Completions + max(1, o.Parallelism) - 1) / max(1, o.Parallelism); w.finished.isTrue() && w.annotations[durationAnnotation] == "" && rounds > 1 {
			length /= capcli.Seconds(rounds) // its pods ran one after another
		}
		o.Duration = length
	}
	b.out.Plain.Owners = append(b.out.Plain.Owners, o)
	b.out.tenants = append(b.out.tenants, w.tenant())
	return ""
}

// onNode returns an affinity that demands a node too.
func onNode(terms [][]kueue.Requirement, name string) [][]kueue.Requirement {
	if len(terms) == 0 {
		terms = [][]kueue.Requirement{nil}
	}
	out := make([][]kueue.Requirement, len(terms))
	for i := range terms {
		out[i] = append(slices.Clone(terms[i]), kueue.Requirement{Key: "kubernetes.io/hostname", Op: "In", Values: []string{name}})
	}
	return out
}

// checkPlain fails if nothing says how long pods last, or if none is left.
func (b *builder) checkPlain() error {
	if n := len(b.unknown); n > 0 {
		return b.unknown[0].fault("metadata.annotations."+durationAnnotation,
			fmt.Sprintf("nothing says how long the pods of %s last%s", b.unknown[0].id(), othersText(n-1, "other")),
			"give the annotation "+durationAnnotation+" (such as 2h30m), a --trace with job_id namespace/name and the run time, or --duration for all that say nothing")
	}
	if len(b.out.Plain.Owners) == 0 {
		return &capcli.InputError{Field: "Job", Text: "nothing is left that creates pods" + reasonText(b.out.Unqueued), Hint: "give Jobs, Deployments or Pods"}
	}
	var work float64
	for _, o := range b.out.Plain.Owners {
		count := max(1, o.Completions, o.Parallelism)
		for _, r := range slices.Sorted(maps.Keys(o.Pod.Requests)) {
			if o.Pod.Requests[r] > maxAmount/count {
				return &capcli.InputError{Field: o.ID, Text: "its pods ask for more " + r + " than can be counted", Hint: "is the request wrong?"}
			}
			if IsGPU(r) {
				work += float64(o.Pod.Requests[r]) * float64(count) * float64(o.Duration)
			}
		}
	}
	if work > maxGPUSeconds {
		return &capcli.InputError{Field: "Job", Text: "the pods ask for more GPU time than can be counted", Hint: "is one of the counts, requests or lengths wrong?"}
	}
	return nil
}

func reasonText(list []Unqueued) string {
	if len(list) == 0 {
		return ""
	}
	return ": " + list[0].ID + ": " + list[0].Reason
}
