package explain

import (
	"fmt"
	"sync"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/cause"
)

// watch replays the runs and records the waits of each.
func (x *explanation) watch() error {
	if x.Metric.Waiting() == outcome.NoWaits {
		return nil
	}
	p, err := x.Make(Variation{})
	if err != nil {
		return err
	}
	x.waits = make([]*cause.Waits, len(x.Runs))
	var lock sync.Mutex
	p.Prepare = func(run int, cfg *simulate.Config) error {
		w := &cause.Waits{Over: x.leastWait(run)}
		cfg.Observers = append(cfg.Observers, w)
		lock.Lock()
		defer lock.Unlock()
		x.waits[run] = w
		return nil
	}
	_, err = x.Play([]*play.Case{p})
	return err
}

// leastWait returns the shortest wait of the jobs to explain: the run's value if the metric is a
// quantile, at least 1 s; else 0.
func (x *explanation) leastWait(run int) capcli.Seconds {
	w := &x.Runs[run].Result.Wait
	switch x.Metric.Quantile() {
	case 50:
		return max(w.P50, 1)
	case 95:
		return max(w.P95, 1)
	case 99:
		return max(w.P99, 1)
	case 100:
		return max(w.Max, 1)
	}
	return 0
}

// lookedAt sums up the jobs to explain and their waits.
func (x *explanation) lookedAt() *Waiting {
	out := &Waiting{}
	for run, w := range x.waits {
		started, jobs, waited := w.Jobs()
		if x.Metric.Name == stillWaiting {
			still, rows := w.Unfinished()
			jobs, waited = still, 0
			for _, r := range rows {
				waited += r.Time
			}
		}
		out.Of += started
		out.Jobs += jobs
		out.Time += waited
		out.AtLeast = append(out.AtLeast, x.leastWait(run))
	}
	out.Which = x.jobsText()
	return out
}

func (x *explanation) jobsText() string {
	q := x.Metric.Quantile()
	v, _ := x.Runs[0].Exact(x.Metric.Name)
	switch {
	case x.Metric.Name == stillWaiting:
		return "the jobs that never started"
	case v == 0 && q > 0:
		return "the jobs that waited at all"
	case q == 50:
		return "the slower half of the jobs"
	case q == 100:
		return "the slowest job"
	case q > 0:
		return fmt.Sprintf("the slowest %d%% of the jobs", 100-q)
	}
	return "all jobs"
}

// stillWaiting is the name of the metric that counts jobs that never started.
const stillWaiting = "waiting"
