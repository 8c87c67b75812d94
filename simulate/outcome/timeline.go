package outcome

import (
	"capcli"
	"capcli/simulate"
)

// Timeline is what a run did over time: equal steps from Start on, at most 400. The value of a
// step is a mean over the step; the last step may be shorter than the others. Numbers are of GPUs,
// rounded to the thousandth.
type Timeline struct {
	Start  capcli.Time    `json:"start"`
	Step   capcli.Seconds `json:"step_s"`
	Length capcli.Seconds `json:"length_s"` // of the run; Steps cover it

	Tiers     []TierLine `json:"tiers"`          // committed, on-demand, spot: those that the scenario has
	Committed []float64  `json:"committed_gpus"` // committed and delivered, whether held or not
	// Demand is the unconstrained demand: the GPUs in use if every job that arrived had started at
	// its submission and had run for its run time. It counts jobs that can never run.
	Demand  []float64 `json:"demand_gpus"`
	Idle    []float64 `json:"idle_gpus"` // of committed GPUs, as are blocked and down
	Blocked []float64 `json:"blocked_gpus"`
	Down    []float64 `json:"down_gpus"`

	Waiting     []float64 `json:"waiting_jobs"`      // mean number of waiting jobs
	WaitingPeak []int64   `json:"waiting_jobs_peak"` // most jobs that waited at the end of an instant
	Queue       []float64 `json:"queue_gpus"`        // GPUs that the waiting jobs want

	// HourOfWeek is the mean of the GPUs in use by day of the week, from Monday, and hour of the day
	// in Zone. nil is an hour that the run does not have.
	HourOfWeek [7][24]*float64 `json:"used_by_hour_of_week"`
	Zone       string          `json:"zone"` // name of the time zone, such as UTC

	Weeks []Week `json:"weeks"` // weeks from Monday 00:00 UTC; the first and the last may be partial

	// Jobs are the jobs with their stays, in order of submission; nil if the run has more of them
	// than were asked for.
	Jobs []JobLine `json:"jobs,omitempty"`
}

// TierLine is the use of one tier.
type TierLine struct {
	Tier    string    `json:"tier"` // as in Cost.ByTier
	Used    []float64 `json:"used_gpus"`
	Offered []float64 `json:"offered_gpus"` // what is paid for: of on-demand and spot pools, what jobs hold
}

// Week is the cost and the use of one week by tier. The costs of all weeks sum to Cost.Total, to
// the millionth of a dollar, and the used GPU-hours to Capacity.Used. The cost of a pool in a month
// is divided among the weeks by the GPU time that is paid for in each.
type Week struct {
	Start  capcli.Time    `json:"start"`
	Length capcli.Seconds `json:"length_s"` // part of the week in the run
	Cost   *capcli.USD    `json:"cost_usd"` // nil if a pool has no price
	Tiers  []WeekTier     `json:"tiers"`    // in the order of Timeline.Tiers
}

// WeekTier is one tier in a Week.
type WeekTier struct {
	Tier string `json:"tier"`
	simulate.Span
	Cost *capcli.USD `json:"cost_usd"`
}

// JobLine is a job over time. Times are in seconds since Timeline.Start.
type JobLine struct {
	ID     string    `json:"job_id"`
	Tenant string    `json:"tenant"`
	GPUs   float64   `json:"gpus"`
	Submit int64     `json:"submit_s"`
	Spells []Spell   `json:"spells"` // in order of time
	State  JobEnding `json:"state"`
}

// Spell is a time that a job spent waiting or running.
type Spell struct {
	From  int64     `json:"from_s"`
	To    int64     `json:"to_s"`
	State SpellKind `json:"state"`
	Pool  string    `json:"pool,omitempty"` // where it ran
}

// SpellKind says what a job did in a Spell.
type SpellKind string

// The kinds of spells. A preempted spell is a run that ended because the job lost its GPUs.
const (
	SpellWaiting   SpellKind = "waiting"
	SpellRunning   SpellKind = "running"
	SpellPreempted SpellKind = "preempted"
)

// JobEnding says how a job stood at the end of the run.
type JobEnding string

// The endings of jobs.
const (
	JobFinished    JobEnding = "finished"
	JobWaiting     JobEnding = "waiting"
	JobRunning     JobEnding = "running"
	JobUnplaceable JobEnding = "unplaceable"
	JobDropped     JobEnding = "dropped"
)
