package eta

import (
	"context"
	"errors"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// PolicyStart is when a job would start under a policy, from the recorded state of the queue, if
// nobody else arrives and each job lasts its limit.
type PolicyStart struct {
	Policy string          `json:"policy"`
	Wait   *capcli.Seconds `json:"wait_s"` // null: never
}

// queueJobs returns the state at the submission of job i as the engine takes it: running jobs with
// what is left of their believed run first, then those that wait, job i last.
func queueJobs(b *beliefs, i int, s *queueState) (list []capcli.Job, seeded int) {
	l := b.log
	now := l.Jobs[i].Queued
	add := func(k int, lasts capcli.Seconds) {
		j := &l.Jobs[k]
		list = append(list, capcli.Job{
			ID: j.ID, Tenant: j.Tenant, GPUs: int(j.Units), Priority: j.Priority, Submit: now, Eligible: capcli.NoTime,
			Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Run: lasts, Limit: lasts,
		})
	}
	for _, k := range s.running {
		j := &l.Jobs[k]
		add(k, capcli.Seconds(BelievedEnd(now, j.Start, b.limits[k], j.Limit)-now))
	}
	for _, k := range s.waiting {
		add(k, max(1, b.limits[k]))
	}
	return list, len(s.running)
}

// underPolicy plays the state at the submission of job i on under a policy. It returns when job i
// starts, and which jobs lose their GPUs for it.
func underPolicy(ctx context.Context, name string, b *beliefs, i int, s *queueState) (*PolicyStart, Names, error) {
	rule, err := policy.Catalog.Get(name)
	if err != nil {
		return nil, nil, err
	}
	place, err := placement.Catalog.Get("count")
	if err != nil {
		return nil, nil, err
	}
	list, seeded := queueJobs(b, i, s)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := &firstStart{index: int64(len(list) - 1), stop: func() { cancel(errStarted) }}
	pool := simulate.Pool{Name: "log", Nodes: 1, GPUsPerNode: int(max(b.log.capacityAt(i, s), s.held))}
	_, err = simulate.Run(ctx, simulate.Config{
		Start: b.log.Jobs[i].Queued, Pools: []simulate.Pool{pool}, List: list, Seeded: seeded,
		Policy: rule, Placement: place(), Observers: []simulate.Observer{found},
	})
	if err != nil && found.wait == nil {
		return nil, nil, err
	}
	return &PolicyStart{Policy: name, Wait: found.wait}, found.taken, nil
}

// errStarted ends a run whose question is answered.
var errStarted = errors.New("the job has started")

// firstStart finds the first start of the job with an index, and stops the run.
type firstStart struct {
	index       int64
	wait        *capcli.Seconds // nil before
	lost, taken Names
	stop        func()
}

// Observe implements simulate.Observer.
func (f *firstStart) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Preempt:
		f.lost = append(f.lost, e.Job.ID)
	case simulate.Start:
		if f.wait == nil && e.Job.Index() == f.index {
			f.wait, f.taken = &e.At, f.lost
			f.stop()
		}
		f.lost = nil
	default:
	}
}
