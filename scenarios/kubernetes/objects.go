package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/strict"
)

// Objects are the objects of a cluster that Read has read. Read may be called for several files.
type Objects struct {
	queues         []*clusterQueue
	cohorts        []*cohort
	flavors        []*flavor
	localQueues    []*localQueue
	topologies     []*topology
	classes        map[string]int64  // priorities of WorkloadPriorityClass, by name
	podClasses     map[string]int64  // priorities of PriorityClass
	podDefault     int64             // of the PriorityClass that is the global default
	podPolicies    map[string]string // preemptionPolicy of PriorityClass
	podDefaultName string
	owners         []*workload // what creates pods that are not Kueue's: Jobs, Deployments and Pods
	nodes          []kueue.Node
	namespaces     map[string]map[string]string // labels by name
	quotas         []*resourceQuota
	workloads      []*workload
	jobs           []*workload // Jobs, as the Workloads that Kueue would make of them
	config         configuration
	configured     string // file with the Configuration; "" is none

	seen  map[string]string // place of each object by kind and name
	notes map[string]int    // what is not modelled, and how often it came
	count int
}

// NewObjects returns an empty set.
func NewObjects() *Objects {
	return &Objects{classes: map[string]int64{}, podClasses: map[string]int64{}, podPolicies: map[string]string{}, namespaces: map[string]map[string]string{}, seen: map[string]string{}, notes: map[string]int{}}
}

// form describes a file of objects, for faults.
var form = strict.Form{Version: "v1", What: "Kubernetes objects", Template: "see docs/kubernetes.md"}

// reader reads the objects of one file.
type reader struct {
	*Objects
	file string
	d    *strict.Decoder
}

// Read adds the objects of a file: YAML of one or more documents, or JSON, each an object or a List.
// It fails with *capcli.InputError or with *strict.Faults, which is one too.
func (o *Objects) Read(file string, b []byte) error {
	r := &reader{Objects: o, file: file, d: &strict.Decoder{Form: &form}}
	docs, err := documents(r.d, file, b)
	if err != nil {
		return err
	}
	for _, n := range docs {
		if err := r.document(n, ""); err != nil {
			return err
		}
	}
	if r.d.FaultCount() > 0 {
		return r.d.Refusal(file, "the fields are those of Kueue 0.19 and Kubernetes 1.36")
	}
	return nil
}

// note counts something that is not modelled.
func (o *Objects) note(format string, args ...any) { o.notes[fmt.Sprintf(format, args...)]++ }

// Notes returns what was read but is not modelled, each once with how often it came.
func (o *Objects) Notes() []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(o.notes)) {
		if n := o.notes[text]; n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, text)
	}
	return out
}

func childText(n *yaml.Node, name string) string {
	if c := strict.Child(n, name); c != nil && c.Kind == yaml.ScalarNode {
		return c.Value
	}
	return ""
}

// document reads an object or a list of objects. of is the kind of the list's items, if it says so.
func (r *reader) document(n *yaml.Node, of string) error {
	version, kind := childText(n, "apiVersion"), childText(n, "kind")
	items := strict.Child(n, "items")
	if n.Kind == yaml.MappingNode && kind == "" && of != "" {
		kind, version, _ = strings.Cut(of, " ")
	}
	if n.Kind != yaml.MappingNode || kind == "" && items == nil {
		return &capcli.InputError{File: r.file, Line: n.Line, Field: "kind", Text: "a Kubernetes object has apiVersion, kind and metadata; this has no kind", Hint: "give objects as kubectl get … -o yaml prints them"}
	}
	if items != nil && (kind == "" || strings.HasSuffix(kind, "List")) {
		if items.Kind != yaml.SequenceNode {
			return &capcli.InputError{File: r.file, Line: items.Line, Field: "items", Text: "want a list of objects", Hint: "give objects as kubectl get … -o json prints them"}
		}
		item := ""
		if short := strings.TrimSuffix(kind, "List"); short != "" {
			item = short + " " + version
		}
		for _, c := range items.Content {
			if err := r.document(c, item); err != nil {
				return err
			}
		}
		return nil
	}
	if r.count++; r.count > maxObjects {
		return &capcli.InputError{File: r.file, Line: n.Line, Text: fmt.Sprintf("over %d objects", maxObjects), Hint: "leave out what is finished"}
	}
	return r.object(n, version, kind)
}

const kueueGroup = "kueue.x-k8s.io"

func (r *reader) object(n *yaml.Node, version, kind string) error {
	group, v, _ := strings.Cut(version, "/")
	if v == "" {
		group, v = "", version
	}
	read, known := kinds[group+" "+kind]
	switch {
	case !known && group == kueueGroup:
		r.note("%s is not modelled: it is left out", kind)
		return nil
	case !known:
		r.note("objects of kind %s decide nothing here: they are left out", kind)
		return nil
	case group == kueueGroup && v != "v1beta2" && v != "v1beta1" && (v != "v1alpha1" || kind != "Cohort" && kind != "Topology"):
		return &capcli.InputError{File: r.file, Line: n.Line, Field: "apiVersion", Text: fmt.Sprintf("%s of version %s is not known", kind, capcli.Quoted(v)), Hint: "known are kueue.x-k8s.io/v1beta1 and v1beta2, as Kueue 0.19 serves them"}
	}
	name := childText(strict.Child(n, "metadata"), "name")
	r.d.Enter(strings.TrimSpace(kind + " " + name))
	defer r.d.Leave()
	m := &meta{file: r.file, line: n.Line}
	before := r.d.FaultCount()
	add := read(r, n, m)
	if r.d.FaultCount() > before {
		return nil
	}
	if m.name == "" && kind != "Configuration" {
		r.d.Fault(n, "%s has no metadata.name", kind)
		return nil
	}
	if m.namespace == "" && namespaced[kind] {
		m.namespace = "default"
	}
	key := kind + " " + m.id()
	if first := r.seen[key]; first != "" && m.name != "" {
		return m.fault("metadata.name", fmt.Sprintf("%s %s is given twice, first at %s", kind, strings.TrimPrefix(m.id(), "/"), first), "leave one of them out")
	}
	r.seen[key] = fmt.Sprintf("%s:%d", r.file, n.Line)
	return add()
}

var namespaced = map[string]bool{"LocalQueue": true, "Workload": true, "Job": true, "ResourceQuota": true, "ConfigMap": true, "Deployment": true, "Pod": true}

// kindReader reads the fields of an object. It returns what to do with it once it has no fault.
type kindReader func(r *reader, n *yaml.Node, m *meta) (add func() error)

// kinds are the kinds that are read, by group and kind.
var kinds map[string]kindReader

func init() {
	kinds = map[string]kindReader{
		kueueGroup + " ClusterQueue": readClusterQueue, kueueGroup + " Cohort": readCohort, kueueGroup + " ResourceFlavor": readFlavor,
		kueueGroup + " LocalQueue": readLocalQueue, kueueGroup + " Topology": readTopology, kueueGroup + " WorkloadPriorityClass": readPriorityClass,
		kueueGroup + " Workload": readWorkload, "config.kueue.x-k8s.io Configuration": readConfiguration,
		" Node": readNode, " Namespace": readNamespace, " ResourceQuota": readResourceQuota, " ConfigMap": readConfigMap,
		"batch Job": readJob, "scheduling.k8s.io PriorityClass": readPodPriorityClass,
		"apps Deployment": readDeployment, " Pod": readPod,
	}
}

// readObject reads the fields that every object has, and these.
func (r *reader) readObject(n *yaml.Node, m *meta, kind string, fields ...strict.Field) {
	r.d.ReadObject(n, kind, slices.Concat([]strict.Field{field("apiVersion", skip), field("kind", skip), field("metadata", metadata(m))}, fields))
}

// unmodelled reads a field of which it is only said that it is not modelled.
func (r *reader) unmodelled(name, text string) strict.Field {
	return field(name, func(_ *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode || len(n.Content) > 0 {
			r.note("%s", text)
		}
	})
}
