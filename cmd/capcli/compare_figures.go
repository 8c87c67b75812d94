package main

import (
	"slices"

	"capcli/simulate/outcome"

	"capcli"
)

// comparedFigure is a row of the comparison.
type comparedFigure struct {
	name, head string
	get        func(*outcome.Outcome) (outcome.Figure, bool)
	cell       func(float64) any
}

var comparedFigures = []comparedFigure{
	{"cost_usd", "cost", usdFigure(func(r *outcome.Outcome) *capcli.USD { return r.Cost.Total }), moneyCell},
	{"cost_per_year_usd", "  a year of it", usdFigure(func(r *outcome.Outcome) *capcli.USD { return r.Cost.PerYear }), moneyCell},
	{"per_used_gpu_hour_usd", "  per used GPU-hour", usdFigure(func(r *outcome.Outcome) *capcli.USD { return r.Cost.PerGPUHour }), moneyCell},
	{"on_demand_equivalent_usd", "  all on demand", usdFigure(func(r *outcome.Outcome) *capcli.USD { return r.Cost.Equivalent }), moneyCell},
	{"effective_savings_rate", "  saved", shareFigure(func(r *outcome.Outcome) *float64 { return r.Cost.Savings }), percentCell},
	{"unserved_share", "work not done", workFigure(func(r *outcome.Outcome) float64 { return r.UnservedShare }), percentCell},
	{"unserved_gpu_hours", "  GPU-hours", workFigure(func(r *outcome.Outcome) float64 { return r.Unserved.Hours() }), hoursCell},
	{"unserved_jobs", "  jobs", workFigure(func(r *outcome.Outcome) float64 { return float64(r.UnservedJobs.Waiting + r.UnservedJobs.Unplaceable) }), countCell},
	{"stranded_usd", "stranded", usdFigure(func(r *outcome.Outcome) *capcli.USD { return r.Cost.Stranded }), moneyCell},
	{"stranded_gpu_hours", "  GPU-hours", plainFigure(func(r *outcome.Outcome) float64 { return r.Capacity.Stranded.Hours() }), hoursCell},
	{"allocation_rate", "used", shareFigure(func(r *outcome.Outcome) *float64 { return r.Capacity.AllocationRate }), percentCell},
	{"wait_mean_s", "mean wait", plainFigure(func(r *outcome.Outcome) float64 { return r.WaitMean }), secondsCell},
	{"wait_p50_s", "wait p50", waitFigure(func(r *outcome.Outcome) (a, b *capcli.Seconds) { return r.WaitP50, r.WaitP50From }), secondsCell},
	{"wait_p95_s", "wait p95", waitFigure(func(r *outcome.Outcome) (a, b *capcli.Seconds) { return r.WaitP95, r.WaitP95From }), secondsCell},
	{"queue_time_mean_s", "time in queues", workFigure(func(r *outcome.Outcome) float64 { return r.QueueTime }), secondsCell},
	{"jct_mean_s", "turnaround", plainFigure(func(r *outcome.Outcome) float64 { return r.JCTMean }), secondsCell},
	{"bounded_slowdown_mean", "slowdown", plainFigure(func(r *outcome.Outcome) float64 { return r.BoundedSlowdown }), ratioCell},
	{"preemptions", "preemptions", plainFigure(func(r *outcome.Outcome) float64 { return float64(r.Jobs.Preemptions) }), countCell},
	{"redone_gpu_hours", "GPU-hours redone", plainFigure(func(r *outcome.Outcome) float64 { return r.Capacity.Redone.Hours() }), hoursCell},
	{"finished_jobs", "jobs finished", plainFigure(func(r *outcome.Outcome) float64 { return float64(r.Jobs.Finished) }), countCell},
}

// figureNamed finds a row by its name.
func figureNamed(name string) *comparedFigure {
	i := slices.IndexFunc(comparedFigures, func(f comparedFigure) bool { return f.name == name })
	return &comparedFigures[i]
}

func usdFigure(of func(*outcome.Outcome) *capcli.USD) func(*outcome.Outcome) (outcome.Figure, bool) {
	return func(r *outcome.Outcome) (outcome.Figure, bool) {
		v, ok := usdOr(of(r))
		return outcome.Figure{Value: v}, ok
	}
}

func shareFigure(of func(*outcome.Outcome) *float64) func(*outcome.Outcome) (outcome.Figure, bool) {
	return func(r *outcome.Outcome) (outcome.Figure, bool) {
		if v := of(r); v != nil {
			return outcome.Figure{Value: *v}, true
		}
		return outcome.Figure{}, false
	}
}

func plainFigure(of func(*outcome.Outcome) float64) func(*outcome.Outcome) (outcome.Figure, bool) {
	return func(r *outcome.Outcome) (outcome.Figure, bool) { return outcome.Figure{Value: of(r)}, true }
}

// workFigure is one of work that was not done: results that were written before
// there was such a figure do not know it.
func workFigure(of func(*outcome.Outcome) float64) func(*outcome.Outcome) (outcome.Figure, bool) {
	return func(r *outcome.Outcome) (outcome.Figure, bool) { return outcome.Figure{Value: of(r)}, r.Possible > 0 }
}

func waitFigure(of func(*outcome.Outcome) (exact, from *capcli.Seconds)) func(*outcome.Outcome) (outcome.Figure, bool) {
	return func(r *outcome.Outcome) (outcome.Figure, bool) {
		switch exact, from := of(r); {
		case exact != nil:
			return outcome.Figure{Value: float64(*exact)}, true
		case from != nil:
			return outcome.Figure{Value: float64(*from), AtLeast: true}, true
		}
		return outcome.Figure{}, false
	}
}

func usdOr(u *capcli.USD) (float64, bool) {
	if u == nil {
		return 0, false
	}
	return u.Float(), true
}

// paired are the readings of plan i over the pairs, and their differences to those
// of the first plan. Both are empty where some run has none; the differences are
// where the first plan's is only known to be over something.
func (f *comparedFigure) paired(plans []savedPlan, i int, pairs []int) (own, diffs []outcome.Figure) {
	for _, run := range pairs {
		a, okA := f.get(plans[0].findRun(run))
		b, okB := f.get(plans[i].findRun(run))
		if !okB {
			return nil, nil
		}
		own = append(own, b)
		if okA && !a.AtLeast {
			diffs = append(diffs, outcome.Figure{Value: b.Value - a.Value, AtLeast: b.AtLeast})
		}
	}
	if len(diffs) != len(own) {
		diffs = nil
	}
	return own, diffs
}
