package mix

import (
	"context"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
)

// ClassUse is what the jobs of one class did in one run of a mix.
type ClassUse struct {
	Class    string         `json:"class"`
	Jobs     int64          `json:"jobs"`
	Held     []PoolUse      `json:"held"`     // by pool, in the order of the scenario; no pool that they never held
	Restarts int64          `json:"restarts"` // times that a job lost its GPUs
	Redone   GPUMillis      `json:"redone_gpu_ms"`
	WaitP95  capcli.Seconds `json:"wait_p95_s"` // to the first start, over all jobs; those that never start count until the end
	WaitMax  capcli.Seconds `json:"wait_max_s"`
}

// PoolUse is GPU time held in a pool.
type PoolUse struct {
	Pool string    `json:"pool"`
	Held GPUMillis `json:"held_gpu_ms"`
}

// ByClass runs a mix, a list of changes to the scenario, in every run, and returns by run what the jobs of each class did,
// in order of class. Its errors are those of Assess.
func (p *Planner) ByClass(ctx context.Context, changes []string) ([][]ClassUse, error) {
	s, err := p.req.Case.Scenario.With(changes...)
	if err != nil {
		return nil, p.Fault(err)
	}
	c, err := p.candidateOf(s, 0, nil)
	if err != nil {
		return nil, p.Fault(err)
	}
	out := make([][]ClassUse, p.problem.Runs)
	err = capcli.EachParallel(ctx, p.problem.Runs, func(ctx context.Context, run int) error {
		jobs, err := p.problem.Jobs(run)
		if err != nil {
			return err
		}
		cfg, err := c.Config(run)
		if err != nil {
			return err
		}
		w := &classWatch{pools: cfg.Pools, jobs: map[uint64]*classJob{}, rows: map[string]*classRow{}}
		cfg.List, cfg.Observers = jobs, append(cfg.Observers, w)
		res, err := simulate.Run(ctx, cfg)
		if err != nil {
			return err
		}
		out[run] = w.classes(res.Ended)
		return nil
	})
	return out, p.Fault(err)
}

// classWatch sums what jobs do by class. A job is known by its place in the list of jobs.
type classWatch struct {
	pools []simulate.Pool
	jobs  map[uint64]*classJob
	rows  map[string]*classRow
}

// classJob is a job that has not ended.
type classJob struct {
	class     string
	submitted capcli.Seconds
	first     capcli.Seconds // -1 before the first start
	since     capcli.Seconds // -1 while it waits
	pool      int
	milli     int64
	lost      capcli.Seconds // so far
}

type classRow struct {
	ClassUse
	held  []GPUMillis
	waits []capcli.Seconds
}

func (w *classWatch) row(class string) *classRow {
	r := w.rows[class]
	if r == nil {
		r = &classRow{ClassUse: ClassUse{Class: class}, held: make([]GPUMillis, len(w.pools))}
		w.rows[class] = r
	}
	return r
}

// Observe follows the stays of jobs.
func (w *classWatch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	id := uint64(e.Job.Place())
	j := w.jobs[id]
	if j == nil {
		j = &classJob{class: e.Job.Class, submitted: e.Job.Submitted, first: -1, since: -1}
		w.jobs[id] = j
		w.row(j.class).Jobs++
	}
	switch e.Kind {
	case simulate.Start:
		j.since, j.pool, j.milli = e.Job.Since, int(e.Job.Slices()[0].Pool), e.Job.Milli()
		if j.first < 0 {
			j.first = e.Job.Since
		}
	case simulate.Preempt:
		w.row(j.class).Restarts++
		w.leave(j, e.At, e.Job.Lost)
	case simulate.Finish:
		w.leave(j, e.At, e.Job.Lost)
		w.waited(j, e.At)
		delete(w.jobs, id)
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Drop:
	}
}

// leave ends the stay of a job at an instant. lost is all the time that it has lost so far.
func (w *classWatch) leave(j *classJob, at, lost capcli.Seconds) {
	r := w.row(j.class)
	if j.since >= 0 && at > j.since {
		r.held[j.pool] += GPUMillis(j.milli * int64(at-j.since))
	}
	r.Redone += GPUMillis(j.milli * int64(lost-j.lost))
	j.lost, j.since = lost, -1
}

// waited notes the wait of a job until its first start, or until an instant.
func (w *classWatch) waited(j *classJob, at capcli.Seconds) {
	if j.first >= 0 {
		at = j.first
	}
	r := w.row(j.class)
	r.waits = append(r.waits, at-j.submitted)
}

func (w *classWatch) classes(end capcli.Seconds) []ClassUse {
	for _, j := range w.jobs {
		w.leave(j, end, j.lost)
		w.waited(j, end)
	}
	var out []ClassUse
	for _, r := range w.rows {
		slices.Sort(r.waits)
		if n := len(r.waits); n > 0 {
			r.WaitP95, r.WaitMax = r.waits[int(math.Ceil(0.95*float64(n)))-1], r.waits[n-1]
		}
		for i, held := range r.held {
			if held > 0 {
				r.Held = append(r.Held, PoolUse{w.pools[i].Name, held})
			}
		}
		out = append(out, r.ClassUse)
	}
	slices.SortFunc(out, func(a, b ClassUse) int { return strings.Compare(a.Class, b.Class) })
	return out
}
