package outcome

import (
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
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

// TimelineOf returns the timeline of a run with its invoice. Without prices, costs are nil.
func TimelineOf(t *simulate.Timeline, rec *simulate.Record, inv *billing.Invoice, priced bool) *Timeline {
	n := len(t.Demand)
	out := &Timeline{
		Start: rec.Start, Step: t.Step, Length: t.Length, Zone: t.Zone,
		Committed: make([]float64, n), Demand: make([]float64, n), Idle: make([]float64, n), Blocked: make([]float64, n), Down: make([]float64, n),
		Waiting: make([]float64, n), WaitingPeak: slices.Clone(t.Peak), Queue: make([]float64, n),
	}
	var spans [3][]simulate.Span
	for tier := range spans {
		spans[tier] = make([]simulate.Span, n)
	}
	for terms := range t.Spans {
		for i := range t.Spans[terms] {
			spans[billing.TierOf(simulate.Terms(terms))][i].Add(t.Spans[terms][i])
		}
	}
	length := func(i int) capcli.Seconds { return min(t.Step, t.Length-capcli.Seconds(i)*t.Step) }
	gpus := func(time capcli.GPUTime, i int) float64 { return meanGPUs(time, length(i)) }
	for i := range n {
		s := &spans[billing.Committed][i]
		out.Committed[i], out.Idle[i], out.Blocked[i], out.Down[i] = gpus(s.Offered, i), gpus(s.Idle, i), gpus(s.Blocked, i), gpus(s.Down, i)
		out.Demand[i], out.Queue[i] = gpus(t.Demand[i], i), gpus(t.Queue[i], i)
		out.Waiting[i] = meanGPUs(1000*capcli.GPUTime(t.Wait[i]), length(i))
	}
	out.Weeks = weeksOf(t, rec, inv, priced)
	has := tiersOf(rec, out.Weeks)
	for tier := range spans {
		if !has[tier] {
			continue
		}
		l := TierLine{Tier: billing.Tier(tier).String(), Used: make([]float64, n), Offered: make([]float64, n)}
		for i := range n {
			l.Used[i], l.Offered[i] = gpus(spans[tier][i].Used, i), gpus(spans[tier][i].Offered, i)
		}
		out.Tiers = append(out.Tiers, l)
	}
	for d := range t.Hours {
		for h := range t.Hours[d] {
			if x := &t.Hours[d][h]; x.Time > 0 {
				mean := meanGPUs(x.Used, x.Time)
				out.HourOfWeek[d][h] = &mean
			}
		}
	}
	for w := range out.Weeks {
		all := out.Weeks[w].Tiers
		out.Weeks[w].Tiers = nil
		for tier := range all {
			if has[tier] {
				out.Weeks[w].Tiers = append(out.Weeks[w].Tiers, all[tier])
			}
		}
	}
	return out
}

// meanGPUs returns the mean GPUs over a time, rounded to the thousandth.
func meanGPUs(time capcli.GPUTime, length capcli.Seconds) float64 {
	if length <= 0 {
		return 0
	}
	return math.Round(float64(time)/float64(length)) / 1000
}

// tiersOf returns which tiers have a pool, or a cost.
func tiersOf(rec *simulate.Record, weeks []Week) (has [3]bool) {
	for p := range rec.Pools {
		has[billing.TierOf(rec.Pools[p].Terms)] = true
	}
	for w := range weeks {
		for tier := range weeks[w].Tiers {
			if c := weeks[w].Tiers[tier].Cost; c != nil && *c != 0 {
				has[tier] = true
			}
		}
	}
	return has
}

// weeksOf returns the weeks of a run, each with all three tiers.
func weeksOf(t *simulate.Timeline, rec *simulate.Record, inv *billing.Invoice, priced bool) []Week {
	weeks := []Week{}
	at := make([]int, len(t.Cells)) // the week of each cell
	for c := range t.Cells {
		x := &t.Cells[c]
		start := simulate.WeekOf(rec.Start + capcli.Time(x.From))
		if k := len(weeks); k == 0 || weeks[k-1].Start != start {
			w := Week{Start: start, Tiers: make([]WeekTier, 3)}
			for tier := range w.Tiers {
				w.Tiers[tier].Tier = billing.Tier(tier).String()
				if priced {
					w.Tiers[tier].Cost = new(capcli.USD)
				}
			}
			if priced {
				w.Cost = new(capcli.USD)
			}
			weeks = append(weeks, w)
		}
		at[c] = len(weeks) - 1
		w := &weeks[at[c]]
		w.Length += max(0, min(x.To, t.Length)-x.From)
		for p := range rec.Pools {
			w.Tiers[billing.TierOf(rec.Pools[p].Terms)].Add(x.Pools[p])
		}
	}
	if priced {
		layCosts(t, rec, inv, weeks, at)
	}
	return weeks
}

// layCosts divides the cost of each pool in each month among the weeks. at is the week of each cell.
func layCosts(t *simulate.Timeline, rec *simulate.Record, inv *billing.Invoice, weeks []Week, at []int) {
	for from := 0; from < len(t.Cells); {
		to := from
		for to < len(t.Cells) && t.Cells[to].Month == t.Cells[from].Month {
			to++
		}
		weights := make([]int64, to-from)
		for p := range rec.Pools {
			var sum int64
			for i := range weights {
				weights[i] = int64(t.Cells[from+i].Pools[p].Offered)
				sum += weights[i]
			}
			if sum == 0 {
				for i := range weights {
					weights[i] = int64(t.Cells[from+i].To - t.Cells[from+i].From)
				}
			}
			for i, part := range inv.Spread(t.Cells[from].Month, p, billing.TierOf(rec.Pools[p].Terms), weights) {
				w := &weeks[at[from+i]]
				for tier, cost := range part {
					*w.Tiers[tier].Cost += cost
					*w.Cost += cost
				}
			}
		}
		from = to
	}
}
