package simulate

import "capcli"

// Service is a continuous holder of capacity: replicas that serve requests and never end by themselves.
// A replica holds the GPUs of one gang in the ledger of the run, as a job does, and is not counted as a
// job. A lead time is paid when a replica is added, never while it stays.
//
// Requests are fluid here: in steps of Length, as many as Load says arrive and each ready replica serves
// PerReplica. A Scaler decides at the end of each step. What each request then saw is worked out after the
// run from ServiceRun.Replicas: see simulate/serving.
type Service struct {
	Name      string
	Tenant    string // who pays
	GPUModel  string
	Partition string
	GPUs      int // of a replica
	GPUMilli  int // if > 0, a replica wants this many thousandths of one GPU, and GPUs is 1
	CPUMilli  int64
	MemMiB    int64
	Tags      *capcli.Tags
	Class     string // kind of work, for PriorityClass and RestartClass rules

	Pools []string // names of the pools that may hold replicas, in order of preference; nil is all, committed first

	Length     capcli.Seconds // of a step; 0 is a minute
	Load       []int64        // requests that arrive in each step from the run's start
	PerReplica int64          // requests that a ready replica serves in a step
	Late       int            // requests served more than so many steps after theirs are late
	Initial    int            // replicas that are ready when the run begins, as far as there is room
	Cold       capcli.Seconds // from holding GPUs to the first request
	Drain      capcli.Seconds // a ready replica that is taken back holds its GPUs for so long
	Scaler     NewScaler      // nil keeps Initial replicas
	Most       int            // replicas that Scaler or Initial ever wants at once; 0 is not known

	// Displaces says whether a replica without room in a pool takes the GPUs of running jobs there,
	// before it looks at the next pool: see PreemptRules.
	Displaces bool
	Spares    int // jobs of this priority or a higher one keep their GPUs; 0 spares none
}

// ServiceRun is what became of a service.
type ServiceRun struct {
	Name      string
	Length    capcli.Seconds
	Steps     []ServiceStep
	Replicas  []ReplicaSpan // in order of order, then number
	Requests  int64         // that arrived: served + backlog at the end
	Served    int64
	Late      int64          // of Requests: served late, or not by the end
	Backlog   int64          // at the end
	Changes   int            // steps whose desired number differs from that of the step before
	Missing   capcli.GPUTime // GPU time of replicas that were wanted and found no room
	Displaced int64          // times that a job lost its GPUs to a replica
	Lost      int64          // replicas that lost their GPUs
	Repeated  capcli.GPUTime // work that displaced jobs have to do again
	Held      capcli.GPUTime // GPU time of the replicas, draining ones included; part of Record
	Payer     int            // number of its tags: see Record.Payers; 0 is none
}

// ServiceStep is one step of a service.
type ServiceStep struct {
	Load    int64 `json:"load"`
	Ready   int   `json:"ready"`   // replicas that served
	Loading int   `json:"loading"` // replicas that hold or have ordered GPUs and are not ready
	Missing int   `json:"missing"` // replicas wanted without room
	Served  int64 `json:"served"`
	Backlog int64 `json:"backlog"`
	Desired int   `json:"desired"` // of the scaler, for the next step
}

// ReplicaSpan is the life of one replica. Times are since the run's start; -1 is never.
type ReplicaSpan struct {
	Pool    int            // index in Record.Pools
	Ordered capcli.Seconds // when it asked for GPUs
	Held    capcli.Seconds // from when it held them, lead time over
	Ready   capcli.Seconds // from when it served
	Drain   capcli.Seconds // when the scaler took it back
	Down    capcli.Seconds // when its node was lost or its GPUs were taken
	Ended   capcli.Seconds // when its GPUs were free again
}

// HeldFor returns how long the replica held its GPUs in a run that ended at a time.
func (r *ReplicaSpan) HeldFor(end capcli.Seconds) capcli.Seconds {
	switch {
	case r.Held < 0:
		return 0
	case r.Ended >= 0:
		end = r.Ended
	}
	return max(0, end-r.Held)
}

// Milli returns the capacity of a replica in thousandths of GPUs.
func (s *Service) Milli() int64 {
	if s.GPUMilli > 0 {
		return int64(s.GPUMilli)
	}
	return int64(s.GPUs) * 1000
}
