// Package outcome holds the result of a run of a scenario. Outcome is one struct of figures: the Go
// API and also the document of -o json. Metrics is the table of named figures that limits,
// conditions and comparisons use.
//
// A figure over several runs is a Spread: the mean and the range of 90% of the runs. A quantile of
// waits among jobs that never started is known only as a lower bound; figures, means and
// comparisons carry that mark along.
package outcome

import (
	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/validate"
	"capcli/simulate"
)

// schema is the schema of a Document. Fields may be added to it but never renamed.
const schema = "capcli/simulate/v1"

// Document is a result: the outcomes of runs.
type Document struct {
	Schema   string    `json:"schema"`
	Currency string    `json:"currency"`
	Runs     []Outcome `json:"runs"`

	Partial *Partial `json:"partial,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// NewDocument returns a document without runs.
func NewDocument() *Document { return &Document{Schema: schema, Currency: "USD", Runs: []Outcome{}} }

// Lines returns the runs one by one, for jsonl.
func (d *Document) Lines() []any {
	out := make([]any, len(d.Runs))
	for i := range d.Runs {
		out[i] = &d.Runs[i]
	}
	return out
}

// Partial says that a result was stopped before all its runs were done.
type Partial struct {
	Done  int    `json:"runs_done"` // runs in the result
	Asked int    `json:"runs_asked"`
	Why   string `json:"why"`
}

// Outcome is the figures of one run. Names and units are those of the glossary: _s is seconds, _usd
// an exact decimal string, _gpu_hours GPU-hours. A nil pointer is an unknown figure, such as the
// cost if a pool has no price.
type Outcome struct {
	Scenario  string `json:"scenario"`
	Policy    string `json:"policy"`
	Placement string `json:"placement"`
	Seed      uint64 `json:"seed"`
	Run       int    `json:"run"`
	Trace     string `json:"trace"`

	Start capcli.Time    `json:"start"`
	Ended capcli.Seconds `json:"length_s"`

	Jobs simulate.Counts `json:"jobs"`

	Served
	Waits
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
	Queue            Queue               `json:"queue"`
	Fairness         Fairness            `json:"fairness"`
	Capacity         Capacity            `json:"capacity"`
	Cost             Cost                `json:"cost"`
	Contracts        []Contract          `json:"contracts,omitempty"`
	Pools            []Pool              `json:"pools"`
	Tenants          []Tenant            `json:"tenants"`
	Tags             []TagBill           `json:"tags,omitempty"` // in order of tag; nil if no job has tags
	Services         []Service           `json:"services,omitempty"`
	Campaigns        []Campaign          `json:"campaigns,omitempty"` // what became of the planned training runs
	Speed            []Speed             `json:"speed,omitempty"`     // what the entries of the speed block changed
	Stages           *Stages             `json:"stages,omitempty"`    // nil if no job depends on another
	Sizes            []Size              `json:"by_size"`
	Ways             []Way               `json:"ways,omitempty"` // what jobs with shapes did, by way
	Loads            []Load              `json:"offered_load"`
	UnplaceableJobs  []simulate.Refused  `json:"unplaceable_jobs"`
	Limits           []Limit             `json:"limits"`
	OutsideThePeriod int64               `json:"jobs_outside_period"`
	LogWait          *LogWaits           `json:"log_wait"` // waits recorded in the log; null if it has no starts
	Assumptions      []prices.Assumption `json:"assumptions"`

	// OwnPast says how far the policy is from the waits that the log records; nil if it has no starts.
	OwnPast *validate.OwnPast `json:"own_past,omitempty"`

	Budget     []billing.BudgetLine    `json:"budget,omitempty"`
	GPUBudgets []simulate.BudgetPeriod `json:"gpu_budgets,omitempty"`
	Approval   *billing.Signature      `json:"approval,omitempty"`
	Energy     *billing.Footprints     `json:"energy,omitempty"`

	Near   *Near       `json:"near,omitempty"`       // nil without domains and shapes with near
	Shared *Contention `json:"contention,omitempty"` // nil if running jobs share nothing beside GPUs
	Places *Places     `json:"places,omitempty"`     // nil if no pool has a place
	PutOff *Delays     `json:"put_off,omitempty"`    // nil if no start can be put off

	Slices        []Slices       `json:"slices,omitempty"`        // of pools of divided GPUs (MIG)
	Bought        []Bought       `json:"bought_nodes,omitempty"`  // pools of bought nodes
	Interruptions *Interruptions `json:"interruptions,omitempty"` // nil if nothing of the kind is switched on

	// Timeline is the run over time; nil unless it was asked for.
	Timeline *Timeline `json:"timeline,omitempty"`

	// Availability is the share of jobs that started within the limit on waits, or within an hour;
	// nil if no job counts. It is not part of the document.
	Availability *float64 `json:"-"`
}

// Waits are the waits for the first start of all jobs that arrived. A job that never started counts
// as waiting longer than all that did; in the mean it counts with its wait until the end. A
// quantile among such jobs is nil, and its lower bound is in the field after it.
type Waits struct {
	WaitMean        float64         `json:"wait_mean_s"`
	WaitMeanStarted float64         `json:"wait_mean_started_s"` // over the jobs that started
	Started         int64           `json:"started_jobs"`
	NeverStarted    int64           `json:"never_started_jobs"`
	WaitP50         *capcli.Seconds `json:"wait_p50_s"`
	WaitP50From     *capcli.Seconds `json:"wait_p50_at_least_s,omitempty"`
	WaitP95         *capcli.Seconds `json:"wait_p95_s"`
	WaitP95From     *capcli.Seconds `json:"wait_p95_at_least_s,omitempty"`
}

// WaitsOf returns the waits that w measured.
func WaitsOf(w *simulate.Stats) Waits {
	out := Waits{WaitMean: w.Mean, WaitMeanStarted: w.MeanStarted, Started: w.Started, NeverStarted: w.NeverStarted()}
	out.WaitP50, out.WaitP50From = Quantile(w, 50, w.P50)
	out.WaitP95, out.WaitP95From = Quantile(w, 95, w.P95)
	return out
}

// Quantile returns quantile v of w as exact if it is exact, else as from, a lower bound.
func Quantile(w *simulate.Stats, percent int64, v capcli.Seconds) (exact, from *capcli.Seconds) {
	if w.KnowsRank(percent) {
		return &v, nil
	}
	return nil, &v
}

// Size is the figures of the jobs in a range of GPU counts.
type Size struct {
	Least    int   `json:"gpus_least"`
	Most     *int  `json:"gpus_most"` // null if the range is open
	Jobs     int64 `json:"jobs"`
	Finished int64 `json:"finished"`
	Waits
	JCTMean float64 `json:"jct_mean_s"`
}

// SizeOf returns the figures of s.
func SizeOf(s *simulate.SizeResult) Size {
	out := Size{Least: s.Least, Jobs: s.Jobs, Finished: s.Finished, Waits: WaitsOf(&s.Wait), JCTMean: s.MeanJCT}
	if s.Most > 0 || s.Least == 0 {
		out.Most = &s.Most
	}
	return out
}

// Served compares the work that was done with the work that was possible by the end:
// possible = served + unserved. See simulate.Served.
type Served struct {
	Possible      capcli.GPUTime `json:"possible_gpu_hours"`
	Served        capcli.GPUTime `json:"served_gpu_hours"`
	Unserved      capcli.GPUTime `json:"unserved_gpu_hours"`
	UnservedShare float64        `json:"unserved_share"`
	UnservedJobs  struct {
		Waiting     int64 `json:"waiting"`
		Unplaceable int64 `json:"unplaceable"`
		Dropped     int64 `json:"dropped"`
	} `json:"unserved_jobs"`
	UnservedAmount *capcli.USD    `json:"unserved_usd"`
	Backlog        capcli.GPUTime `json:"backlog_gpu_hours"`
	BacklogRefused capcli.GPUTime `json:"backlog_unplaceable_gpu_hours"`
	BacklogAmount  *capcli.USD    `json:"backlog_usd"`
	WhyNoAmount    string         `json:"backlog_usd_why,omitempty"`
}

// Queue is the number of waiting jobs.
type Queue struct {
	Max  int64   `json:"max_jobs"`
	Mean float64 `json:"mean_jobs"` // over time
}

// Capacity is how all capacity was used, and how much of the committed part was stranded.
type Capacity struct {
	simulate.Span
	AllocationRate *float64       `json:"allocation_rate"`
	Stranded       capcli.GPUTime `json:"stranded_gpu_hours"`
	StrandedIdle   capcli.GPUTime `json:"stranded_idle_gpu_hours"`
	StrandedBlock  capcli.GPUTime `json:"stranded_blocked_gpu_hours"`
	StrandedDown   capcli.GPUTime `json:"stranded_down_gpu_hours"`
	Goodput        capcli.GPUTime `json:"goodput_gpu_hours"`
	Redone         capcli.GPUTime `json:"redone_gpu_hours"`
	Fragmentation  float64        `json:"fragmentation_gpus_mean"`
}

// Cost is the cost of the run. Amounts are nil if they need the price of a pool that has none.
type Cost struct {
	Total          *capcli.USD           `json:"total_usd"`
	PerYear        *capcli.USD           `json:"total_per_year_usd"` // total x 365.25 d / length, for comparison alone
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
	Rounding       *capcli.USD           `json:"rounding_usd,omitempty"` // part of total: what billing each job for whole machines costs; nil where use is billed by the GPU
	Owed           *capcli.USD           `json:"owed_after_usd"`         // part of the cost of commitments to be paid after the run
}

// Pool is one pool of the scenario.
type Pool struct {
	Name  string `json:"pool"`
	Terms string `json:"terms"`
	Model string `json:"gpu_model"`
	simulate.Span
	Cost     *capcli.USD `json:"cost_usd"`
	Stranded *capcli.USD `json:"stranded_usd"`
}

// Tenant is one tenant: its jobs and its costs.
type Tenant struct {
	Name        string         `json:"tenant"`
	Jobs        int64          `json:"jobs"`
	Finished    int64          `json:"finished"`
	Preemptions int64          `json:"preemptions"`
	Used        capcli.GPUTime `json:"used_gpu_hours"`
	Waits
	JCTMean     float64     `json:"jct_mean_s"`
	Weight      float64     `json:"weight"`
	Slowdown    float64     `json:"bounded_slowdown_mean"`
	ServedShare float64     `json:"served_share"`
	Direct      *capcli.USD `json:"direct_usd"`
	Share       *capcli.USD `json:"stranded_share_usd"`
	Cost        *capcli.USD `json:"cost_usd"`
}

// Load is the offered load on committed capacity.
type Load struct {
	Partition string         `json:"partition"`
	Model     string         `json:"gpu_model"`
	Jobs      int64          `json:"jobs"`
	Work      capcli.GPUTime `json:"work_gpu_hours"`
	GPUs      int            `json:"committed_gpus"`
	Capacity  capcli.GPUTime `json:"capacity_gpu_hours"`
	Load      *float64       `json:"offered_load"`
	Drains    *bool          `json:"drains"`
}

// LoadOf returns the figures of l.
func LoadOf(l *simulate.Load) Load {
	out := Load{Partition: l.Partition, Model: l.GPUModel, Jobs: l.Jobs, Work: l.Work, GPUs: l.GPUs, Capacity: l.Capacity}
	if l.Capacity > 0 {
		load := l.Offered()
		drains := load < 1
		out.Load, out.Drains = &load, &drains
	}
	return out
}

// Limit is a limit of the scenario and whether it was held; nil is unknown.
type Limit struct {
	Limit string `json:"limit"`
	Held  *bool  `json:"held"`
}

// LogWaits are the waits that the log records for the simulated jobs.
type LogWaits struct {
	Jobs int64          `json:"jobs"` // jobs with a recorded start
	Mean float64        `json:"mean_s"`
	P50  capcli.Seconds `json:"p50_s"`
	P95  capcli.Seconds `json:"p95_s"`
	P99  capcli.Seconds `json:"p99_s"`
	Max  capcli.Seconds `json:"max_s"`
}

// LogWaitsOf returns the recorded waits w; nil if the log has none.
func LogWaitsOf(w simulate.Stats) *LogWaits {
	if w.Jobs == 0 {
		return nil
	}
	return &LogWaits{w.Jobs, w.Mean, w.P50, w.P95, w.P99, w.Max}
}

// Contract is a commitment during a run, in cash and amortised.
type Contract struct {
	Name        string      `json:"contract"`
	Kind        string      `json:"kind"`
	Start       capcli.Time `json:"start"`
	End         capcli.Time `json:"end"`
	Upfront     capcli.USD  `json:"upfront_usd"` // paid at its start, even if that is outside the run
	Paid        capcli.USD  `json:"paid_usd"`    // cash paid in the run
	UsedUp      capcli.USD  `json:"used_up_usd"` // amortised cost in the run
	Utilisation *float64    `json:"utilisation"` // nil if none of it lies in the run
	Unexpired   capcli.USD  `json:"lock_in_usd"` // amortised cost after the run
	Unpaid      capcli.USD  `json:"unpaid_usd"`  // cash still to be paid after the run
}

// Campaign is what became of a planned training run.
type Campaign struct {
	Name    string         `json:"campaign"`
	Happens bool           `json:"happens"`
	Start   capcli.Time    `json:"start"`   // with the delay; planned, for its jobs may wait
	Delay   capcli.Seconds `json:"delay_s"` // against the plan
	Length  capcli.Seconds `json:"length_s"`
	GPUs    int            `json:"gpus"`
	Jobs    int            `json:"jobs"`
	Work    capcli.GPUTime `json:"work_gpu_hours"` // of the jobs, before the speed block
	Outside bool           `json:"outside_period,omitempty"`
}

// Speed is what one entry of a scenario's speed block changed: the work of its jobs before and after.
// Work is the GPUs of a job times its run time.
type Speed struct {
	For     string         `json:"for"` // the jobs, in words
	Because string         `json:"because,omitempty"`
	Factor  float64        `json:"factor"` // times as fast
	Off     bool           `json:"off,omitempty"`
	Jobs    int64          `json:"jobs"`
	Before  capcli.GPUTime `json:"work_before_gpu_hours"`
	After   capcli.GPUTime `json:"work_after_gpu_hours"`
}

// Saved returns the GPU time that the entry saves; negative if the jobs get slower.
func (s *Speed) Saved() capcli.GPUTime { return s.Before - s.After }
