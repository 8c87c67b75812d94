package mix

import (
	"capcli"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// Outcome is what became of one candidate in one run: a pure function of the
// inputs, the candidate's number and the run's. Its JSON is what a shard of a
// sweep writes; money in it is exact, and fields are added, never renamed.
type Outcome struct {
	Candidate int    `json:"candidate"`
	Run       int    `json:"run"`
	Seed      uint64 `json:"seed"`

	Jobs            int64          `json:"jobs"`
	Finished        int64          `json:"finished"`
	Waiting         int64          `json:"waiting"`
	Starting        int64          `json:"starting"` // their GPUs are ordered and not there yet
	Running         int64          `json:"running"`
	Unplaceable     int64          `json:"unplaceable"`
	Preemptions     int64          `json:"preemptions"`
	DeadlineMisses  int64          `json:"deadline_misses"`
	Length          capcli.Seconds `json:"length_s"`
	WaitMean        float64        `json:"wait_mean_s"`
	WaitP50         capcli.Seconds `json:"wait_p50_s"`
	WaitP95         capcli.Seconds `json:"wait_p95_s"`
	WaitP99         capcli.Seconds `json:"wait_p99_s"`
	WaitMax         capcli.Seconds `json:"wait_max_s"` // as the three before a lower bound where it is not known: see AtLeast
	WaitJobs        int64          `json:"wait_jobs"`
	WaitStarted     int64          `json:"wait_started"` // of WaitJobs
	QueueTime       float64        `json:"queue_time_mean_s"`
	JCTMean         float64        `json:"jct_mean_s"`
	BoundedSlowdown float64        `json:"bounded_slowdown_mean"`
	Makespan        capcli.Seconds `json:"makespan_s"`
	QueueMax        int64          `json:"queue_max_jobs"`
	QueueMean       float64        `json:"queue_mean_jobs"`
	Availability    *float64       `json:"availability"` // see simulate.Result.Availability

	Possible       GPUMillis   `json:"possible_gpu_ms"` // see simulate.Served
	Served         GPUMillis   `json:"served_gpu_ms"`
	Backlog        GPUMillis   `json:"backlog_gpu_ms"` // of jobs that wait at the end or can never run
	UnservedAmount *capcli.USD `json:"unserved_usd"`   // at the on-demand price; nil is not known
	BacklogAmount  *capcli.USD `json:"backlog_usd"`

	Fault           string      `json:"fault,omitempty"` // why it has no price; "" where it has one
	Priced          bool        `json:"priced"`          // every pool has a price: else the money below is of the others
	Cost            capcli.USD  `json:"cost_usd"`
	Penalty         capcli.USD  `json:"unserved_in_cost_usd,omitempty"` // of Cost: unserved work, where the problem prices it
	Committed       capcli.USD  `json:"committed_usd"`
	OnDemand        capcli.USD  `json:"on_demand_usd"`
	Spot            capcli.USD  `json:"spot_usd"`
	Equivalent      *capcli.USD `json:"on_demand_equivalent_usd"`
	Savings         *float64    `json:"effective_savings_rate"`
	StrandedIdle    capcli.USD  `json:"stranded_idle_usd"`
	StrandedBlocked capcli.USD  `json:"stranded_blocked_usd"`
	StrandedDown    capcli.USD  `json:"stranded_down_usd"`

	Time          Capacity  `json:"time"`      // of all pools
	Held          Capacity  `json:"committed"` // of the committed ones
	Redone        GPUMillis `json:"redone_gpu_ms"`
	Fragmentation float64   `json:"fragmentation_gpus_mean"`
	Pools         []Pool    `json:"pools"`
}

// Capacity is what became of some GPU time: offered = used + idle + blocked + down.
type Capacity struct {
	Offered GPUMillis `json:"offered_gpu_ms"`
	Used    GPUMillis `json:"used_gpu_ms"`
	Idle    GPUMillis `json:"idle_gpu_ms"`
	Blocked GPUMillis `json:"blocked_gpu_ms"`
	Down    GPUMillis `json:"down_gpu_ms"`
}

// GPUMillis is GPU time as the whole number that it is, thousandths of a
// GPU-second, where capcli.GPUTime is written in GPU-hours for people: what a
// shard writes must be read back exactly.
type GPUMillis int64

// Hours gives m in GPU-hours.
func (m GPUMillis) Hours() float64 { return capcli.GPUTime(m).Hours() }

// Pool is one pool's part: the GPU time that its price is charged on, and the
// cost.
type Pool struct {
	Name    string     `json:"pool"`
	Charged GPUMillis  `json:"charged_gpu_ms"` // offered, of committed capacity; billed to jobs, of the rest
	Used    GPUMillis  `json:"used_gpu_ms"`
	Cost    capcli.USD `json:"cost_usd"`
}

// strandedCost is the cost of committed capacity that nobody held.
func (o *Outcome) strandedCost() capcli.USD {
	return o.StrandedIdle + o.StrandedBlocked + o.StrandedDown
}

// newOutcome puts together what a run and its invoice say. within is the wait
// that availability counts; priced tells whether all pools have a price.
func newOutcome(candidate, run int, seed capcli.Seed, res *simulate.Result, inv *billing.Invoice, within capcli.Seconds, priced bool) Outcome {
	j, committed := &res.Jobs, &inv.ByTier[billing.Committed]
	o := Outcome{
		Candidate: candidate, Run: run, Seed: uint64(seed),
		Jobs: j.Read, Finished: j.Finished, Waiting: j.Waiting, Starting: j.Starting, Running: j.Running, Unplaceable: j.Unplaceable,
		Preemptions: j.Preemptions, DeadlineMisses: j.Misses, Length: res.Ended,
		WaitMean: res.Wait.Mean, WaitP50: res.Wait.P50, WaitP95: res.Wait.P95, WaitP99: res.Wait.P99, WaitMax: res.Wait.Max,
		WaitJobs: res.Wait.Jobs, WaitStarted: res.Wait.Started, QueueTime: res.MeanQueueTime, JCTMean: res.MeanJCT, BoundedSlowdown: res.BoundedSlowdown, Makespan: res.Makespan,
		QueueMax: res.QueueMax, QueueMean: res.QueueMean,
		Priced: priced, Cost: inv.Total.Cost, Committed: committed.Cost,
		OnDemand: inv.ByTier[billing.OnDemand].Cost, Spot: inv.ByTier[billing.Spot].Cost,
		StrandedIdle: committed.Idle, StrandedBlocked: committed.Blocked, StrandedDown: committed.Down,
		Time: capacityOf(&inv.Total.Time), Held: capacityOf(&committed.Time),
		Redone: GPUMillis(res.Redone), Fragmentation: res.Fragmentation,
	}
	if a, ok := res.Availability(within); ok {
		o.Availability = &a
	}
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

// unservedWork is the work that could have been done by the end and was not.
func (o *Outcome) unservedWork() GPUMillis { return o.Possible - o.Served }

// UnservedShare is Unserved over what could have been done, 0 to 1.
func (o *Outcome) UnservedShare() float64 {
	return (&simulate.Served{Possible: capcli.GPUTime(o.Possible), Done: capcli.GPUTime(o.Served)}).UnservedShare()
}

func capacityOf(s *simulate.Span) Capacity {
	return Capacity{GPUMillis(s.Offered), GPUMillis(s.Used), GPUMillis(s.Idle), GPUMillis(s.Blocked), GPUMillis(s.Down)}
}

// figure gives a figure by the name that limits use, in seconds, dollars,
// GPU-hours, plain counts and shares of 1. It is false where the figure is not
// known, or there is none of that name.
func (o *Outcome) figure(name string) (float64, bool) {
	if v, ok := o.waits(name); ok {
		return v, o.waitKnown(name)
	}
	if v, ok := o.money(name); ok {
		return v, o.Priced
	}
	if v, ok := o.undone(name); ok {
		return v, true
	}
	switch name {
	case "stranded_gpu_hours":
		return (o.Held.Idle + o.Held.Blocked + o.Held.Down).Hours(), true
	case "used_gpu_hours":
		return o.Time.Used.Hours(), true
	case "idle_gpu_hours":
		return o.Time.Idle.Hours(), true
	case "blocked_gpu_hours":
		return o.Time.Blocked.Hours(), true
	case "down_gpu_hours":
		return o.Time.Down.Hours(), true
	case "fragmentation_gpus_mean":
		return o.Fragmentation, true
	case "allocation_rate":
		if o.Time.Offered > 0 {
			return float64(o.Time.Used) / float64(o.Time.Offered), true
		}
	case "on_demand_equivalent":
		if o.Equivalent != nil {
			return o.Equivalent.Float(), true
		}
	case "effective_savings_rate":
		return valueOf(o.Savings)
	case "availability":
		return valueOf(o.Availability)
	}
	return 0, false
}

// lowerBound gives a lower bound of a figure that is not known: of a quantile of
// waits that falls among jobs that never started. It is false where there is none.
func (o *Outcome) lowerBound(name string) (float64, bool) {
	if o.waitKnown(name) {
		return 0, false
	}
	return o.waits(name)
}

// waitKnown tells whether a figure is known, where it is a quantile of waits.
func (o *Outcome) waitKnown(name string) bool {
	percent := map[string]int64{"wait_p50": 50, "wait_p95": 95, "wait_p99": 99, "wait_max": 100}[name]
	w := simulate.Stats{Jobs: o.WaitJobs, Started: o.WaitStarted}
	return percent == 0 || w.KnowsRank(percent)
}

func valueOf(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

// waits are the figures about jobs.
func (o *Outcome) waits(name string) (float64, bool) {
	switch name {
	case "wait_mean":
		return o.WaitMean, true
	case "wait_p50":
		return float64(o.WaitP50), true
	case "wait_p95":
		return float64(o.WaitP95), true
	case "wait_p99":
		return float64(o.WaitP99), true
	case "wait_max":
		return float64(o.WaitMax), true
	case "queue_time_mean":
		return o.QueueTime, true
	case "jct_mean":
		return o.JCTMean, true
	case "bounded_slowdown_mean":
		return o.BoundedSlowdown, true
	case "makespan":
		return float64(o.Makespan), true
	case "queue_max":
		return float64(o.QueueMax), true
	case "queue_mean":
		return o.QueueMean, true
	case "waiting":
		return float64(o.Waiting), true
	case "unplaceable":
		return float64(o.Unplaceable), true
	case "finished":
		return float64(o.Finished), true
	case "preemptions":
		return float64(o.Preemptions), true
	case "deadline_misses":
		return float64(o.DeadlineMisses), true
	}
	return 0, false
}

// undone are the figures of work that was not done.
func (o *Outcome) undone(name string) (float64, bool) {
	switch name {
	case "unserved_gpu_hours":
		return o.unservedWork().Hours(), true
	case "unserved_share":
		return o.UnservedShare(), true
	case "unserved_jobs":
		return float64(o.Waiting + o.Unplaceable), true
	case "backlog_gpu_hours":
		return o.Backlog.Hours(), true
	case "unserved_usd":
		return knownUSD(o.UnservedAmount)
	case "backlog_usd":
		return knownUSD(o.BacklogAmount)
	}
	return 0, false
}

func knownUSD(u *capcli.USD) (float64, bool) {
	if u == nil {
		return 0, false
	}
	return u.Float(), true
}

// money are the figures that need a price for every pool.
func (o *Outcome) money(name string) (float64, bool) {
	switch name {
	case "cost", "total":
		return o.Cost.Float(), true
	case "committed":
		return o.Committed.Float(), true
	case "on_demand":
		return o.OnDemand.Float(), true
	case "spot":
		return o.Spot.Float(), true
	case "stranded", "stranded_usd":
		return o.strandedCost().Float(), true
	}
	return 0, false
}
