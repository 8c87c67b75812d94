// Package joblog reads the history that a Kubernetes cluster can tell: what kubectl get workloads,jobs,pods
// -A -o json or -o yaml prints, watch streams, and exports of events. It derives one row for each job, and the
// runs of jobs that Kueue admitted and evicted. It also registers the trace format kubernetes.
//
// The rules follow Kueue's API (Workload, v1beta1 and v1beta2) and the Kubernetes API (Job, Pod, Event):
//
//   - A job is what owns a Workload, else the Workload itself, else a Job that Kueue does not manage.
//   - Its start is the last change of the condition Admitted to True; earlier runs are in
//     status.accumulatedPastExecutionTimeSeconds, and one by one only in events or a watch stream.
//   - Its GPUs are those of the assignment, else pods times what a pod asks for.
package joblog
