// Package kubernetes reads the objects by which Kueue decides, as manifests or as kubectl prints
// them, and makes a kueue.World of them: ClusterQueue, Cohort, ResourceFlavor, LocalQueue, Topology,
// WorkloadPriorityClass, Workload and Kueue's Configuration, and Kubernetes' own Node, Namespace,
// PriorityClass, ResourceQuota and Job.
//
// Reading is strict: an unknown field is a fault that names its file, line and field. What is known
// but not modelled is said in Objects.Notes. Defaults are those of Kueue 0.19.
//
// Sources: the API references of Kueue (v1beta1, v1beta2 and its Configuration) and of Kubernetes.
package kubernetes
