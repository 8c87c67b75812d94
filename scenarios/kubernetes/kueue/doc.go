// Package kueue decides as Kueue decides: which workload is admitted when, on
// which flavor, whom it preempts and why, and who waits in which order. It
// follows the rules of Kueue 0.19 as its documentation and enhancement proposals
// state them: quotas in a tree of cohorts with limits of borrowing and lending,
// fungible flavors, preemption within a queue and within a cohort, fair sharing
// by dominant resource share, strict and best-effort queues, partial admission,
// time to evict, and placement by topology.
//
// Sources: Kueue's concepts (ClusterQueue, Cohort, Preemption, Fair Sharing,
// Workload) and its enhancement proposals 79, 83, 420, 582, 1224, 1337, 1714,
// 2724 and 9694.
package kueue
