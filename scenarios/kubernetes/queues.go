package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
	"capcli/scenarios/strict"
)

type clusterQueue struct {
	meta
	kueue.ClusterQueue
	selects *selector // of namespaces; nil is none at all
	stop    string
}

type cohort struct {
	meta
	kueue.Cohort
}

type flavor struct {
	meta
	kueue.Flavor
	price capcli.USD // of a GPU-hour; below 0 is not known
}

type topology struct {
	meta
	kueue.Topology
}

type localQueue struct {
	meta
	clusterQueue string
	stop         string
}

// resourceQuota is a ResourceQuota of Kubernetes.
type resourceQuota struct {
	meta
	hard  map[string]capcli.Quantity
	scope []kueue.Requirement // of the PriorityClass of pods
}

// resourceGroups reads the quotas of a queue or a cohort.
func resourceGroups(to *[]kueue.ResourceGroup) strict.Reader {
	return list(to, "resource groups", func(g *kueue.ResourceGroup) strict.Reader {
		return func(d *strict.Decoder, n *yaml.Node) {
			object("resourceGroups",
				field("coveredResources", textList(&g.Resources, "resources")),
				field("flavors", list(&g.Flavors, "flavors", flavorQuotas)))(d, n)
			for _, f := range g.Flavors {
				for _, r := range g.Resources {
					if _, ok := f.Quota[r]; !ok {
						d.Fault(n, "the flavor %s has no quota of %s, which coveredResources names", f.Flavor, r)
					}
				}
				if len(f.Quota) > len(g.Resources) {
					d.Fault(n, "the flavor %s has quotas of resources that coveredResources does not name", f.Flavor)
				}
			}
		}
	})
}

func flavorQuotas(f *kueue.FlavorQuotas) strict.Reader {
	type row struct {
		name                        string
		nominal, borrowing, lending *capcli.Quantity
	}
	var rows []row
	read := object("flavors", field("name", text(&f.Flavor)), field("resources", list(&rows, "resources", func(x *row) strict.Reader {
		return object("resources", field("name", text(&x.name)), field("nominalQuota", pointer(&x.nominal, quantity)),
			field("borrowingLimit", pointer(&x.borrowing, quantity)), field("lendingLimit", pointer(&x.lending, quantity)))
	})))
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		f.Quota = map[string]kueue.Quota{}
		for _, x := range rows {
			limit := func(q *capcli.Quantity) *int64 {
				if q == nil {
					return nil
				}
				v := units(x.name, *q)
				return &v
			}
			q := kueue.Quota{Borrowing: limit(x.borrowing), Lending: limit(x.lending)}
			if nominal := limit(x.nominal); nominal != nil {
				q.Nominal = *nominal
			}
			if q.Nominal > maxAmount || q.Borrowing != nil && *q.Borrowing > maxAmount || q.Lending != nil && *q.Lending > maxAmount {
				d.Fault(n, "the quota of %s is too large to be counted", x.name)
			}
			if _, twice := f.Quota[x.name]; twice {
				d.Fault(n, "the quota of %s is given twice", x.name)
			}
			f.Quota[x.name] = q
		}
	}
}

// maxAmount is the largest amount of a resource. Sums of many stay below 2^63.
const maxAmount = 1 << 55

func fairWeight(to **float64) strict.Reader {
	return object("fairSharing", field("weight", func(d *strict.Decoder, n *yaml.Node) {
		var q capcli.Quantity
		before := d.FaultCount()
		if quantity(&q)(d, n); d.FaultCount() == before {
			v := q.Float()
			*to = &v
		}
	}))
}

// The words of whenCanBorrow and whenCanPreempt; v1beta1 has others for the first.
var stopWords = []string{"MayStopSearch", "TryNextFlavor", "Borrow=MayStopSearch", "Preempt=MayStopSearch"}

func readClusterQueue(r *reader, n *yaml.Node, m *meta) func() error {
	q := &clusterQueue{ClusterQueue: kueue.ClusterQueue{
		Strategy: "BestEffortFIFO", WhenCanBorrow: "MayStopSearch", WhenCanPreempt: "TryNextFlavor",
		Preemption: kueue.Preemption{WithinQueue: kueue.NeverPreempt, Reclaim: kueue.NeverPreempt},
	}, stop: "None"}
	p := &q.Preemption
	r.readObject(n, m, "ClusterQueue", field("status", skip), field("spec", object("spec",
		field("resourceGroups", resourceGroups(&q.ResourceGroups)),
		field("cohort", text(&q.Cohort)), field("cohortName", text(&q.Cohort)),
		field("queueingStrategy", choice(&q.Strategy, "StrictFIFO", "BestEffortFIFO")),
		field("namespaceSelector", pointer(&q.selects, readSelector)),
		field("flavorFungibility", object("flavorFungibility",
			field("whenCanBorrow", choice(&q.WhenCanBorrow, stopWords...)), field("whenCanPreempt", choice(&q.WhenCanPreempt, stopWords...)),
			field("preference", choice(&q.Preference, "BorrowingOverPreemption", "PreemptionOverBorrowing")))),
		field("preemption", object("preemption",
			field("reclaimWithinCohort", choice(&p.Reclaim, "Never", "LowerPriority", "Any")),
			field("withinClusterQueue", choice(&p.WithinQueue, "Never", "LowerPriority", "LowerOrNewerEqualPriority")),
			field("borrowWithinCohort", object("borrowWithinCohort",
				field("policy", choice(&p.Borrow, "Never", "LowerPriority")),
				field("maxPriorityThreshold", pointer(&p.MostPriority, integer)))))),
		field("fairSharing", fairWeight(&q.Weight)),
		field("stopPolicy", choice(&q.stop, "None", "Hold", "HoldAndDrain")),
		r.unmodelled("admissionChecks", "admission checks are not modelled: each counts as passed at once"),
		r.unmodelled("admissionChecksStrategy", "admission checks are not modelled: each counts as passed at once"),
		r.unmodelled("admissionScope", "admission fair sharing is not modelled: ClusterQueues order by priority and time alone"),
		r.unmodelled("concurrentAdmissionPolicy", "concurrent admission is not modelled: a Workload tries its flavors one after another"),
	)))
	return func() error {
		q.meta, q.Name = *m, m.name
		if q.Preemption.Borrow == kueue.NeverPreempt {
			q.Preemption.Borrow = ""
		}
		r.queues = append(r.queues, q)
		return nil
	}
}

func readCohort(r *reader, n *yaml.Node, m *meta) func() error {
	c := &cohort{}
	r.readObject(n, m, "Cohort", field("status", skip), field("spec", object("spec",
		field("parent", text(&c.Parent)), field("parentName", text(&c.Parent)),
		field("resourceGroups", resourceGroups(&c.ResourceGroups)), field("fairSharing", fairWeight(&c.Weight)))))
	return func() error {
		c.meta, c.Name = *m, m.name
		r.cohorts = append(r.cohorts, c)
		return nil
	}
}

// priceAnnotation is the price of a GPU-hour of a flavor, in dollars.
const priceAnnotation = "capcli/price"

func readFlavor(r *reader, n *yaml.Node, m *meta) func() error {
	f := &flavor{price: -1}
	r.readObject(n, m, "ResourceFlavor", field("spec", object("spec",
		field("nodeLabels", texts(&f.NodeLabels)), field("nodeTaints", taints(&f.Taints)),
		field("tolerations", tolerations(&f.Tolerations)), field("topologyName", text(&f.Topology)))))
	return func() error {
		f.meta, f.Name = *m, m.name
		if s, ok := m.annotations[priceAnnotation]; ok {
			v, err := capcli.ParseUSD(strings.TrimPrefix(strings.TrimSpace(s), "$"))
			if err != nil || v < 0 {
				return m.fault("metadata.annotations."+priceAnnotation, "want dollars for a GPU-hour such as 2.50, found "+capcli.Quoted(s), "mend the annotation or leave it out")
			}
			f.price = v
		}
		r.flavors = append(r.flavors, f)
		return nil
	}
}

func readTopology(r *reader, n *yaml.Node, m *meta) func() error {
	t := &topology{}
	r.readObject(n, m, "Topology", field("spec", object("spec", field("levels", list(&t.Levels, "levels", func(s *string) strict.Reader {
		return object("levels", field("nodeLabel", text(s)))
	})))))
	return func() error {
		t.meta, t.Name = *m, m.name
		if len(t.Levels) == 0 {
			return m.fault("spec.levels", "a Topology has at least one level", "name the node labels, the widest first")
		}
		r.topologies = append(r.topologies, t)
		return nil
	}
}

func readLocalQueue(r *reader, n *yaml.Node, m *meta) func() error {
	q := &localQueue{stop: "None"}
	r.readObject(n, m, "LocalQueue", field("status", skip), field("spec", object("spec",
		field("clusterQueue", text(&q.clusterQueue)), field("stopPolicy", choice(&q.stop, "None", "Hold", "HoldAndDrain")),
		r.unmodelled("fairSharing", "admission fair sharing is not modelled: weights of LocalQueues decide nothing"))))
	return func() error {
		q.meta = *m
		r.localQueues = append(r.localQueues, q)
		return nil
	}
}

func readPriorityClass(r *reader, n *yaml.Node, m *meta) func() error {
	var v int64
	r.readObject(n, m, "WorkloadPriorityClass", field("value", integer(&v)), field("description", skip))
	return func() error {
		r.classes[m.name] = v
		return nil
	}
}

func readPodPriorityClass(r *reader, n *yaml.Node, m *meta) func() error {
	var v int64
	global := false
	policy := preemptLower
	r.readObject(n, m, "PriorityClass", field("value", integer(&v)), field("globalDefault", strict.Bool(&global)), field("description", skip),
		field("preemptionPolicy", choice(&policy, preemptLower, preemptNever)))
	return func() error {
		r.podClasses[m.name] = v
		r.podPolicies[m.name] = policy
		if global {
			r.podDefault, r.podDefaultName = v, m.name
		}
		return nil
	}
}

func readNamespace(r *reader, n *yaml.Node, m *meta) func() error {
	r.readObject(n, m, "Namespace", field("spec", skip), field("status", skip))
	return func() error {
		r.namespaces[m.name] = m.labels
		return nil
	}
}

func readResourceQuota(r *reader, n *yaml.Node, m *meta) func() error {
	q := &resourceQuota{}
	type term struct {
		scope string
		what  kueue.Requirement
	}
	var terms []term
	var scopes []string
	r.readObject(n, m, "ResourceQuota", field("status", skip), field("spec", object("spec",
		field("hard", amounts(&q.hard)), field("scopes", textList(&scopes, "scopes")),
		field("scopeSelector", object("scopeSelector", field("matchExpressions", list(&terms, "expressions", func(t *term) strict.Reader {
			return object("expression", field("scopeName", text(&t.scope)),
				field("operator", choice(&t.what.Op, "In", "NotIn", "Exists", "DoesNotExist")), field("values", textList(&t.what.Values, "values")))
		})))))))
	return func() error {
		q.meta = *m
		for _, s := range scopes {
			terms = append(terms, term{s, kueue.Requirement{Op: "Exists"}})
		}
		for _, t := range terms {
			if t.scope != pods.ClassKey {
				r.note("a ResourceQuota with scopes other than PriorityClass is not looked at")
				return nil
			}
			t.what.Key = pods.ClassKey
			q.scope = append(q.scope, t.what)
		}
		r.quotas = append(r.quotas, q)
		return nil
	}
}

func readNode(r *reader, n *yaml.Node, m *meta) func() error {
	var node kueue.Node
	var capacity, allocatable map[string]capcli.Quantity
	var cordoned bool
	type condition struct{ kind, status string }
	var conditions []condition
	r.readObject(n, m, "Node",
		field("spec", object("spec", slices.Concat([]strict.Field{field("taints", taints(&node.Taints)), field("unschedulable", strict.Bool(&cordoned))},
			skipped("podCIDR podCIDRs providerID configSource externalID"))...)),
		field("status", func(d *strict.Decoder, n *yaml.Node) {
			for name, read := range map[string]strict.Reader{"capacity": amounts(&capacity), "allocatable": amounts(&allocatable)} {
				if c := strict.Child(n, name); c != nil {
					read(d, c)
				}
			}
			if c := strict.Child(n, "conditions"); c != nil {
				for _, x := range c.Content {
					conditions = append(conditions, condition{childText(x, "type"), childText(x, "status")})
				}
			}
		}))
	return func() error {
		ready := !slices.ContainsFunc(conditions, func(c condition) bool { return c.kind == "Ready" && c.status != "True" })
		if cordoned || !ready {
			r.note("nodes that are cordoned or not ready take no pods")
			return nil
		}
		if allocatable == nil {
			allocatable = capacity
		}
		node.Labels = m.labels
		if node.Labels["kubernetes.io/hostname"] == "" {
			labels := map[string]string{"kubernetes.io/hostname": m.name}
			for k, v := range m.labels {
				labels[k] = v
			}
			node.Labels = labels
		}
		node.Capacity = map[string]int64{}
		for name, q := range allocatable {
			node.Capacity[name] = min(units(name, q), maxAmount)
		}
		r.nodes = append(r.nodes, node)
		return nil
	}
}

// checkFlavors fails if a queue or a cohort names a flavor or a topology that is not given.
func (o *Objects) checkFlavors() error {
	named := func(m *meta, groups []kueue.ResourceGroup) error {
		for _, g := range groups {
			for _, f := range g.Flavors {
				if !slices.ContainsFunc(o.flavors, func(x *flavor) bool { return x.name == f.Flavor }) {
					return m.fault("spec.resourceGroups", fmt.Sprintf("%s names the ResourceFlavor %s, which is not given", m.name, capcli.Quoted(f.Flavor)), "give the ResourceFlavor too, or mend its name")
				}
			}
		}
		return nil
	}
	for _, q := range o.queues {
		if err := named(&q.meta, q.ResourceGroups); err != nil {
			return err
		}
	}
	for _, c := range o.cohorts {
		if err := named(&c.meta, c.ResourceGroups); err != nil {
			return err
		}
	}
	for _, f := range o.flavors {
		if f.Topology != "" && !slices.ContainsFunc(o.topologies, func(t *topology) bool { return t.name == f.Topology }) {
			return f.fault("spec.topologyName", fmt.Sprintf("the Topology %s is not given", capcli.Quoted(f.Topology)), "give the Topology too, or mend its name")
		}
	}
	return nil
}
