package outcome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
)

// Unit is the unit of a metric.
type Unit uint8

// The units. Figures are in seconds, dollars, GPU-hours, plain counts and shares of 1.
const (
	InSeconds Unit = iota
	InUSD
	InGPUHours
	InCount
	InShare
)

// String returns the unit as documents name it: s, usd, gpu_hours, count, share.
func (u Unit) String() string { return [...]string{"s", "usd", "gpu_hours", "count", "share"}[u] }

// Metric is a named figure of an outcome.
type Metric struct {
	Name  string
	Unit  Unit
	AtMin bool   // more is better: a limit without a sign is a lower bound
	Doc   string // description in a sentence

	reading
}

// Figure is the value of a metric, or a lower bound of it.
type Figure struct {
	Value   float64
	AtLeast bool // Value is a lower bound
}

// Metrics are the figures that limits, conditions and explanations can name, in the
// order of a report.
var Metrics = append([]*Metric{
	{"wait_mean", InSeconds, false, "mean time from submission to first start; until the end for a job that never started", overJobs(func(o *Outcome) float64 { return o.WaitMean }).madeBy(OnlyWaits)},
	{"wait_p50", InSeconds, false, "median time from submission to first start, over all jobs; unknown if it falls among jobs that never started", quantile(50, func(o *Outcome) (exact, from *capcli.Seconds) { return o.WaitP50, o.WaitP50From })},
	{"wait_p95", InSeconds, false, "95th percentile of the same", quantile(95, func(o *Outcome) (exact, from *capcli.Seconds) { return o.WaitP95, o.WaitP95From })},
	{"wait_p99", InSeconds, false, "99th percentile of the same", quantile(99, func(o *Outcome) (exact, from *capcli.Seconds) { return o.WaitP99, o.WaitP99From })},
	{"wait_max", InSeconds, false, "longest time from submission to first start", quantile(100, func(o *Outcome) (exact, from *capcli.Seconds) { return o.WaitMax, o.WaitMaxFrom })},
	{"queue_time_mean", InSeconds, false, "mean time spent waiting, after preemptions too, until the end of the run", overJobs(func(o *Outcome) float64 { return o.QueueTime }).ofWork()},
	{"jct_mean", InSeconds, false, "mean time from submission to end; to that of the run for a job that has not ended", overJobs(func(o *Outcome) float64 { return o.JCTMean }).madeBy(PartlyWaits)},
	{"bounded_slowdown_mean", InCount, false, "mean of max(1, JCT / max(run time, 10 s))", overJobs(func(o *Outcome) float64 { return o.BoundedSlowdown }).madeBy(PartlyWaits)},
	{"makespan", InSeconds, false, "from the first submission to the last end; to that of the run where a job has not ended", overJobs(func(o *Outcome) float64 { return float64(o.Makespan) }).madeBy(PartlyWaits)},
	{"queue_max", InCount, false, "most jobs waiting at once", figure(func(o *Outcome) float64 { return float64(o.Queue.Max) }).madeBy(PartlyWaits)},
	{"queue_mean", InCount, false, "jobs waiting, mean over time", figure(func(o *Outcome) float64 { return o.Queue.Mean }).madeBy(PartlyWaits)},
	{"unserved_gpu_hours", InGPUHours, false, "possible work (doable by the end) that was not done", figure(func(o *Outcome) float64 { return o.Unserved.Hours() }).ofWork()},
	{"unserved_share", InShare, false, "unserved work over possible work", figure(func(o *Outcome) float64 { return o.UnservedShare }).ofWork()},
	{"unserved_jobs", InCount, false, "jobs waiting at the end, dropped, or that can never run", figure(func(o *Outcome) float64 {
		return float64(o.UnservedJobs.Waiting + o.UnservedJobs.Unplaceable + o.UnservedJobs.Dropped)
	}).ofWork()},
	{"unserved_usd", InUSD, false, "unserved work at the on-demand price", money(func(o *Outcome) *capcli.USD { return o.UnservedAmount })},
	{"backlog_gpu_hours", InGPUHours, false, "work left at the end of the jobs that wait, were dropped, or can never run", figure(func(o *Outcome) float64 { return o.Backlog.Hours() })},
	{"backlog_usd", InUSD, false, "backlog at the on-demand price", money(func(o *Outcome) *capcli.USD { return o.BacklogAmount })},
	{"waiting", InCount, false, "jobs still waiting at the end", figure(func(o *Outcome) float64 { return float64(o.Jobs.Waiting) }).madeBy(OnlyWaits)},
	{"unplaceable", InCount, false, "jobs that can never run", figure(func(o *Outcome) float64 { return float64(o.Jobs.Unplaceable) })},
	{"finished", InCount, true, "jobs that finished", figure(func(o *Outcome) float64 { return float64(o.Jobs.Finished) })},
	{"preemptions", InCount, false, "times that a job lost its GPUs", figure(func(o *Outcome) float64 { return float64(o.Jobs.Preemptions) })},
	{"deadline_misses", InCount, false, "jobs that had not ended by their deadline", figure(func(o *Outcome) float64 { return float64(o.Jobs.Misses) }).madeBy(PartlyWaits)},
	{"dropped", InCount, false, "jobs that the policy gave up, because they could no longer meet their deadline", figure(func(o *Outcome) float64 { return float64(o.Jobs.Dropped) })},
	{"tardiness", InSeconds, false, "sum of the times from deadline to end, of the jobs that ended late", figure(func(o *Outcome) float64 { return float64(o.Jobs.Tardiness) }).madeBy(PartlyWaits)},
	{"held", InCount, false, "jobs still waiting at the end because of a quota, a cap or a budget", figure(func(o *Outcome) float64 { return float64(o.Jobs.Held) })},
	{"fairness_gpu_time", InShare, true, "equality of tenants' GPU time over their weights (Jain's index: 1 is equal, 1/n means that one of n has all)", share(func(o *Outcome) *float64 { return o.Fairness.GPUTime })},
	{"fairness_slowdown", InShare, true, "equality of tenants' mean bounded slowdowns, by the same index", share(func(o *Outcome) *float64 { return o.Fairness.Slowdown })},
	{"least_served_share", InShare, true, "share of its possible work that the worst served tenant got done (max-min)", share(func(o *Outcome) *float64 { return o.Fairness.LeastServed })},
	{"cost", InUSD, false, "total cost of the run", money(func(o *Outcome) *capcli.USD { return o.Cost.Total }).sum(billing.SlotHeld, billing.SlotIdle, billing.SlotBlocked, billing.SlotDown)},
	{"total", InUSD, false, "the same as cost", money(func(o *Outcome) *capcli.USD { return o.Cost.Total }).sum(billing.SlotHeld, billing.SlotIdle, billing.SlotBlocked, billing.SlotDown)},
	{"committed", InUSD, false, "cost of owned and reserved capacity", tierCost(billing.Committed)},
	{"on_demand", InUSD, false, "cost of on-demand capacity", tierCost(billing.OnDemand)},
	{"spot", InUSD, false, "cost of spot capacity", tierCost(billing.Spot)},
	{"on_demand_equivalent", InUSD, false, "cost of all use at on-demand prices", money(func(o *Outcome) *capcli.USD { return o.Cost.Equivalent })},
	{"stranded_usd", InUSD, false, "cost of committed GPUs that nobody held", money(func(o *Outcome) *capcli.USD { return o.Cost.Stranded }).madeBy(PartlyWaits).sum(billing.SlotIdle, billing.SlotBlocked, billing.SlotDown).ofTier(billing.Committed)},
	{"stranded", InUSD, false, "the same as stranded_usd", money(func(o *Outcome) *capcli.USD { return o.Cost.Stranded })},
	{"rounding_usd", InUSD, false, "part of cost that billing each job for whole machines adds", money(func(o *Outcome) *capcli.USD { return o.Cost.Rounding })},
	{"availability", InShare, true, "jobs that started within the limit on waits, or an hour, of all that came", share(func(o *Outcome) *float64 { return o.Availability })},
	{"effective_savings_rate", InShare, true, "1 - cost / on-demand equivalent", share(func(o *Outcome) *float64 { return o.Cost.Savings })},
	{"allocation_rate", InShare, true, "GPU-hours held of all that were offered", share(func(o *Outcome) *float64 { return o.Capacity.AllocationRate })},
	{"stranded_gpu_hours", InGPUHours, false, "committed GPU-hours that nobody held", figure(func(o *Outcome) float64 { return o.Capacity.Stranded.Hours() }).madeBy(PartlyWaits).sum(billing.SlotIdle, billing.SlotBlocked, billing.SlotDown).ofTier(billing.Committed)},
	{"used_gpu_hours", InGPUHours, true, "GPU-hours held", figure(func(o *Outcome) float64 { return o.Capacity.Used.Hours() }).sum(billing.SlotHeld)},
	{"idle_gpu_hours", InGPUHours, false, "free while nobody waited for them", figure(func(o *Outcome) float64 { return o.Capacity.Idle.Hours() }).sum(billing.SlotIdle)},
	{"blocked_gpu_hours", InGPUHours, false, "free while jobs waited that could not start", figure(func(o *Outcome) float64 { return o.Capacity.Blocked.Hours() }).madeBy(PartlyWaits).sum(billing.SlotBlocked)},
	{"down_gpu_hours", InGPUHours, false, "failed or draining", figure(func(o *Outcome) float64 { return o.Capacity.Down.Hours() }).sum(billing.SlotDown)},
	{"nodes_ordered", InCount, false, "nodes that were bought", share(sumBought(func(b *Bought) float64 { return float64(b.Ordered) }))},
	{"bought_node_hours", InCount, false, "hours of bought nodes that were billed", share(sumBought(func(b *Bought) float64 { return b.NodeHours }))},
	{"bought_utilisation", InShare, true, "GPU-hours held of all that were billed of bought nodes", share(boughtUtilisation)},
	{"orders_refused", InCount, false, "orders of nodes that failed because none could be had", share(sumBought(func(b *Bought) float64 { return float64(b.Tries) }))},
	{"slowdown_gpu_hours", InGPUHours, false, "GPU-hours that jobs took longer because they were spread over racks or nodes", share(nearFigure((*Near).slowdownHours))},
	{"contention_gpu_hours", InGPUHours, false, "GPU-hours that jobs took longer because together they wanted more storage, CPUs or network than there is", share(func(o *Outcome) *float64 { return o.Shared.hours() })},
	{"domain_stranded_gpus_mean", InCount, false, "GPUs on free nodes of racks or other domains too small for a gang of the run", share(nearFigure((*Near).strandedGPUs))},
	{"stranded_slices_gpu_hours", InGPUHours, false, "free compute slices of divided GPUs in use that no further instance could take", share(strandedSlices)},
	{"fragmentation_gpus_mean", InCount, false, "free GPUs that the mix of jobs could not use", figure(func(o *Outcome) float64 { return o.Capacity.Fragmentation })},
}, serviceMetrics()...)

// Derived are figures that tables show but limits cannot name.
var Derived = []*Metric{
	{"cost_per_year", InUSD, false, "cost x 365.25 d / length of the run", money(func(o *Outcome) *capcli.USD { return o.Cost.PerYear })},
	{"per_used_gpu_hour", InUSD, false, "cost of a GPU-hour that was held", money(func(o *Outcome) *capcli.USD { return o.Cost.PerGPUHour })},
	{"redone_gpu_hours", InGPUHours, false, "GPU-hours held without progress", figure(func(o *Outcome) float64 { return o.Capacity.Redone.Hours() })},
}

// MetricNamed returns the metric or derived figure called name, or nil.
func MetricNamed(name string) *Metric {
	if m := byName[name]; m != nil {
		return m
	}
	return ofOneService(name)
}

var byName = func() map[string]*Metric {
	out := map[string]*Metric{}
	for _, list := range [][]*Metric{Metrics, Derived} {
		for _, m := range list {
			out[m.Name] = m
		}
	}
	return out
}()

// Column returns the name of the metric in tables and documents, which includes its unit:
// wait_p95_s, cost_usd, finished_jobs.
func (m *Metric) Column() string {
	switch {
	case m.Name == "finished":
		return "finished_jobs"
	case m.Unit == InSeconds:
		return m.Name + "_s"
	case m.Unit == InUSD && !slices.Contains(strings.Split(m.Name, "_"), "usd") && !strings.Contains(m.Name, ".usd_"):
		return m.Name + "_usd"
	}
	return m.Name
}

// Read returns the metric's figure of an outcome. It reports false if the figure is unknown.
func (m *Metric) Read(o *Outcome) (Figure, bool) {
	if m.overJobs && o.Came() == 0 {
		return Figure{}, false
	}
	return m.get(o)
}

// Figure returns a metric of the outcome by name. It reports false if the figure is unknown or does
// not exist.
func (o *Outcome) Figure(metric string) (Figure, bool) {
	if m := MetricNamed(metric); m != nil {
		return m.Read(o)
	}
	return Figure{}, false
}

// Exact returns a metric of the outcome by name. It reports false if the figure is not known
// exactly.
func (o *Outcome) Exact(metric string) (float64, bool) {
	f, known := o.Figure(metric)
	if !known || f.AtLeast {
		return 0, false
	}
	return f.Value, true
}

// MetricText formats a metric of the outcome; "n/a" if it is unknown.
func (o *Outcome) MetricText(m *Metric) string {
	f, known := m.Read(o)
	if !known {
		return "n/a"
	}
	return f.Text(m.Text)
}

// Text formats a value of the metric: "1 h 30 min", "$1,700.00", "93.0%".
func (m *Metric) Text(v float64) string {
	switch m.Unit {
	case InSeconds:
		if m.value != nil {
			return capcli.MicrosText(v * 1e6)
		}
		return capcli.Seconds(v + 0.5).String()
	case InUSD:
		return capcli.USD(v*1e6 + 0.5).String()
	case InGPUHours:
		return fmt.Sprintf("%.1f GPU-hours", v)
	case InShare:
		return fmt.Sprintf("%.1f%%", 100*v)
	case InCount:
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Text formats the figure for a sentence; a lower bound gets "over " before it.
func (f Figure) Text(text func(float64) string) string {
	if f.AtLeast {
		return "over " + text(f.Value)
	}
	return text(f.Value)
}

// reading says how a metric is read from an outcome, and what it is made of.
type reading struct {
	get      func(*Outcome) (Figure, bool)
	overJobs bool // a figure over jobs, which is unknown if no job arrived
	// sinceServed marks a figure of unserved work, which old documents lack.
	sinceServed bool

	waits    Waiting
	quantile int64
	slots    []billing.Slot
	tier     billing.Tier
	oneTier  bool

	value func(*Service) *float64 // of one service; nil for the figures of the run
	join  func(a, b float64) float64
}

// Waiting says how much of a metric is due to jobs' waits.
type Waiting uint8

// Waits contribute nothing to the metric, a part that cannot be separated, or all of it.
const (
	NoWaits Waiting = iota
	PartlyWaits
	OnlyWaits
)

// Waiting returns how much of the metric is due to jobs' waits.
func (m *Metric) Waiting() Waiting { return m.waits }

// Quantile returns the percentile of waits that the metric is, 100 for the longest wait; 0 if it is
// none.
func (m *Metric) Quantile() int64 { return m.quantile }

// Slots returns the slots of GPU time, or of its cost, whose sum is the metric; nil if it is no
// such sum.
func (m *Metric) Slots() []billing.Slot { return m.slots }

// Tier returns the tier that the metric covers. It reports false if it covers all.
func (m *Metric) Tier() (billing.Tier, bool) { return m.tier, m.oneTier }

// ofWork marks a metric of unserved work.
func (r reading) ofWork() reading {
	r.sinceServed = true
	return r
}

// madeBy sets how much of the metric is due to waits.
func (r reading) madeBy(w Waiting) reading {
	r.waits = w
	return r
}

// sum marks a metric that is the sum of slots.
func (r reading) sum(slots ...billing.Slot) reading {
	r.slots = slots
	return r
}

// ofTier marks a metric of one tier.
func (r reading) ofTier(t billing.Tier) reading {
	r.tier, r.oneTier = t, true
	return r
}

func figure(value func(*Outcome) float64) reading {
	return reading{get: func(o *Outcome) (Figure, bool) { return Figure{Value: value(o)}, true }}
}

// overJobs reads a figure over jobs. Without jobs it is unknown, so a limit on it is neither held
// nor broken.
func overJobs(value func(*Outcome) float64) reading {
	r := figure(value)
	r.overJobs = true
	return r
}

// quantile reads a percentile of waits.
func quantile(percent int64, value func(*Outcome) (exact, from *capcli.Seconds)) reading {
	return reading{overJobs: true, waits: OnlyWaits, quantile: percent, get: func(o *Outcome) (Figure, bool) {
		exact, from := value(o)
		switch {
		case exact != nil:
			return Figure{Value: float64(*exact)}, true
		case from != nil:
			return Figure{Value: float64(*from), AtLeast: true}, true
		}
		return Figure{}, false
	}}
}

func money(value func(*Outcome) *capcli.USD) reading {
	return reading{get: func(o *Outcome) (Figure, bool) {
		if u := value(o); u != nil {
			return Figure{Value: u.Float()}, true
		}
		return Figure{}, false
	}}
}

func tierCost(t billing.Tier) reading {
	r := reading{get: func(o *Outcome) (Figure, bool) {
		u, known := o.Cost.ByTier[t.String()]
		return Figure{Value: u.Float()}, known
	}}
	return r.sum(billing.SlotHeld, billing.SlotIdle, billing.SlotBlocked, billing.SlotDown).ofTier(t)
}

func share(value func(*Outcome) *float64) reading {
	return reading{get: func(o *Outcome) (Figure, bool) {
		if v := value(o); v != nil {
			return Figure{Value: *v}, true
		}
		return Figure{}, false
	}}
}

// Came returns the number of jobs that arrived and want a GPU.
func (w *Waits) Came() int64 { return w.Started + w.NeverStarted }

// JobsText formats a mean number of jobs: 1,204 jobs, 2.5 jobs.
func JobsText(v float64) string {
	if v == float64(int64(v)) || v >= 100 {
		n := int64(v + 0.5)
		return capcli.Grouped(n) + " " + capcli.Plural(n, "job")
	}
	return fmt.Sprintf("%.1f jobs", v)
}
