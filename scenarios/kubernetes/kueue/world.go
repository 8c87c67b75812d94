package kueue

import (
	"cmp"

	"capcli"
)

// World is a cluster that Kueue manages: quotas, the rules of preemption and the
// workloads that arrive. Quantities are whole numbers in a unit that is the same throughout,
// as Kueue counts: thousandths of CPUs, and whole units of any other resource.
type World struct {
	Config        Config         `json:"config"`
	Flavors       []Flavor       `json:"flavors"`
	Topologies    []Topology     `json:"topologies,omitempty"`
	Nodes         []Node         `json:"nodes,omitempty"`
	Cohorts       []Cohort       `json:"cohorts,omitempty"`
	ClusterQueues []ClusterQueue `json:"cluster_queues"`
	Workloads     []Workload     `json:"workloads"`
}

// Config is what Kueue's Configuration says for the whole cluster.
type Config struct {
	FairSharing bool           `json:"fair_sharing"`
	Strategies  []string       `json:"preemption_strategies,omitempty"` // of fair sharing; none: both, the final share first
	EvictTime   capcli.Seconds `json:"evict_seconds"`                   // from preemption until the pods are gone
}

// The strategies of fair sharing: when a workload may preempt one of a queue
// with another share.
const (
	FinalShare   = "LessThanOrEqualToFinalShare"
	InitialShare = "LessThanInitialShare"
)

// Flavor is a kind of node.
type Flavor struct {
	Name        string            `json:"name"`
	NodeLabels  map[string]string `json:"node_labels,omitempty"`
	Taints      []Taint           `json:"taints,omitempty"`
	Tolerations []Toleration      `json:"tolerations,omitempty"` // added to those of its pods
	Topology    string            `json:"topology,omitempty"`    // name of the topology by which its pods are placed; "" is none
}

// Topology is the labels that make the domains of hosts.
type Topology struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"` // labels, the widest domain first
}

// hostLabel is the label of a single host.
const hostLabel = "kubernetes.io/hostname"

// Node is a host.
type Node struct {
	Labels   map[string]string `json:"labels"`
	Taints   []Taint           `json:"taints,omitempty"`
	Capacity map[string]int64  `json:"capacity"`
}

// Taint keeps pods away that do not tolerate it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"` // PreferNoSchedule keeps nobody away
}

// Toleration is taints that pods tolerate. A Key of "" is all; an Effect of "" is any.
type Toleration struct {
	Key    string `json:"key,omitempty"`
	Exists bool   `json:"exists,omitempty"` // any value
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect,omitempty"`
}

// Requirement is what pods demand of a label of their node (node affinity).
type Requirement struct {
	Key    string   `json:"key"`
	Op     string   `json:"op"` // In, NotIn, Exists, DoesNotExist, Gt or Lt
	Values []string `json:"values,omitempty"`
}

// Quota is what a queue or a cohort owns of one resource in one flavor.
type Quota struct {
	Nominal   int64  `json:"nominal"`
	Borrowing *int64 `json:"borrowing_limit,omitempty"` // most above Nominal; nil is no limit
	Lending   *int64 `json:"lending_limit,omitempty"`   // most that others may use; nil is no limit
}

// FlavorQuotas are the quotas of a flavor, by resource.
type FlavorQuotas struct {
	Flavor string           `json:"flavor"`
	Quota  map[string]Quota `json:"quota"`
}

// ResourceGroup is resources that a workload gets in the same flavor.
type ResourceGroup struct {
	Resources []string       `json:"resources"`
	Flavors   []FlavorQuotas `json:"flavors"` // in the order in which they are tried
}

// Cohort is queues and cohorts that lend to one another.
type Cohort struct {
	Name           string          `json:"name"`
	Parent         string          `json:"parent,omitempty"`
	Weight         *float64        `json:"weight,omitempty,string"` // nil is 1
	ResourceGroups []ResourceGroup `json:"resource_groups,omitempty"`
}

// ClusterQueue is a queue with quotas.
type ClusterQueue struct {
	Name           string          `json:"name"`
	Cohort         string          `json:"cohort,omitempty"`
	Strategy       string          `json:"queueing_strategy"`       // StrictFIFO or BestEffortFIFO
	Weight         *float64        `json:"weight,omitempty,string"` // nil is 1
	Preemption     Preemption      `json:"preemption"`
	WhenCanBorrow  string          `json:"when_can_borrow"`  // MayStopSearch or TryNextFlavor
	WhenCanPreempt string          `json:"when_can_preempt"` // the same
	Preference     string          `json:"preference,omitempty"`
	ResourceGroups []ResourceGroup `json:"resource_groups"`
}

// The values of a queue's settings that change what is decided.
const (
	StrictFIFO              = "StrictFIFO"
	TryNextFlavor           = "TryNextFlavor"
	PreemptionOverBorrowing = "PreemptionOverBorrowing"

	LowerPriority             = "LowerPriority"
	LowerOrNewerEqualPriority = "LowerOrNewerEqualPriority"
	AnyPriority               = "Any"
	NeverPreempt              = "Never"
)

// Preemption says whom a queue's workloads may preempt.
type Preemption struct {
	WithinQueue  string `json:"within_cluster_queue"`
	Reclaim      string `json:"reclaim_within_cohort"`
	Borrow       string `json:"borrow_within_cohort,omitempty"` // "" and Never are none
	MostPriority *int64 `json:"max_priority_threshold,omitempty"`
}

// Workload is a gang of pods that starts together.
type Workload struct {
	ID       string         `json:"id"`
	UID      string         `json:"uid,omitempty"` // breaks ties; "" is ID
	Queue    string         `json:"queue"`
	Arrival  capcli.Seconds `json:"arrival"`
	Duration capcli.Seconds `json:"duration"` // from its last admission
	Priority int64          `json:"priority"`
	PodSets  []PodSet       `json:"pod_sets"`
	Holds    *Holding       `json:"holds,omitempty"` // what it holds when the run begins; nil if it waits
}

// Holding is what a workload holds at time 0, before the first decision.
type Holding struct {
	Since   capcli.Seconds               `json:"since"`   // of its admission, 0 or less
	Flavors map[string]map[string]string `json:"flavors"` // by pod set and resource
	Counts  map[string]int64             `json:"counts,omitempty"`
	Domains map[string][]Domain          `json:"domains,omitempty"`
}

// tieName is the name by which ties are broken.
func (w *Workload) tieName() string { return cmp.Or(w.UID, w.ID) }

// PodSet is equal pods.
type PodSet struct {
	Name         string            `json:"name"`
	Count        int64             `json:"count"`
	MinCount     int64             `json:"min_count,omitempty"` // 0 is Count: all or none
	Requests     map[string]int64  `json:"requests"`            // of one pod
	NodeSelector map[string]string `json:"node_selector,omitempty"`
	Tolerations  []Toleration      `json:"tolerations,omitempty"`
	Affinity     [][]Requirement   `json:"affinity,omitempty"` // one of these terms must hold; none is no demand
	Topology     *PodTopology      `json:"topology,omitempty"`
}

// PodTopology says how near to one another pods must be. One field is set.
type PodTopology struct {
	Required      string `json:"required,omitempty"`
	Preferred     string `json:"preferred,omitempty"`
	Unconstrained string `json:"unconstrained,omitempty"`
}
