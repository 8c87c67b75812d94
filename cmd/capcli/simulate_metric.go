package main

import (
	"fmt"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// metric gives a figure of the run by the name that limits and --fail-if use:
// the names of scenarios.Metrics. It is false where the figure is not known.
func (r *outcome) metric(name string) (float64, bool) {
	res, inv, c := r.result, r.invoice, r.capacity()
	j, wait, committed := &res.Jobs, &res.Wait, &inv.ByTier[billing.Committed]
	v, ok := map[string]float64{
		"wait_mean": wait.Mean, "queue_time_mean": res.MeanQueueTime, "jct_mean": res.MeanJCT, "bounded_slowdown_mean": res.BoundedSlowdown,
		"makespan": float64(res.Makespan), "queue_max": float64(res.QueueMax), "queue_mean": res.QueueMean,
		"unserved_gpu_hours": res.Served.Unserved().Hours(), "unserved_share": res.Served.UnservedShare(), "unserved_jobs": float64(res.Served.Jobs()),
		"backlog_gpu_hours": res.Served.LeftOver().Hours(),
		"waiting":           float64(j.Waiting), "unplaceable": float64(j.Unplaceable), "finished": float64(j.Finished),
		"preemptions": float64(j.Preemptions), "deadline_misses": float64(j.Misses),
		"cost": inv.Total.Cost.Float(), "total": inv.Total.Cost.Float(), "committed": committed.Cost.Float(),
		"on_demand": inv.ByTier[billing.OnDemand].Cost.Float(), "spot": inv.ByTier[billing.Spot].Cost.Float(),
		"stranded_usd": committed.Stranded().Float(), "stranded": committed.Stranded().Float(), "stranded_gpu_hours": c.Stranded.Hours(), "used_gpu_hours": c.Used.Hours(),
		"idle_gpu_hours": c.Idle.Hours(), "blocked_gpu_hours": c.Blocked.Hours(), "down_gpu_hours": c.Down.Hours(),
		"fragmentation_gpus_mean": c.Fragmentation,
	}[name]
	switch {
	case ok && slices.Contains(waitMetrics, name):
		return v, wait.Jobs > 0
	case ok:
		return v, r.priced() || !slices.Contains(moneyMetrics, name)
	}
	if percent := waitQuantile(name); percent > 0 {
		return float64(waitAt(wait, percent)), wait.Jobs > 0 && wait.Known(percent)
	}
	cost := r.cost()
	rate := map[string]*float64{"effective_savings_rate": cost.Savings, "allocation_rate": c.AllocationRate}[name]
	switch {
	case rate != nil:
		return *rate, true
	case name == "cost_per_year":
		return usdOr(cost.PerYear)
	case name == "unserved_usd":
		return usdOr(r.served().UnservedAmount)
	case name == "backlog_usd":
		return usdOr(r.served().BacklogAmount)
	case name == "availability":
		return res.Availability(scenarios.AvailableWithin(r.plan.scenario.Limits))
	case name == "on_demand_equivalent" && cost.Equivalent != nil:
		return cost.Equivalent.Float(), true
	}
	return 0, false
}

// Figures over jobs are not known where there are no such jobs: a limit over no
// job is neither held nor broken.
var (
	waitMetrics = []string{"wait_mean", "queue_time_mean", "jct_mean", "bounded_slowdown_mean", "makespan"}
)

// atLeast gives a lower bound of a figure that is not known; false where there is
// none.
func (r *outcome) atLeast(name string) (float64, bool) {
	wait, percent := &r.result.Wait, waitQuantile(name)
	if percent == 0 || wait.Jobs == 0 || wait.Known(percent) {
		return 0, false
	}
	return float64(waitAt(wait, percent)), true
}

// waitQuantile is the percentage of a quantile of waits, by its name; 0 where it
// is none.
func waitQuantile(metric string) int64 {
	return map[string]int64{"wait_p50": 50, "wait_p95": 95, "wait_p99": 99, "wait_max": 100}[metric]
}

func waitAt(w *simulate.Stats, percent int64) capcli.Seconds {
	return map[int64]capcli.Seconds{50: w.P50, 95: w.P95, 99: w.P99, 100: w.Max}[percent]
}

// moneyMetrics are the figures that need a price for every pool.
var moneyMetrics = []string{"cost", "total", "committed", "on_demand", "spot", "stranded_usd", "stranded"}

// figure writes a metric of the run for people.
func (r *outcome) figure(m scenarios.Metric) string {
	v, ok := r.read(m.Name)
	if !ok {
		return "n/a"
	}
	return v.text(func(v float64) string { return figureOf(m, v) })
}

// figureOf writes a figure for people.
func figureOf(m scenarios.Metric, v float64) string {
	switch m.Unit {
	case scenarios.InSeconds:
		return capcli.Seconds(v + 0.5).String()
	case scenarios.InUSD:
		return capcli.USD(v*1e6 + 0.5).String()
	case scenarios.InGPUHours:
		return fmt.Sprintf("%.1f GPU-hours", v)
	case scenarios.InShare:
		return fmt.Sprintf("%.1f%%", 100*v)
	case scenarios.InCount:
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
