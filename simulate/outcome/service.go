package outcome

import (
	"capcli"
	"capcli/simulate"
)

// Service is the figures of one service: replicas that hold GPUs beside the jobs.
type Service struct {
	Name   string `json:"service"`
	Tenant string `json:"tenant"`

	Requests int64          `json:"requests"` // that arrived: served + backlog at the end
	Served   int64          `json:"served"`
	Late     int64          `json:"late"` // served after more steps than allowed, or not by the end
	Backlog  int64          `json:"backlog"`
	Steps    int            `json:"steps"`
	Step     capcli.Seconds `json:"step_s"`
	Capacity int64          `json:"requests_per_replica_step"` // that a ready replica serves in a step

	ReplicasMax  int            `json:"replicas_max"`  // most that served at once
	ReplicasMean float64        `json:"replicas_mean"` // that served, over the steps
	Changes      int            `json:"changes"`       // steps whose wanted number differs from that of the step before
	Lost         int64          `json:"replicas_lost"` // with their nodes
	Held         capcli.GPUTime `json:"gpu_hours"`
	Pools        []ServicePool  `json:"pools"`
	Missing      capcli.GPUTime `json:"missing_gpu_hours"` // of replicas that were wanted and had no room
	Displaced    int64          `json:"jobs_displaced"`    // times that a job lost its GPUs to a replica
	Repeated     capcli.GPUTime `json:"work_repeated_gpu_hours"`

	Cost       *capcli.USD `json:"cost_usd"`              // Direct, and its share of what nobody held
	Direct     *capcli.USD `json:"direct_usd"`            // for what its replicas held
	PerRequest *capcli.USD `json:"per_1000_requests_usd"` // served
}

// ServicePool is what the replicas of a service held of a pool.
type ServicePool struct {
	Pool string         `json:"pool"`
	Held capcli.GPUTime `json:"gpu_hours"`
}

// ServiceOf returns the figures of a service that follow from its run alone.
func ServiceOf(r *simulate.ServiceRun, s *simulate.Service, rec *simulate.Record, end capcli.Seconds) Service {
	out := Service{
		Name: r.Name, Tenant: s.Tenant, Requests: r.Requests, Served: r.Served, Late: r.Late, Backlog: r.Backlog,
		Steps: len(r.Steps), Step: r.Length, Capacity: s.PerReplica, Changes: r.Changes, Lost: r.Lost, Held: r.Held, Missing: r.Missing,
		Displaced: r.Displaced, Repeated: r.Repeated, Pools: []ServicePool{},
	}
	ready := int64(0)
	for i := range r.Steps {
		out.ReplicasMax = max(out.ReplicasMax, r.Steps[i].Ready)
		ready += int64(r.Steps[i].Ready)
	}
	if len(r.Steps) > 0 {
		out.ReplicasMean = float64(ready) / float64(len(r.Steps))
	}
	milli := int64(s.GPUs) * 1000
	if s.GPUMilli > 0 {
		milli = int64(s.GPUMilli)
	}
	held := make([]capcli.GPUTime, len(rec.Pools))
	for i := range r.Replicas {
		held[r.Replicas[i].Pool] += capcli.GPUTime(milli * int64(r.Replicas[i].HeldFor(end)))
	}
	for p, h := range held {
		if h > 0 {
			out.Pools = append(out.Pools, ServicePool{rec.Pools[p].Name, h})
		}
	}
	return out
}

// SetCost sets the cost of the service: what its replicas held, and its share of what nobody held.
func (s *Service) SetCost(direct, share capcli.USD) {
	cost := direct + share
	s.Direct, s.Cost = &direct, &cost
	if s.Served > 0 {
		each := capcli.USDOf(cost.Float() * 1000 / float64(s.Served))
		s.PerRequest = &each
	}
}
