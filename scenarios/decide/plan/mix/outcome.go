package mix

import (
	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// Outcome is the result of one candidate in one run. It depends on the inputs, the candidate's
// number and the run's number alone. Its JSON is what a shard of a sweep writes; money in it is
// exact, and fields are added, never renamed.
type Outcome struct {
	Candidate int    `json:"candidate"`
	Run       int    `json:"run"`
	Seed      uint64 `json:"seed"`

	Jobs            int64          `json:"jobs"`
	Finished        int64          `json:"finished"`
	Waiting         int64          `json:"waiting"`
	Starting        int64          `json:"starting"` // jobs whose GPUs are ordered and not there yet
	Running         int64          `json:"running"`
	Unplaceable     int64          `json:"unplaceable"`
	Preemptions     int64          `json:"preemptions"`
	DeadlineMisses  int64          `json:"deadline_misses"`
	Dropped         int64          `json:"dropped,omitempty"`
	HeldBack        int64          `json:"held_back,omitempty"` // of Waiting, by a quota, a cap or a budget
	Tardiness       capcli.Seconds `json:"tardiness_s,omitempty"`
	Length          capcli.Seconds `json:"length_s"`
	Start           capcli.Time    `json:"start,omitempty"` // of the run, where its use on demand may be covered by commitments
	WaitMean        float64        `json:"wait_mean_s"`
	WaitP50         capcli.Seconds `json:"wait_p50_s"`
	WaitP95         capcli.Seconds `json:"wait_p95_s"`
	WaitP99         capcli.Seconds `json:"wait_p99_s"`
	WaitMax         capcli.Seconds `json:"wait_max_s"` // WaitMax and the percentiles are lower bounds where they fall among jobs that never started
	WaitJobs        int64          `json:"wait_jobs"`
	WaitStarted     int64          `json:"wait_started"` // of WaitJobs, those that started
	QueueTime       float64        `json:"queue_time_mean_s"`
	JCTMean         float64        `json:"jct_mean_s"`
	BoundedSlowdown float64        `json:"bounded_slowdown_mean"`
	Makespan        capcli.Seconds `json:"makespan_s"`
	QueueMax        int64          `json:"queue_max_jobs"`
	QueueMean       float64        `json:"queue_mean_jobs"`
	Availability    *float64       `json:"availability"` // see simulate.Result.Availability

	Fairness outcome.Fairness `json:"fairness"`

	Possible       GPUMillis   `json:"possible_gpu_ms"` // see simulate.Served
	Served         GPUMillis   `json:"served_gpu_ms"`
	Backlog        GPUMillis   `json:"backlog_gpu_ms"` // of jobs that wait at the end or can never run
	UnservedAmount *capcli.USD `json:"unserved_usd"`   // at the on-demand price; nil where unknown
	BacklogAmount  *capcli.USD `json:"backlog_usd"`

	Fault           string      `json:"fault,omitempty"` // why the run has no price; "" where it has one
	Priced          bool        `json:"priced"`          // every pool has a price; if false, the amounts below are of the other pools
	Cost            capcli.USD  `json:"cost_usd"`
	Penalty         capcli.USD  `json:"unserved_in_cost_usd,omitempty"` // part of Cost: unserved work, where the problem prices it
	WaitCost        capcli.USD  `json:"waits_usd,omitempty"`            // what the waits count, where the problem prices them; no part of Cost
	Committed       capcli.USD  `json:"committed_usd"`
	OnDemand        capcli.USD  `json:"on_demand_usd"`
	Spot            capcli.USD  `json:"spot_usd"`
	Equivalent      *capcli.USD `json:"on_demand_equivalent_usd"`
	Savings         *float64    `json:"effective_savings_rate"`
	StrandedIdle    capcli.USD  `json:"stranded_idle_usd"`
	StrandedBlocked capcli.USD  `json:"stranded_blocked_usd"`
	StrandedDown    capcli.USD  `json:"stranded_down_usd"`

	Time          Capacity  `json:"time"`      // of all pools
	Held          Capacity  `json:"committed"` // of the committed pools
	Redone        GPUMillis `json:"redone_gpu_ms"`
	Fragmentation float64   `json:"fragmentation_gpus_mean"`
	Pools         []Pool    `json:"pools"`

	Services []outcome.Service `json:"services,omitempty"`
}

// Capacity divides GPU time by its use: offered = used + idle + blocked + down.
type Capacity struct {
	Offered GPUMillis `json:"offered_gpu_ms"`
	Used    GPUMillis `json:"used_gpu_ms"`
	Idle    GPUMillis `json:"idle_gpu_ms"`
	Blocked GPUMillis `json:"blocked_gpu_ms"`
	Down    GPUMillis `json:"down_gpu_ms"`
}

// GPUMillis is GPU time in thousandths of a GPU-second. Its JSON is that whole number, so that what
// a shard writes is read back exactly; capcli.GPUTime is written in GPU-hours for people.
type GPUMillis int64

// Hours returns m in GPU-hours.
func (m GPUMillis) Hours() float64 { return capcli.GPUTime(m).Hours() }

// Pool is the part of one pool: the GPU time that its price is charged on, and its cost.
type Pool struct {
	Name    string     `json:"pool"`
	Charged GPUMillis  `json:"charged_gpu_ms"` // offered, of committed capacity; billed to jobs, of other pools
	Used    GPUMillis  `json:"used_gpu_ms"`
	Cost    capcli.USD `json:"cost_usd"`

	// Of a pool whose use commitments may cover: what is billed in each clock hour of the run, the part of it that
	// whole machines add, and the GPUs of a billing unit.
	ByHour []GPUMillis `json:"billed_by_hour_gpu_ms,omitempty"`
	Spare  GPUMillis   `json:"rounding_gpu_ms,omitempty"`
	Unit   int64       `json:"unit_gpus,omitempty"`
}

// newOutcome combines a run and its invoice. within is the longest wait that counts as available;
// priced reports whether all pools have a price.
func newOutcome(candidate, run int, seed capcli.Seed, ran *simulated, inv *billing.Invoice, within capcli.Seconds, priced bool) Outcome {
	res := ran.Result
	j, committed := &res.Jobs, &inv.ByTier[billing.Committed]
	o := Outcome{
		Candidate: candidate, Run: run, Seed: uint64(seed),
		Jobs: j.Read, Finished: j.Finished, Waiting: j.Waiting, Starting: j.Starting, Running: j.Running, Unplaceable: j.Unplaceable,
		Preemptions: j.Preemptions, DeadlineMisses: j.Misses, Dropped: j.Dropped, HeldBack: j.Held, Tardiness: j.Tardiness, Length: res.Ended,
		WaitMean: res.Wait.Mean, WaitP50: res.Wait.P50, WaitP95: res.Wait.P95, WaitP99: res.Wait.P99, WaitMax: res.Wait.Max,
		WaitJobs: res.Wait.Jobs, WaitStarted: res.Wait.Started, QueueTime: res.MeanQueueTime, JCTMean: res.MeanJCT, BoundedSlowdown: res.BoundedSlowdown, Makespan: res.Makespan,
		QueueMax: res.QueueMax, QueueMean: res.QueueMean,
		Priced: priced, Cost: inv.Total.Cost, Committed: committed.Cost,
		OnDemand: inv.ByTier[billing.OnDemand].Cost, Spot: inv.ByTier[billing.Spot].Cost,
		StrandedIdle: committed.Idle, StrandedBlocked: committed.Blocked, StrandedDown: committed.Down,
		Time: capacityOf(&inv.Total.Time), Held: capacityOf(&committed.Time),
		Redone: GPUMillis(res.Redone), Fragmentation: res.Fragmentation,
	}
	o.Fairness = outcome.FairnessOf(res.Tenants, inv.TenantUse())
	o.Availability = ran.availability(within)
	o.Possible, o.Served, o.Backlog = GPUMillis(res.Served.Possible), GPUMillis(res.Served.Done), GPUMillis(res.Served.LeftOver())
	if w, ok := inv.Worth(res.Record, res.ServedBy, res.Record.Start+capcli.Time(res.Ended)); ok {
		o.UnservedAmount, o.BacklogAmount = &w.Unserved, &w.LeftOver
	}
	if inv.Total.Unlisted == 0 {
		o.Equivalent = &inv.Total.Equivalent
	}
	if rate, ok := inv.Total.SavingsRate(); ok && priced {
		o.Savings = &rate
	}
	for p := range res.Record.Pools {
		l := &inv.ByPool[p]
		charged := l.Billed
		if res.Record.Pools[p].Terms.Committed() {
			charged = l.Time.Offered
		}
		o.Pools = append(o.Pools, Pool{
			Name: res.Record.Pools[p].Name, Charged: GPUMillis(charged), Used: GPUMillis(l.Time.Used), Cost: l.Cost,
		})
	}
	return o
}

// unservedWork returns the work that could have been done by the end and was not.
func (o *Outcome) unservedWork() GPUMillis { return o.Possible - o.Served }

// UnservedShare returns the unserved work over the possible work, 0 to 1.
func (o *Outcome) UnservedShare() float64 {
	return (&simulate.Served{Possible: capcli.GPUTime(o.Possible), Done: capcli.GPUTime(o.Served)}).UnservedShare()
}

func capacityOf(s *simulate.Span) Capacity {
	return Capacity{GPUMillis(s.Offered), GPUMillis(s.Used), GPUMillis(s.Idle), GPUMillis(s.Blocked), GPUMillis(s.Down)}
}

func (c *Capacity) span() simulate.Span {
	return simulate.Span{
		Offered: capcli.GPUTime(c.Offered), Used: capcli.GPUTime(c.Used), Idle: capcli.GPUTime(c.Idle), Blocked: capcli.GPUTime(c.Blocked), Down: capcli.GPUTime(c.Down),
	}
}

// figures returns o as the outcome whose metrics limits are checked against. The waits of a run
// without jobs are 0, so that it holds limits on them.
func (o *Outcome) figures() *outcome.Outcome {
	out := &outcome.Outcome{
		Jobs:      simulate.Counts{Finished: o.Finished, Waiting: o.Waiting, Unplaceable: o.Unplaceable, Preemptions: o.Preemptions, Misses: o.DeadlineMisses, Dropped: o.Dropped, Held: o.HeldBack, Tardiness: o.Tardiness},
		QueueTime: o.QueueTime, JCTMean: o.JCTMean, BoundedSlowdown: o.BoundedSlowdown, Makespan: o.Makespan,
		Queue: outcome.Queue{Max: o.QueueMax, Mean: o.QueueMean}, Availability: o.Availability, Fairness: o.Fairness,
		Capacity: outcome.Capacity{Span: o.Time.span(), Stranded: capcli.GPUTime(o.Held.Idle + o.Held.Blocked + o.Held.Down), Fragmentation: o.Fragmentation},
		Cost:     outcome.Cost{Equivalent: o.Equivalent, Savings: o.Savings}, Services: o.Services,
	}
	w := &simulate.Stats{Jobs: o.WaitJobs, Started: o.WaitStarted, Mean: o.WaitMean, P50: o.WaitP50, P95: o.WaitP95}
	out.Waits = outcome.WaitsOf(w)
	out.Started = max(1, out.Started)
	out.WaitP99, out.WaitP99From = outcome.Quantile(w, 99, o.WaitP99)
	out.WaitMax, out.WaitMaxFrom = outcome.Quantile(w, 100, o.WaitMax)
	out.Unserved, out.UnservedShare, out.UnservedAmount = capcli.GPUTime(o.unservedWork()), o.UnservedShare(), o.UnservedAmount
	out.UnservedJobs.Waiting, out.UnservedJobs.Unplaceable, out.UnservedJobs.Dropped = o.Waiting, o.Unplaceable, o.Dropped
	out.Backlog, out.BacklogAmount = capcli.GPUTime(o.Backlog), o.BacklogAmount
	if o.Time.Offered > 0 {
		rate := float64(o.Time.Used) / float64(o.Time.Offered)
		out.Capacity.AllocationRate = &rate
	}
	if o.Priced {
		stranded := o.StrandedIdle + o.StrandedBlocked + o.StrandedDown
		out.Cost.Total, out.Cost.Stranded = &o.Cost, &stranded
		out.Cost.ByTier = map[string]capcli.USD{
			billing.Committed.String(): o.Committed, billing.OnDemand.String(): o.OnDemand, billing.Spot.String(): o.Spot,
		}
	}
	return out
}
