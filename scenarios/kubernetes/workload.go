package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/strict"
)

// workload is a Workload, or the one that Kueue would make of a Job.
type workload struct {
	meta
	queue    string // LocalQueue
	priority *int64
	class    string // name of its priority class, "" is none
	podClass bool   // whether class is a PriorityClass
	podSets  []*podSet
	inactive bool
	most     int64 // longest that it may run in seconds; 0 is without limit

	kind                  string // of what creates its pods, without Kueue: Job, Deployment or Pod
	parallel, completions int64  // of a Job, as it says; completions below 0 are not stated
	failures              int64  // backoffLimit
	spared                bool   // preemptions are no failures (podFailurePolicy)

	reserved, admitted, finished condition
	evicted                      condition
	admission                    *admission
}

// podSet is the pods of a workload that are equal.
type podSet struct {
	name       string
	count, min int64 // min 0 is count
	pod        pod
	topology   kueue.PodTopology
}

// condition is a condition of an object's status.
type condition struct {
	kind, status, reason string
	at                   capcli.Time
}

func (c *condition) isTrue() bool { return c.status == "True" }

// admission is what a workload holds, or held to its end.
type admission struct {
	queue string
	sets  []assigned
}

type assigned struct {
	name    string
	flavors map[string]string
	count   *int64
	domains []kueue.Domain
}

func conditions(to *[]condition) strict.Reader {
	return list(to, "conditions", func(c *condition) strict.Reader {
		c.at = capcli.NoTime
		return object("conditions", slices.Concat([]strict.Field{
			field("type", text(&c.kind)), field("status", text(&c.status)), field("reason", text(&c.reason)), field("lastTransitionTime", instant(&c.at)),
		}, skipped("message observedGeneration lastProbeTime"))...)
	})
}

func readWorkload(r *reader, n *yaml.Node, m *meta) func() error {
	w := &workload{}
	active := true
	var ref struct{ group, kind, name string }
	var source string
	var states []condition
	r.readObject(n, m, "Workload",
		field("spec", object("spec",
			field("podSets", list(&w.podSets, "pod sets", r.podSet)), field("queueName", text(&w.queue)),
			field("priority", pointer(&w.priority, integer)), field("active", strict.Bool(&active)),
			field("priorityClassRef", object("priorityClassRef", field("group", text(&ref.group)), field("kind", text(&ref.kind)), field("name", text(&ref.name)))),
			field("priorityClassName", text(&ref.name)), field("priorityClassSource", text(&source)),
			field("maximumExecutionTimeSeconds", strict.Integer(&w.most, 0, maxDuration)),
			r.unmodelled("preemptionGates", "preemption gates are not modelled: they count as open"))),
		field("status", object("status", slices.Concat([]strict.Field{
			field("conditions", conditions(&states)), field("admission", pointer(&w.admission, readAdmission)),
		}, skipped(`requeueState reclaimablePods admissionChecks resourceRequests accumulatedPastExecutionTimeSeconds
			accumulatedPastExexcutionTimeSeconds schedulingStats nominatedClusterNames clusterName unhealthyNodes preemptionGates`))...)))
	return func() error {
		w.meta, w.class, w.inactive = *m, ref.name, !active
		w.podClass = ref.kind == "PriorityClass" || source == "scheduling.k8s.io/priorityclass"
		for _, c := range states {
			switch c.kind {
			case "QuotaReserved":
				w.reserved = c
			case "Admitted":
				w.admitted = c
			case "Evicted":
				w.evicted = c
			case "Finished":
				w.finished = c
			}
		}
		if err := w.check(); err != nil {
			return err
		}
		r.workloads = append(r.workloads, w)
		return nil
	}
}

// check fails if no pods are asked for.
func (w *workload) check() error {
	if len(w.podSets) == 0 {
		return w.fault("spec.podSets", "a Workload has at least one pod set", "give spec.podSets")
	}
	names := map[string]bool{}
	for _, p := range w.podSets {
		if names[p.name] {
			return w.fault("spec.podSets", fmt.Sprintf("two pod sets are called %s", capcli.Quoted(p.name)), "give each a name of its own")
		}
		names[p.name] = true
		if p.min > p.count {
			return w.fault("spec.podSets", fmt.Sprintf("minCount is %d, and count %d", p.min, p.count), "minCount is at most count")
		}
	}
	return nil
}

// maxPods is the most pods of a pod set.
const maxPods = 1_000_000

func (r *reader) podSet(to **podSet) strict.Reader {
	p := &podSet{name: "main", count: 1}
	*to = p
	unconstrained := false
	slices := "slices and groups of pod sets are not modelled: pods are placed as if each stood for itself"
	read := object("podSets",
		field("name", text(&p.name)), field("count", strict.Integer(&p.count, 0, maxPods)), field("minCount", strict.Integer(&p.min, 0, maxPods)),
		field("template", r.podTemplate(&p.pod)),
		field("topologyRequest", object("topologyRequest",
			field("required", text(&p.topology.Required)), field("preferred", text(&p.topology.Preferred)), field("unconstrained", strict.Bool(&unconstrained)),
			field("podIndexLabel", skip), field("subGroupIndexLabel", skip), field("subGroupCount", skip),
			r.unmodelled("podSetGroupName", slices), r.unmodelled("podSetSliceRequiredTopology", slices),
			r.unmodelled("podSetSliceSize", slices), r.unmodelled("podsetSliceRequiredTopologyConstraints", slices))))
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		if unconstrained {
			p.topology.Unconstrained = "true"
		}
	}
}

func readAdmission(a *admission) strict.Reader {
	return object("admission", field("clusterQueue", text(&a.queue)), field("podSetAssignments", list(&a.sets, "assignments", func(s *assigned) strict.Reader {
		return object("podSetAssignments", field("name", text(&s.name)), field("flavors", texts(&s.flavors)), field("resourceUsage", skip),
			field("count", pointer(&s.count, integer)), field("delayedTopologyRequest", skip), field("topologyAssignment", topologyAssignment(&s.domains)))
	})))
}

// topologyAssignment reads the hosts of v1beta1, one by one, or of v1beta2, compressed.
func topologyAssignment(to *[]kueue.Domain) strict.Reader {
	type part struct {
		prefix, suffix string
		roots          []string
		universal      *string
	}
	type slice struct {
		domains   int64
		levels    []part
		universal *int64
		each      []int64
	}
	var slicesRead []slice
	read := object("topologyAssignment", field("levels", skip),
		field("domains", list(to, "domains", func(x *kueue.Domain) strict.Reader {
			return object("domains", field("values", textList(&x.Values, "values")), field("count", strict.Integer(&x.Count, 0, maxPods)))
		})),
		field("slices", list(&slicesRead, "slices", func(s *slice) strict.Reader {
			return object("slices", field("domainCount", strict.Integer(&s.domains, 0, maxPods)),
				field("valuesPerLevel", list(&s.levels, "levels", func(p *part) strict.Reader {
					return object("valuesPerLevel", field("universal", pointer(&p.universal, text)), field("individual", object("individual",
						field("prefix", text(&p.prefix)), field("suffix", text(&p.suffix)), field("roots", textList(&p.roots, "roots")))))
				})),
				field("podCounts", object("podCounts", field("universal", pointer(&s.universal, integer)),
					field("individual", list(&s.each, "counts", integer)))))
		})))
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		for _, s := range slicesRead {
			if int64(len(*to))+s.domains > maxPods {
				d.Fault(n, "over %d domains", maxPods)
				return
			}
			for i := range int(s.domains) {
				var x kueue.Domain
				for _, l := range s.levels {
					switch {
					case l.universal != nil:
						x.Values = append(x.Values, *l.universal)
					case i < len(l.roots):
						x.Values = append(x.Values, l.prefix+l.roots[i]+l.suffix)
					}
				}
				switch {
				case s.universal != nil:
					x.Count = *s.universal
				case i < len(s.each):
					x.Count = s.each[i]
				}
				*to = append(*to, x)
			}
		}
	}
}

const (
	queueLabel       = kueueGroup + "/queue-name"
	classLabel       = kueueGroup + "/priority-class"
	minParallelism   = kueueGroup + "/job-min-parallelism"
	requiredTopology = kueueGroup + "/podset-required-topology"
	preferTopology   = kueueGroup + "/podset-preferred-topology"
	anyTopology      = kueueGroup + "/podset-unconstrained-topology"
)

// readJob reads a Job as the Workload that Kueue makes of it.
func readJob(r *reader, n *yaml.Node, m *meta) func() error {
	parallel, completions := int64(1), int64(-1)
	w := &workload{kind: "Job", failures: 6, podSets: []*podSet{{name: "main"}}}
	p := w.podSets[0]
	var states []condition
	started, completed := capcli.NoTime, capcli.NoTime
	suspended := false
	r.readObject(n, m, "Job",
		field("spec", object("spec", slices.Concat([]strict.Field{
			field("parallelism", strict.Integer(&parallel, 0, maxPods)), field("completions", strict.Integer(&completions, 0, 1<<31)),
			field("template", r.podTemplate(&p.pod)), field("suspend", strict.Bool(&suspended)),
			field("backoffLimit", strict.Integer(&w.failures, 0, 1<<31)), field("podFailurePolicy", failurePolicy(&w.spared)),
		}, skipped(`activeDeadlineSeconds successPolicy backoffLimitPerIndex maxFailedIndexes selector
			manualSelector ttlSecondsAfterFinished completionMode podReplacementPolicy managedBy`))...)),
		field("status", object("status", slices.Concat([]strict.Field{
			field("conditions", conditions(&states)), field("startTime", instant(&started)), field("completionTime", instant(&completed)),
		}, skipped("active ready succeeded failed terminating completedIndexes failedIndexes uncountedTerminatedPods"))...)))
	return func() error {
		w.meta, w.queue = *m, m.labels[queueLabel]
		w.queue = cmp.Or(w.queue, m.annotations[queueLabel])
		w.parallel, w.completions = parallel, completions
		if w.queue == "" {
			w.class, w.podClass, w.priority, w.inactive = p.pod.priorityClass, true, p.pod.priority, suspended
			w.setJobState(started, completed, states)
			r.owners = append(r.owners, w)
			return nil
		}
		p.count = parallel
		if completions >= 0 {
			p.count = min(parallel, completions)
		}
		if s := m.annotations[minParallelism]; s != "" {
			v, err := strconv.ParseInt(s, 10, 32)
			if err != nil || v < 1 || v > p.count {
				return m.fault("metadata.annotations", fmt.Sprintf("%s wants a whole number from 1 to %d, found %s", minParallelism, p.count, capcli.Quoted(s)), "mend the annotation")
			}
			p.min = v
		}
		p.topology = kueue.PodTopology{Required: p.pod.annotations[requiredTopology], Preferred: p.pod.annotations[preferTopology], Unconstrained: p.pod.annotations[anyTopology]}
		if w.class = m.labels[classLabel]; w.class == "" {
			w.class, w.podClass, w.priority = p.pod.priorityClass, true, p.pod.priority
		}
		w.setJobState(started, completed, states)
		if err := w.check(); err != nil {
			return err
		}
		r.jobs = append(r.jobs, w)
		return nil
	}
}

// setJobState sets when the job of w started and ended, as the job's status says.
func (w *workload) setJobState(started, completed capcli.Time, states []condition) {
	if started.IsKnown() {
		w.admitted = condition{status: "True", at: started}
	}
	for _, c := range states {
		if (c.kind == "Complete" || c.kind == "Failed") && c.isTrue() {
			w.finished = c
		}
	}
	if completed.IsKnown() {
		w.finished = condition{status: "True", at: completed}
	}
}

// jobID returns the namespace and name of what owns the workload, or of itself.
func (w *workload) jobID() string {
	if w.owner.name != "" {
		return w.namespace + "/" + w.owner.name
	}
	return w.id()
}

// tenant returns who asked for w: its label team, else its namespace.
func (w *workload) tenant() string {
	for _, labels := range []map[string]string{w.labels, w.podSets[0].pod.labels} {
		if team := strings.TrimSpace(labels["team"]); team != "" {
			return team
		}
	}
	return w.namespace
}
