package kubernetes

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/strict"
)

// container is what a container asks for.
type container struct {
	requests, limits map[string]capcli.Quantity
	sidecar          bool // an init container that goes on running
}

// pod is what decides of a pod's template.
type pod struct {
	labels, annotations     map[string]string
	containers, first       []container // first are the init containers
	overhead                map[string]capcli.Quantity
	level                   container // requests of the pod as a whole, which replace those of its containers
	selector                map[string]string
	tolerations             []kueue.Toleration
	affinity                [][]kueue.Requirement
	priorityClass           string
	priority                *int64
	nodeName, schedulerName string
	preemption              string // preemptionPolicy; "" is that of its class
}

const podFields = `volumes ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy
	serviceAccountName serviceAccount automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace
	securityContext imagePullSecrets hostname subdomain hostAliases dnsConfig readinessGates runtimeClassName
	enableServiceLinks topologySpreadConstraints setHostnameAsFQDN os hostUsers schedulingGates
	hostnameOverride workloadRef schedulingGroup`

const containerFields = `name image command args workingDir ports envFrom env resizePolicy restartPolicyRules volumeMounts
	volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy
	imagePullPolicy securityContext stdin stdinOnce tty`

func (r *reader) podTemplate(p *pod) strict.Reader {
	var m meta
	read := object("template", field("metadata", metadata(&m)), field("spec", r.podSpec(p, "template.spec")))
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		p.labels, p.annotations = m.labels, m.annotations
	}
}

func (r *reader) podSpec(p *pod, name string) strict.Reader {
	return object(name, slices.Concat([]strict.Field{
		field("containers", list(&p.containers, "containers", r.container)), field("initContainers", list(&p.first, "containers", r.container)),
		field("nodeSelector", texts(&p.selector)), field("tolerations", tolerations(&p.tolerations)), field("overhead", amounts(&p.overhead)),
		field("resources", r.resources(&p.level)), field("affinity", r.affinity(&p.affinity)),
		field("priorityClassName", text(&p.priorityClass)), field("priority", pointer(&p.priority, integer)),
		field("nodeName", text(&p.nodeName)), field("schedulerName", text(&p.schedulerName)), field("preemptionPolicy", text(&p.preemption)),
		r.unmodelled("resourceClaims", "resource claims (DRA) are not modelled: they take no quota"),
	}, skipped(podFields))...)
}

func (r *reader) container(c *container) strict.Reader {
	restart := ""
	read := object("containers", slices.Concat([]strict.Field{field("resources", r.resources(c)), field("restartPolicy", text(&restart))}, skipped(containerFields))...)
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		c.sidecar = restart == "Always"
	}
}

func (r *reader) resources(c *container) strict.Reader {
	return object("resources", field("requests", amounts(&c.requests)), field("limits", amounts(&c.limits)),
		r.unmodelled("claims", "resource claims (DRA) are not modelled: they take no quota"))
}

// affinity reads the demands of an affinity that must hold.
func (r *reader) affinity(to *[][]kueue.Requirement) strict.Reader {
	term := func(t *[]kueue.Requirement) strict.Reader {
		return object("nodeSelectorTerms", field("matchExpressions", list(t, "expressions", requirement)), field("matchFields", skip))
	}
	return object("affinity", field("podAffinity", skip), field("podAntiAffinity", skip), field("nodeAffinity", object("nodeAffinity",
		field("preferredDuringSchedulingIgnoredDuringExecution", skip),
		field("requiredDuringSchedulingIgnoredDuringExecution", object("nodeAffinity", field("nodeSelectorTerms", list(to, "terms", term)))))))
}

// ask is what the container requests; where it states only a limit, that.
func (c *container) ask() map[string]capcli.Quantity {
	out := map[string]capcli.Quantity{}
	for name, q := range c.limits {
		out[name] = q
	}
	for name, q := range c.requests {
		out[name] = q
	}
	return out
}

// requests returns what one pod requests, in the units of Kueue: the sum of its containers and
// sidecars, or what an init container needs beside the sidecars before it, whichever is more, and the
// overhead (Kubernetes documentation, "Init Containers", "Sidecar Containers", "Pod Overhead").
func (p *pod) requests() map[string]int64 {
	sum, most, sidecars := map[string]int64{}, map[string]int64{}, map[string]int64{}
	add := func(to map[string]int64, c *container) {
		for name, q := range c.ask() {
			to[name] = min(to[name]+min(units(name, q), maxAmount), maxAmount)
		}
	}
	for i := range p.containers {
		add(sum, &p.containers[i])
	}
	for i := range p.first {
		c := &p.first[i]
		if c.sidecar {
			add(sum, c)
			add(sidecars, c)
			continue
		}
		for name, q := range c.ask() {
			most[name] = max(most[name], min(units(name, q), maxAmount)+sidecars[name])
		}
	}
	for name, v := range most {
		sum[name] = max(sum[name], v)
	}
	for name, q := range p.level.ask() {
		sum[name] = min(units(name, q), maxAmount)
	}
	for name, q := range p.overhead {
		sum[name] += min(units(name, q), maxAmount)
	}
	return sum
}
