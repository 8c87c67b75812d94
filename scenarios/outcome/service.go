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

	ReplicaHours float64  `json:"replica_hours"`                 // ready and loading
	BoundHours   *float64 `json:"bound_replica_hours,omitempty"` // least of any scaler that knows the load and lets nobody wait beyond a step; null where it cannot

	Latency // what requests saw

	Cost       *capcli.USD `json:"cost_usd"`                         // Direct, and its share of what nobody held
	Direct     *capcli.USD `json:"direct_usd"`                       // for what its replicas held
	PerRequest *capcli.USD `json:"per_1000_requests_usd"`            // answered
	PerMtok    *capcli.USD `json:"per_mtok_usd,omitempty"`           // cost over a million tokens of prompts and answers
	PerMtokOut *capcli.USD `json:"per_mtok_out_usd,omitempty"`       // all cost over a million tokens of answers
	PerMtokIn  *capcli.USD `json:"per_mtok_in_apart_usd,omitempty"`  // the prompts' part of the cost over a million of their tokens
	OutApart   *capcli.USD `json:"per_mtok_out_apart_usd,omitempty"` // the answers' part over a million of theirs
	PerUser    *capcli.USD `json:"per_user_usd,omitempty"`
	API        *API        `json:"api,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

// Latency is what requests saw. Times are seconds.
type Latency struct {
	Level string `json:"level"`               // requests: each was played; means: of each step, by an approximation; steps: only numbers are known
	Why   string `json:"level_why,omitempty"` // where it is not requests

	OK        *int64   `json:"requests_ok,omitempty"`       // answered in full
	Rejected  *int64   `json:"requests_rejected,omitempty"` // longer than the model or the cache takes
	Unserved  *int64   `json:"requests_unserved,omitempty"` // never answered in full
	TTFT      *Times   `json:"ttft_s,omitempty"`            // to the first token
	TPOT      *Times   `json:"tpot_s,omitempty"`            // of a token after the first
	E2E       *Times   `json:"e2e_s,omitempty"`             // to the last token
	Promise   *Promise `json:"promise,omitempty"`
	TokensIn  *float64 `json:"tokens_in,omitempty"` // of requests answered
	TokensOut *float64 `json:"tokens_out,omitempty"`
	Users     int      `json:"users,omitempty"`
	Holds     *float64 `json:"holds_share,omitempty"` // means: share of the requests in steps in which the approximation holds

	TokensPerGPU *float64 `json:"tokens_out_per_gpu_second,omitempty"`
	Goodput      *float64 `json:"goodput_per_second,omitempty"` // requests within the promise a second
	PromptShare  *float64 `json:"prompt_share,omitempty"`       // of the work, by which cost is divided between prompts and answers
}

// Times are a mean and percentiles, in seconds; a percentile p of n values is the ceil(p n / 100)-th
// smallest. Percentiles are null where only means are known.
type Times struct {
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
}

// Promise is what was promised to requests, in seconds, and how many it was kept for.
type Promise struct {
	TTFT   *float64 `json:"ttft_s,omitempty"`
	TPOT   *float64 `json:"tpot_s,omitempty"`
	E2E    *float64 `json:"e2e_s,omitempty"`
	Wanted float64  `json:"share_wanted"`
	Share  *float64 `json:"share"` // of all requests, those rejected or unserved included; null where only means are known
	Kept   *bool    `json:"kept"`
}

// API compares the service with a price for tokens.
type API struct {
	In      float64     `json:"in_usd_per_mtok"`
	Out     float64     `json:"out_usd_per_mtok"`
	Cost    capcli.USD  `json:"cost_usd"`       // of the same tokens at that price
	BreakAt *float64    `json:"break_even_use"` // times the tokens of the run from which the same replicas are cheaper than the price
	Dearer  *capcli.USD `json:"dearer_usd"`     // cost of the service less Cost; below 0 it saves
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
	ready, paid := int64(0), int64(0)
	for i := range r.Steps {
		x := &r.Steps[i]
		out.ReplicasMax = max(out.ReplicasMax, x.Ready)
		ready += int64(x.Ready)
		paid += int64(x.Ready + x.Loading)
	}
	out.ReplicaHours = float64(paid) * float64(r.Length) / 3600
	if len(r.Steps) > 0 {
		out.ReplicasMean = float64(ready) / float64(len(r.Steps))
	}
	held := make([]capcli.GPUTime, len(rec.Pools))
	for i := range r.Replicas {
		held[r.Replicas[i].Pool] += capcli.GPUTime(s.Milli() * int64(r.Replicas[i].HeldFor(end)))
	}
	for p, h := range held {
		if h > 0 {
			out.Pools = append(out.Pools, ServicePool{rec.Pools[p].Name, h})
		}
	}
	return out
}

// Slowest returns the 99th percentile, or the mean where only means are known; nil for no times.
func (t *Times) Slowest() *float64 {
	switch {
	case t == nil:
		return nil
	case t.P99 != nil:
		return t.P99
	}
	return t.Mean
}

// NotAnswered returns the requests that were rejected or not answered in full.
func (s *Service) NotAnswered() int64 {
	switch {
	case s.Unserved == nil:
		return s.Backlog
	case s.Rejected == nil:
		return *s.Unserved
	}
	return *s.Unserved + *s.Rejected
}

// LateShare returns the share of the requests that were served late, or not by the end; 0 without requests.
func (s *Service) LateShare() float64 {
	if s.Requests == 0 {
		return 0
	}
	return float64(s.Late) / float64(s.Requests)
}

// SetCost sets the cost of the service: what its replicas held, and its share of what nobody held.
func (s *Service) SetCost(direct, share capcli.USD) {
	cost := direct + share
	s.Direct, s.Cost = &direct, &cost
	per := func(part float64, n *float64) *capcli.USD {
		if n == nil || *n <= 0 {
			return nil
		}
		each := capcli.USDOf(cost.Float() * part / *n)
		return &each
	}
	served, users := float64(s.Served), float64(s.Users)
	if s.OK != nil {
		served = float64(*s.OK)
	}
	s.PerRequest, s.PerUser = per(1000, &served), per(1, &users)
	if s.TokensIn == nil || s.TokensOut == nil {
		return
	}
	both := *s.TokensIn + *s.TokensOut
	s.PerMtok, s.PerMtokOut = per(1e6, &both), per(1e6, s.TokensOut)
	if s.PromptShare != nil {
		s.PerMtokIn, s.OutApart = per(1e6**s.PromptShare, s.TokensIn), per(1e6*(1-*s.PromptShare), s.TokensOut)
	}
}

// CompareAPI compares the service with a price in US dollars for a million tokens of prompts and answers.
func (s *Service) CompareAPI(in, out float64) {
	if s.TokensIn == nil || s.TokensOut == nil {
		return
	}
	a := &API{In: in, Out: out, Cost: capcli.USDOf((in**s.TokensIn + out**s.TokensOut) / 1e6)}
	if s.Cost != nil {
		dearer := *s.Cost - a.Cost
		a.Dearer = &dearer
		if a.Cost > 0 {
			at := s.Cost.Float() / a.Cost.Float()
			a.BreakAt = &at
		}
	}
	s.API = a
}
