package profile

import (
	"cmp"
	"strings"
)

// dcgmLabels are the labels of a point of a dcgm-exporter that say which device it is about, who holds
// the device, and which box it is in.
//
// A Prometheus server adds labels of the target that it scrapes, among them the pod, namespace and
// container of the exporter itself. Without honor_labels it renames those of the exporter's page, which
// say who holds the GPU, to exported_pod and so on. A label that is empty on the page is not renamed:
// a free GPU then has the exporter's own pod for its pod.
type dcgmLabels struct {
	uuid     string
	instance string     // number of a MIG instance; "" is the whole GPU
	holder   dcgmHolder // by labels that only the exporter gives: exported_pod, pod_name, hpc_job
	plain    dcgmHolder // by the labels pod, namespace and container, which may be those of the exporter's pod
	mapped   bool       // the exporter knows who holds GPUs: a GPU without a holder is free
	exported bool       // the server renamed labels, so that plain is the exporter's pod

	hostname string // of the exporter: that of the box, or of the exporter's pod
	node     string // of Kubernetes
	address  string // of the target
	cluster  string
	job      string // of the server: the part of its configuration that has the target
}

// dcgmHolder is who holds a device, as labels say it.
type dcgmHolder struct{ pod, namespace, container, job string }

func (l *dcgmLabels) read(p *point) {
	*l = dcgmLabels{}
	for i := range p.labels {
		l.take(p.labels[i].name, p.labels[i].value)
	}
	if l.holder.pod != "" {
		l.holder.namespace = cmp.Or(l.holder.namespace, l.plain.namespace)
		l.holder.container = cmp.Or(l.holder.container, l.plain.container)
		l.plain = dcgmHolder{}
	}
}

// take takes one label. Of two labels for one thing that of the exporter counts, not that of a target
// which passed it on.
func (l *dcgmLabels) take(name, value string) {
	switch name {
	case "UUID":
		l.uuid = value
	case "uuid", "gpu_uuid":
		l.uuid = cmp.Or(l.uuid, value)
	case "GPU_I_ID":
		l.instance = value
	case "exported_pod":
		l.holder.pod, l.mapped, l.exported = value, true, true
	case "pod_name":
		l.holder.pod, l.mapped = cmp.Or(l.holder.pod, value), true
	case "exported_namespace":
		l.holder.namespace, l.exported = value, true
	case "pod_namespace":
		l.holder.namespace = cmp.Or(l.holder.namespace, value)
	case "exported_container":
		l.holder.container, l.exported = value, true
	case "container_name":
		l.holder.container = cmp.Or(l.holder.container, value)
	case "hpc_job":
		l.holder.job, l.mapped = value, true
	case "pod":
		l.plain.pod, l.mapped = value, l.mapped || value == "" // a server drops empty labels: the page is the exporter's
	case "namespace":
		l.plain.namespace = value
	case "container":
		l.plain.container = value
	default:
		l.takePlace(name, value)
	}
}

// takePlace takes a label that says where the exporter is.
func (l *dcgmLabels) takePlace(name, value string) {
	switch name {
	case "Hostname", "hostname":
		l.hostname = cmp.Or(l.hostname, value)
	case "node", "kubernetes_node", "node_name", "kubernetes_node_name", "exported_node":
		l.node = cmp.Or(l.node, value)
	case "exported_instance":
		l.address = value
	case "instance":
		l.address = cmp.Or(l.address, value)
	case "exported_job":
		l.job = value
	case "job":
		l.job = cmp.Or(l.job, value)
	case "cluster":
		l.cluster = value
	default:
	}
}

// exporterName is in the names of the pods and containers in which NVIDIA's charts run the exporter.
const exporterName = "dcgm-exporter"

// isExporters reports whether a pod and its container are those of the exporter itself, as far as the
// names say.
func (l *dcgmLabels) isExporters(pod, container string) bool {
	return pod == l.hostname || strings.Contains(pod, exporterName) || strings.Contains(container, exporterName)
}

// settle decides who holds the device: plain does where it is not the exporter's own pod.
func (l *dcgmLabels) settle(own bool) {
	if l.plain.pod != "" && !own && !l.isExporters(l.plain.pod, l.plain.container) {
		job := l.holder.job
		l.holder, l.mapped = l.plain, true
		l.holder.job = job
	}
	if l.holder.pod != "" && l.isExporters(l.holder.pod, "") {
		l.holder = dcgmHolder{job: l.holder.job}
	}
	l.plain = dcgmHolder{}
}

// isSame reports whether two holders are one, of which one may be known less well.
func (h *dcgmHolder) isSame(o *dcgmHolder) bool {
	same := func(a, b string) bool { return a == b || a == "" || b == "" }
	return h.pod == o.pod && h.namespace == o.namespace && same(h.container, o.container) && same(h.job, o.job)
}

// box returns the name of the box, and whether it stays the same when the exporter is started again:
// the address of a pod and its name do not. own, unless nil, says that a name is that of an exporter's pod.
func (l *dcgmLabels) box(own func(pod string) bool) (name string, stays bool) {
	isPod := l.hostname != "" && (l.hostname == l.plain.pod || strings.Contains(l.hostname, exporterName) || own != nil && own(l.hostname))
	switch {
	case l.hostname != "" && !isPod:
		return l.hostname, true
	case l.node != "":
		return l.node, true
	default:
		return cmp.Or(l.hostname, l.address, "unknown"), false
	}
}
