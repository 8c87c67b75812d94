package kueue

import "capcli"

// Result is what was decided, in order.
type Result struct {
	Decisions []Decision  `json:"decisions"`
	Steps     []Step      `json:"steps"`
	Jobs      []JobResult `json:"jobs"`
	Livelock  *Livelock   `json:"livelock,omitempty"`

	Ended capcli.Seconds `json:"ended"` // the last instant
}

// The events of a decision, in the order in which those of one cycle are listed.
const (
	Finish  = "finish"
	Release = "release"
	Admit   = "admit"
	Preempt = "preempt"
)

// Decision is one thing that was decided or came about.
type Decision struct {
	At       capcli.Seconds               `json:"t"`
	Cycle    int                          `json:"cycle"` // within the instant, from 1; 0 is before the first
	Event    string                       `json:"event"`
	Workload string                       `json:"workload"`
	Flavors  map[string]map[string]string `json:"flavors,omitempty"` // by pod set and resource
	Counts   map[string]int64             `json:"counts,omitempty"`  // by pod set, where fewer pods than asked for start
	Domains  map[string][]Domain          `json:"domains,omitempty"` // by pod set, where they are placed on hosts
	By       string                       `json:"by,omitempty"`
	Reason   string                       `json:"reason,omitempty"`
}

// Domain is a host and the pods placed on it.
type Domain struct {
	Values []string `json:"values"`
	Count  int64    `json:"count"`
}

// Step is the cluster at an instant at which something happened, once it settled.
type Step struct {
	At           capcli.Seconds              `json:"t"`
	Cycles       int                         `json:"cycles"` // up to the last that changed something
	Pending      map[string][]string         `json:"pending"`
	Used         map[string]map[string]int64 `json:"used"` // by queue and flavor/resource
	Shares       map[string]float64          `json:"shares,omitempty"`
	CohortShares map[string]float64          `json:"cohort_shares,omitempty"`
}

// JobResult is what became of a workload. An instant of -1 is none.
type JobResult struct {
	ID          string         `json:"id"`
	State       string         `json:"state"` // finished, running or pending
	FirstStart  capcli.Seconds `json:"first_start"`
	Start       capcli.Seconds `json:"start"` // of the last run
	End         capcli.Seconds `json:"end"`
	Preemptions int            `json:"preemptions"`
	Why         string         `json:"why,omitempty"`        // why it is pending
	Impossible  bool           `json:"impossible,omitempty"` // it can never start
}

// The states of a workload at the end of a run.
const (
	Finished = "finished"
	Running  = "running"
	Pending  = "pending"
)

// Livelock is an instant at which the cycles never end.
type Livelock struct {
	At        capcli.Seconds `json:"t"`
	Workloads []string       `json:"workloads"` // those that are admitted, preempted or preempt in the last cycles
}
