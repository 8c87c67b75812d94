package pods

import (
	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

// World is a cluster of nodes, and what creates pods in it. Quantities are whole numbers in the units of package kueue.
type World struct {
	Nodes     []kueue.Node   // each with the label kubernetes.io/hostname, which names it
	Quotas    []Quota        // ResourceQuotas
	Owners    []Owner        // Jobs, Deployments and single Pods
	EvictTime capcli.Seconds // from preemption until a pod is gone
}

// Quota is a ResourceQuota: what the pods of a namespace may request together.
type Quota struct {
	Namespace, Name string
	Hard            map[string]int64    // by resource; PodCount is the number of pods
	Scope           []kueue.Requirement // demands of the class of a pod, of the key ClassKey, which all must hold; none is all pods
}

const (
	// PodCount is the number of pods, as a resource.
	PodCount = "pods"
	// ClassKey is the key under which the scope of a quota sees the name of a pod's PriorityClass.
	ClassKey = "PriorityClass"
)

// Kind says what becomes of the pods of an owner.
type Kind string

// The kinds.
const (
	Job        Kind = "Job"        // Completions pods succeed, Parallelism of them at a time
	Deployment Kind = "Deployment" // Parallelism pods run for ever
	Pod        Kind = "Pod"        // one pod, which nothing creates again
)

// Owner creates equal pods.
type Owner struct {
	ID          string // namespace/name
	Namespace   string
	Kind        Kind
	Arrival     capcli.Seconds
	Duration    capcli.Seconds // of a pod from its start; not of a Deployment
	Parallelism int64
	Completions int64
	Failures    int64 // most preemptions before a Job fails (backoffLimit); below 0 is without limit
	Priority    int64
	Class       string // name of its PriorityClass; "" is none
	Never       bool   // it preempts nobody (preemptionPolicy)
	Pod         kueue.PodSet
	Holds       []Held // pods that run when the world begins
}

// Held is a pod that runs at time 0.
type Held struct {
	Node  string
	Since capcli.Seconds // of its start, 0 or less
}

// Start is a stay of a pod on a node.
type Start struct {
	Node  int // index in World.Nodes
	From  capcli.Seconds
	To    capcli.Seconds // when it is gone; below 0: it still runs
	Ended Ended
	At    capcli.Seconds // of its preemption
	By    [2]int         // who preempted it: index of its owner, and of the pod
}

// Ended says why a stay ended.
type Ended uint8

// The ways in which a stay ends.
const (
	Goes      Ended = iota // it still runs
	Succeeded              // its time was over
	Preempted              // for a pod of higher priority
	Killed                 // its Job failed
)

// PodResult is what became of a pod of an owner, over all that were created in its place.
type PodResult struct {
	Wanted  capcli.Seconds // when its owner first tried to create it; below 0 is never
	Created capcli.Seconds // when the quotas let it; below 0 is never
	Starts  []Start
	Why     string // why it does not run at the end; "" where it runs or has succeeded
	Never   bool   // it can never run in this world
}

// OwnerResult is what became of an owner.
type OwnerResult struct {
	Pods      []PodResult
	Most      int64          // most of its pods that ran at once
	All       capcli.Seconds // when Parallelism of them, or all that were left, first ran at once; below 0 is never
	Ended     capcli.Seconds // when the last completion came, or it failed; below 0 is not yet
	Failed    bool           // a Job with more preemptions than Failures
	Refused   int            // creations that quotas refused
	Partial   capcli.Seconds // time for which some of its pods ran, but fewer than it wanted
	Preempted int            // times that pods of it were preempted
}

// Result is what was decided.
type Result struct {
	Owners []OwnerResult // in the order of World.Owners
	Ended  capcli.Seconds
	Events []Event
}

// Happened is a kind of event.
type Happened string

// What happens to pods, in the order in which they are told at an instant.
const (
	Finishes Happened = "finish"
	Leaves   Happened = "release" // it is gone after its preemption
	Starts   Happened = "admit"
	Preempts Happened = "preempt" // it is told to leave
)

// Event is something that happened to a pod.
type Event struct {
	At         capcli.Seconds
	What       Happened
	Owner, Pod int
	Node       int
	By         [2]int // of Preempts
}
