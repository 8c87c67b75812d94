package explain

import (
	"slices"
	"sync"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/cause"
)

// watch plays the runs with a recorder each.
func (x *explanation) watch() error {
	if !x.aboutWaits() {
		return nil
	}
	p, err := x.Make(Variation{})
	if err != nil {
		return err
	}
	x.waits = make([]*cause.Waits, len(x.Runs))
	var lock sync.Mutex
	p.Prepare = func(run int, cfg *simulate.Config) error {
		w := &cause.Waits{Over: x.least(run)}
		cfg.Observers = append(cfg.Observers, w)
		lock.Lock()
		defer lock.Unlock()
		x.waits[run] = w
		return nil
	}
	_, err = x.Play([]*play.Case{p})
	return err
}

// aboutWaits tells whether the figure is one of waits.
func (x *explanation) aboutWaits() bool {
	return slices.Contains([]string{
		"wait_mean", "wait_p50", "wait_p95", "wait_p99", "wait_max", "jct_mean", "bounded_slowdown_mean", "makespan",
		"queue_max", "queue_mean", "waiting", "deadline_misses", "blocked_gpu_hours", "stranded_usd", "stranded_gpu_hours",
	}, x.Metric.Name)
}

// least is the wait of the jobs that are looked at: those at or above the
// figure where it is a quantile, or that waited at all where that is nothing;
// and all jobs where it is no quantile.
func (x *explanation) least(run int) capcli.Seconds {
	w := &x.Runs[run].Result.Wait
	switch x.Metric.Name {
	case "wait_p50":
		return max(w.P50, 1)
	case "wait_p95":
		return max(w.P95, 1)
	case "wait_p99":
		return max(w.P99, 1)
	case "wait_max":
		return max(w.Max, 1)
	}
	return 0
}

// told are the jobs whose waits are told apart.
func (x *explanation) told() *Waiting {
	out := &Waiting{}
	for run, w := range x.waits {
		started, jobs, waited := w.Jobs()
		if x.Metric.Name == "waiting" {
			still, rows := w.Still()
			jobs, waited = still, 0
			for _, r := range rows {
				waited += r.Time
			}
		}
		out.Of += started
		out.Jobs += jobs
		out.Time += waited
		out.AtLeast = append(out.AtLeast, x.least(run))
	}
	out.Which = map[string]string{
		"wait_p50": "the slower half of the jobs", "wait_p95": "the slowest 5% of the jobs", "wait_p99": "the slowest 1% of the jobs",
		"wait_max": "the slowest job", "waiting": "the jobs that never started",
	}[x.Metric.Name]
	switch v, _ := x.Runs[0].Exact(x.Metric.Name); {
	case out.Which == "":
		out.Which = "all jobs"
	case v == 0 && x.Metric.Name != "waiting":
		out.Which = "the jobs that waited at all"
	}
	return out
}
