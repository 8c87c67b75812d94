package main

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/prices"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// simulateJSON is what -o json writes: schema capcli/simulate/v1. Fields are
// added, never renamed.
type simulateJSON struct {
	Schema   string    `json:"schema"`
	Currency string    `json:"currency"`
	Runs     []runJSON `json:"runs"`

	Partial *partialJSON `json:"partial,omitempty"` // a signal ended the work before all runs were done
	Notes   []string     `json:"notes,omitempty"`
}

// Lines are the runs, one a line, for jsonl.
func (s *simulateJSON) Lines() []any {
	out := make([]any, len(s.Runs))
	for i := range s.Runs {
		out[i] = &s.Runs[i]
	}
	return out
}

// runJSON is one run. Names and units are those of the glossary: _s is
// seconds, _usd an exact decimal string, _gpu_hours GPU-hours.
type runJSON struct {
	Scenario  string `json:"scenario"`
	Policy    string `json:"policy"`
	Placement string `json:"placement"`
	Seed      uint64 `json:"seed"`
	Run       int    `json:"run"`
	Trace     string `json:"trace"`

	Start capcli.Time    `json:"start"`
	Ended capcli.Seconds `json:"length_s"`

	Jobs jobsJSON `json:"jobs"`

	servedJSON
	waitsJSON
	WaitP99          *capcli.Seconds     `json:"wait_p99_s"`
	WaitP99From      *capcli.Seconds     `json:"wait_p99_at_least_s,omitempty"`
	WaitMax          *capcli.Seconds     `json:"wait_max_s"`
	WaitMaxFrom      *capcli.Seconds     `json:"wait_max_at_least_s,omitempty"`
	QueueTime        float64             `json:"queue_time_mean_s"`
	JCTMean          float64             `json:"jct_mean_s"`
	JCTFinished      float64             `json:"jct_mean_finished_s"`
	BoundedSlowdown  float64             `json:"bounded_slowdown_mean"`
	SlowdownEnded    float64             `json:"bounded_slowdown_mean_finished"`
	Makespan         capcli.Seconds      `json:"makespan_s"`
	Queue            queueJSON           `json:"queue"`
	Capacity         capacityJSON        `json:"capacity"`
	Cost             costJSON            `json:"cost"`
	Contracts        []contractJSON      `json:"contracts,omitempty"`
	Pools            []poolJSON          `json:"pools"`
	Tenants          []tenantJSON        `json:"tenants"`
	Sizes            []sizeJSON          `json:"by_size"`
	Loads            []loadJSON          `json:"offered_load"`
	UnplaceableJobs  []refusedJSON       `json:"unplaceable_jobs"`
	Limits           []limitJSON         `json:"limits"`
	OutsideThePeriod int64               `json:"jobs_outside_period"`
	LogWait          *logWaitJSON        `json:"log_wait"` // as the log recorded them; null where it has no starts
	Assumptions      []prices.Assumption `json:"assumptions"`

	Budget   []billing.BudgetLine `json:"budget,omitempty"`
	Approval *billing.Signature   `json:"approval,omitempty"`
	Energy   *billing.Footprints  `json:"energy,omitempty"`
}

// waitsJSON are waits for the first start, of all jobs that came. A job that never
// started counts as one that waits longer than all that did, and for at least as
// long as until the end: a quantile among such jobs is null, with a lower bound
// beside it, and in the mean each has its wait until the end.
type waitsJSON struct {
	WaitMean        float64         `json:"wait_mean_s"`
	WaitMeanStarted float64         `json:"wait_mean_started_s"` // of the jobs that started alone
	Started         int64           `json:"started_jobs"`
	NeverStarted    int64           `json:"never_started_jobs"`
	WaitP50         *capcli.Seconds `json:"wait_p50_s"`
	WaitP50From     *capcli.Seconds `json:"wait_p50_at_least_s,omitempty"`
	WaitP95         *capcli.Seconds `json:"wait_p95_s"`
	WaitP95From     *capcli.Seconds `json:"wait_p95_at_least_s,omitempty"`
}

func waitsOf(w *simulate.Stats) waitsJSON {
	out := waitsJSON{WaitMean: w.Mean, WaitMeanStarted: w.MeanStarted, Started: w.Started, NeverStarted: w.Never()}
	out.WaitP50, out.WaitP50From = waitOf(w, 50, w.P50)
	out.WaitP95, out.WaitP95From = waitOf(w, 95, w.P95)
	return out
}

// waitOf is a quantile where it is known, else its lower bound.
func waitOf(w *simulate.Stats, percent int64, v capcli.Seconds) (exact, from *capcli.Seconds) {
	if w.Known(percent) {
		return &v, nil
	}
	return nil, &v
}

// sizeJSON is the jobs of some numbers of GPUs.
type sizeJSON struct {
	Least    int   `json:"gpus_least"`
	Most     *int  `json:"gpus_most"` // null: no end
	Jobs     int64 `json:"jobs"`
	Finished int64 `json:"finished"`
	waitsJSON
	JCTMean float64 `json:"jct_mean_s"`
}

func sizeOf(s *simulate.SizeResult) sizeJSON {
	out := sizeJSON{Least: s.Least, Jobs: s.Jobs, Finished: s.Finished, waitsJSON: waitsOf(&s.Wait), JCTMean: s.MeanJCT}
	if s.Most > 0 || s.Least == 0 {
		out.Most = &s.Most
	}
	return out
}

type jobsJSON struct {
	Read           int64 `json:"read"`
	Finished       int64 `json:"finished"`
	Waiting        int64 `json:"waiting"`
	Starting       int64 `json:"starting"` // their GPUs are ordered and not there yet: they wait
	Running        int64 `json:"running"`
	Unplaceable    int64 `json:"unplaceable"`
	WithoutGPU     int64 `json:"without_gpu"`
	Preemptions    int64 `json:"preemptions"`
	Losses         int64 `json:"losses"`
	KilledAtLimit  int64 `json:"killed_at_limit"`
	WithDeadline   int64 `json:"with_deadline"`
	DeadlineMisses int64 `json:"deadline_misses"`
}

// servedJSON sets the work that was done against what could have been by the end:
// possible = served + unserved. See simulate.Served.
type servedJSON struct {
	Possible      capcli.GPUTime `json:"possible_gpu_hours"`
	Served        capcli.GPUTime `json:"served_gpu_hours"`
	Unserved      capcli.GPUTime `json:"unserved_gpu_hours"`
	UnservedShare float64        `json:"unserved_share"`
	UnservedJobs  struct {
		Waiting     int64 `json:"waiting"`
		Unplaceable int64 `json:"unplaceable"`
	} `json:"unserved_jobs"`
	UnservedAmount *capcli.USD    `json:"unserved_usd"`
	Backlog        capcli.GPUTime `json:"backlog_gpu_hours"`
	BacklogRefused capcli.GPUTime `json:"backlog_unplaceable_gpu_hours"`
	BacklogAmount  *capcli.USD    `json:"backlog_usd"`
	WhyNoAmount    string         `json:"backlog_usd_why,omitempty"`
}

type queueJSON struct {
	Max  int64   `json:"max_jobs"`
	Mean float64 `json:"mean_jobs"`
}

// spanJSON is what became of some capacity: offered = used + idle + blocked + down.
type spanJSON struct {
	Offered capcli.GPUTime `json:"offered_gpu_hours"`
	Used    capcli.GPUTime `json:"used_gpu_hours"`
	Idle    capcli.GPUTime `json:"idle_gpu_hours"`
	Blocked capcli.GPUTime `json:"blocked_gpu_hours"`
	Down    capcli.GPUTime `json:"down_gpu_hours"`
}

type capacityJSON struct {
	spanJSON
	AllocationRate *float64       `json:"allocation_rate"`
	Stranded       capcli.GPUTime `json:"stranded_gpu_hours"`
	StrandedIdle   capcli.GPUTime `json:"stranded_idle_gpu_hours"`
	StrandedBlock  capcli.GPUTime `json:"stranded_blocked_gpu_hours"`
	StrandedDown   capcli.GPUTime `json:"stranded_down_gpu_hours"`
	Goodput        capcli.GPUTime `json:"goodput_gpu_hours"`
	Redone         capcli.GPUTime `json:"redone_gpu_hours"`
	Fragmentation  float64        `json:"fragmentation_gpus_mean"`
}

type costJSON struct {
	Total          *capcli.USD           `json:"total_usd"`
	PerYear        *capcli.USD           `json:"total_per_year_usd"` // total x 365.25 d / length, for comparison
	WhyNoTotal     string                `json:"total_usd_why,omitempty"`
	Equivalent     *capcli.USD           `json:"on_demand_equivalent_usd"`
	Savings        *float64              `json:"effective_savings_rate"`
	WhyNoSavings   string                `json:"effective_savings_rate_why,omitempty"`
	Stranded       *capcli.USD           `json:"stranded_usd"`
	StrandedIdle   *capcli.USD           `json:"stranded_idle_usd"`
	StrandedBlock  *capcli.USD           `json:"stranded_blocked_usd"`
	StrandedDown   *capcli.USD           `json:"stranded_down_usd"`
	PerGPUHour     *capcli.USD           `json:"per_used_gpu_hour_usd"`
	CommittedUsed  *float64              `json:"commitment_utilisation"`
	CommittedCover *float64              `json:"commitment_coverage"`
	ByTier         map[string]capcli.USD `json:"by_tier"`
	ByTenant       map[string]capcli.USD `json:"by_tenant"`
	ByMonth        map[string]capcli.USD `json:"by_month"`
	Unallocated    *capcli.USD           `json:"unallocated_usd"`
	Cash           *capcli.USD           `json:"paid_usd,omitempty"`
	LockIn         *capcli.USD           `json:"lock_in_usd,omitempty"`
	Owed           *capcli.USD           `json:"owed_after_usd"` // of commitments that outlast the run, for the time after it
}

type poolJSON struct {
	Name  string `json:"pool"`
	Terms string `json:"terms"`
	Model string `json:"gpu_model"`
	spanJSON
	Cost     *capcli.USD `json:"cost_usd"`
	Stranded *capcli.USD `json:"stranded_usd"`
}

type tenantJSON struct {
	Name        string         `json:"tenant"`
	Jobs        int64          `json:"jobs"`
	Finished    int64          `json:"finished"`
	Preemptions int64          `json:"preemptions"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	waitsJSON
	JCTMean float64     `json:"jct_mean_s"`
	Direct  *capcli.USD `json:"direct_usd"`
	Share   *capcli.USD `json:"stranded_share_usd"`
	Cost    *capcli.USD `json:"cost_usd"`
}

type loadJSON struct {
	Partition string         `json:"partition"`
	Model     string         `json:"gpu_model"`
	Jobs      int64          `json:"jobs"`
	Work      capcli.GPUTime `json:"work_gpu_hours"`
	GPUs      int            `json:"committed_gpus"`
	Capacity  capcli.GPUTime `json:"capacity_gpu_hours"`
	Load      *float64       `json:"offered_load"`
	Drains    *bool          `json:"drains"`
}

type refusedJSON struct {
	ID        string `json:"job_id"`
	Tenant    string `json:"tenant"`
	Partition string `json:"partition"`
	Model     string `json:"gpu_model"`
	GPUs      int    `json:"gpus"`
	Why       string `json:"why"`
}

type limitJSON struct {
	Limit string `json:"limit"`
	Held  *bool  `json:"held"`
}

// json gives the run as it is written.
func (r *outcome) json() runJSON {
	res, s := r.result, r.plan.scenario
	j := &res.Jobs
	out := runJSON{
		Scenario: s.Name, Policy: s.PolicyName(), Placement: s.PlacementName(), Seed: uint64(r.seed), Run: r.run,
		Trace: r.plan.source.name, Start: res.Record.Start, Ended: res.Ended,
		Jobs: jobsJSON{
			j.Read, j.Finished, j.Waiting, j.Starting, j.Running, j.Unplaceable, j.CPUOnly, j.Preemptions, j.Losses, j.Killed, j.Deadlines, j.Misses,
		},
		servedJSON: r.served(),
		waitsJSON:  waitsOf(&res.Wait), QueueTime: res.MeanQueueTime,
		JCTMean: res.MeanJCT, JCTFinished: res.JCTFinished,
		BoundedSlowdown: res.BoundedSlowdown, SlowdownEnded: res.SlowdownEnded, Makespan: res.Makespan,
		Queue:            queueJSON{res.QueueMax, res.QueueMean},
		Capacity:         r.capacity(),
		Cost:             r.cost(),
		Contracts:        r.contractsJSON(),
		OutsideThePeriod: r.intake.Outside,
		LogWait:          r.logWait(),
		Assumptions:      s.Assumptions(),
		Pools:            []poolJSON{}, Tenants: []tenantJSON{}, Sizes: []sizeJSON{}, Loads: []loadJSON{}, UnplaceableJobs: []refusedJSON{}, Limits: []limitJSON{},
	}
	out.WaitP99, out.WaitP99From = waitOf(&res.Wait, 99, res.Wait.P99)
	out.WaitMax, out.WaitMaxFrom = waitOf(&res.Wait, 100, res.Wait.Max)
	for i := range res.Sizes {
		out.Sizes = append(out.Sizes, sizeOf(&res.Sizes[i]))
	}
	if s.Budget != nil {
		out.Budget = r.seen.budget
	}
	out.Approval, out.Energy = s.Approvals.Signature(r.bought()), r.seen.energy
	for p := range res.Record.Pools {
		l, pool := &r.invoice.ByPool[p], &res.Record.Pools[p]
		out.Pools = append(out.Pools, poolJSON{pool.Name, r.terms(p), pool.GPUModel, span(l.Time), r.known(l.Cost), r.known(l.Stranded())})
	}
	for i, t := range res.Tenants {
		b := &r.invoice.ByTenant[i]
		out.Tenants = append(out.Tenants, tenantJSON{
			t.Name, t.Jobs, t.Finished, t.Preempted, b.Used, waitsOf(&t.Wait), t.MeanJCT, r.known(b.Direct), r.known(b.Share), r.known(b.Total),
		})
	}
	slices.SortStableFunc(out.Tenants, func(a, b tenantJSON) int { return cmp.Compare(a.Name, b.Name) })
	for i := range res.Loads {
		out.Loads = append(out.Loads, loadOf(&res.Loads[i]))
	}
	for _, x := range res.Refused {
		out.UnplaceableJobs = append(out.UnplaceableJobs, refusedJSON{x.ID, x.Tenant, x.Partition, x.GPUModel, x.GPUs, x.Why})
	}
	for _, c := range s.Limits {
		l := limitJSON{Limit: c.String()}
		if holds, known := r.holds(c); known {
			l.Held = &holds
		}
		out.Limits = append(out.Limits, l)
	}
	return out
}

func span(s simulate.Span) spanJSON {
	return spanJSON{s.Offered, s.Used, s.Idle, s.Blocked, s.Down}
}

func loadOf(l *simulate.Load) loadJSON {
	out := loadJSON{Partition: l.Partition, Model: l.GPUModel, Jobs: l.Jobs, Work: l.Work, GPUs: l.GPUs, Capacity: l.Capacity}
	if l.Capacity > 0 {
		load := l.Offered()
		drains := load < 1
		out.Load, out.Drains = &load, &drains
	}
	return out
}

func (r *outcome) capacity() capacityJSON {
	all, committed := r.invoice.Total.Time, r.invoice.ByTier[billing.Committed].Time
	out := capacityJSON{
		spanJSON: span(all), Stranded: committed.Idle + committed.Blocked + committed.Down,
		StrandedIdle: committed.Idle, StrandedBlock: committed.Blocked, StrandedDown: committed.Down,
		Goodput: r.result.Goodput, Redone: r.result.Redone, Fragmentation: r.result.Fragmentation,
	}
	if all.Offered > 0 {
		rate := float64(all.Used) / float64(all.Offered)
		out.AllocationRate = &rate
	}
	return out
}

// served gives what was done of the work that could have been.
func (r *outcome) served() servedJSON {
	s := &r.result.Served
	out := servedJSON{
		Possible: s.Possible, Served: s.Done, Unserved: s.Unserved(), UnservedShare: s.UnservedShare(),
		Backlog: s.LeftOver(), BacklogRefused: s.Refused,
	}
	out.UnservedJobs.Waiting, out.UnservedJobs.Unplaceable = s.Waiting, s.Unplaceable
	if w, ok := r.invoice.Worth(r.result.Record, r.result.ServedBy, r.result.Record.Start+capcli.Time(r.result.Ended)); ok {
		out.UnservedAmount, out.BacklogAmount = &w.Unserved, &w.LeftOver
	} else {
		out.WhyNoAmount = "no on-demand price is known for the jobs that are left"
	}
	return out
}

// priced tells whether every pool has a price: else no cost is known.
func (r *outcome) priced() bool { return len(r.plan.scenario.Unpriced()) == 0 }

// known gives an amount, or nil where prices are missing.
func (r *outcome) known(u capcli.USD) *capcli.USD {
	if !r.priced() {
		return nil
	}
	return &u
}

func (r *outcome) cost() costJSON {
	inv := r.invoice
	t, committed := &inv.Total, &inv.ByTier[billing.Committed]
	out := costJSON{
		Total: r.known(t.Cost), Stranded: r.known(committed.Stranded()), StrandedIdle: r.known(committed.Idle),
		StrandedBlock: r.known(committed.Blocked), StrandedDown: r.known(committed.Down), Unallocated: r.known(inv.Unallocated),
		ByTier: map[string]capcli.USD{}, ByTenant: map[string]capcli.USD{}, ByMonth: map[string]capcli.USD{},
	}
	if t.Unlisted == 0 {
		out.Equivalent = &t.Equivalent
	}
	if u, ok := inv.Utilisation(); ok {
		out.CommittedUsed = &u
	}
	if c, ok := inv.Coverage(); ok {
		out.CommittedCover = &c
	}
	if !r.priced() {
		out.WhyNoTotal = "no price is stated for " + strings.Join(r.plan.scenario.Unpriced(), ", ")
		out.WhyNoSavings = out.WhyNoTotal
		return out
	}
	out.Cash, out.LockIn = r.cashView()
	out.Owed = r.owedAfter()
	if year, ok := billing.PerYear(t.Cost, r.result.Ended); ok {
		out.PerYear = &year
	}
	if rate, ok := t.SavingsRate(); ok {
		out.Savings = &rate
	} else {
		out.WhyNoSavings = inv.WhyNoSavings()
	}
	if unit, ok := t.UnitCost(); ok {
		out.PerGPUHour = &unit
	}
	for tier := range inv.ByTier {
		out.ByTier[billing.Tier(tier).String()] = inv.ByTier[tier].Cost
	}
	for i := range inv.ByTenant {
		out.ByTenant[inv.ByTenant[i].Name] += inv.ByTenant[i].Total
	}
	for i := range inv.ByMonth {
		out.ByMonth[inv.ByMonth[i].Start.Std().Format("2006-01")] += inv.ByMonth[i].Line.Cost
	}
	return out
}
