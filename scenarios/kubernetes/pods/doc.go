// Package pods decides as Kubernetes decides without a queueing system: which pods quota admission lets be created, in
// which order the default scheduler takes them, on which node each runs, and whom it preempts.
//
// What is held, and where it is from (documentation of Kubernetes 1.36):
//
//   - Resource Quotas: a pod is created if, in each ResourceQuota of its namespace whose scope matches, what pods use that have
//     not ended and what it requests is at most hard. A pod that states no request of cpu or memory is refused where a
//     quota limits that; of other resources it uses none. Scopes by PriorityClass are held, others are not.
//   - Jobs: a Job keeps parallelism pods, fewer where fewer completions are left, and each pod that succeeds is a completion.
//     Pods are created, and start, one by one: a Job may run with fewer pods than it wants, for as long as it takes. A pod
//     that is preempted is a failure: the Job creates another after a back-off of 10 s, 20 s, 40 s and so on up to six
//     minutes, and fails after more failures than backoffLimit.
//   - Deployments: a pod that is preempted is created again at once. They never end.
//   - Pod Priority and Preemption: waiting pods are tried by priority, higher first, then by when they were created. One that
//     fits nowhere holds nobody up. It preempts, unless its preemptionPolicy is Never: on a node on which it would fit without
//     the pods of lower priority, as few of these go as need be, those of higher priority and then those that run for longer
//     staying first. Of several nodes it takes that whose victim of the highest priority has the lowest; then that
//     with the least sum of the victims' priorities; then that with the fewest victims; then that whose victims of the highest priority
//     started last.
//   - Until its victims are gone, their node is reserved for the pod (nominatedNodeName) against pods of equal or lower priority.
//   - Of the nodes on which a pod fits (requests, node selector, required node affinity, taints) it takes the one with the most
//     free cpu and memory by share (scoring LeastAllocated, the default of NodeResourcesFit).
//
// Where chance or an undocumented detail decides, this does: equal nodes go by name. A refused creation is tried again
// after the back-off of failed pods. A replacement is created once its predecessor is gone. The scheduler's own back-off, of at most ten
// seconds, disruption budgets, other scores, and affinity and spreading between pods are not modelled.
package pods
