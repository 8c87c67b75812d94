package validate

import (
	"context"
	"math"
	"slices"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
)

// Rules are what a replay decides by.
type Rules struct {
	Policy   simulate.NewPolicy
	Settings simulate.Settings
	Tenants  []simulate.Tenant // those with a quota
	Delay    capcli.Seconds    // no job starts sooner after it is queued: scheduling interval, start-up
}

// Perfect returns the rules with true run times in place of the limits.
func (r Rules) Perfect() Rules {
	r.Settings.Perfect = true
	return r
}

// Replay returns when each job would have started by the rules, in the order of l.Jobs. The jobs
// share one counted pool. Within each stretch the capacity is what was held in the recorded past.
func (l *Log) Replay(ctx context.Context, rules Rules, stretches ...Stretch) ([]capcli.Time, error) {
	return l.replay(ctx, rules, l.runs(), stretches)
}

// runs returns how long each job ran.
func (l *Log) runs() []capcli.Seconds {
	return capcli.Map(l.Jobs, func(x Job) capcli.Seconds { return x.Run() })
}

// replay is Replay with run times of its own.
func (l *Log) replay(ctx context.Context, rules Rules, runs []capcli.Seconds, stretches []Stretch) ([]capcli.Time, error) {
	if len(l.Jobs) == 0 {
		return nil, nil
	}
	watch := &startWatch{origin: l.begin(), starts: slices.Repeat([]capcli.Time{capcli.NoTime}, len(l.Jobs))}
	list, held := make([]capcli.Job, len(l.Jobs)), int64(0)
	for i := range l.Jobs {
		list[i] = l.request(&l.Jobs[i], runs[i], rules.Delay)
		if i < l.Seeded {
			held += l.Jobs[i].Units
		}
	}
	pool := simulate.Pool{Name: "log", Nodes: 1, GPUsPerNode: int(max(l.Capacity, held))}
	pool.Withheld = l.withheld(max(0, held-l.Capacity), stretches)
	cfg := simulate.Config{
		Start: l.begin(), Pools: []simulate.Pool{pool}, List: list, Seeded: l.Seeded,
		Policy: rules.Policy, Settings: rules.Settings, Tenants: rules.Tenants, Observers: []simulate.Observer{watch},
	}
	place, err := placement.Catalog.Get("count")
	if err != nil {
		return nil, err
	}
	cfg.Placement = place()
	if _, err := simulate.Run(ctx, cfg); err != nil {
		return nil, err
	}
	for i := range l.Seeded {
		watch.starts[i] = l.Jobs[i].Start
	}
	if i := slices.Index(watch.starts, capcli.NoTime); i >= 0 {
		return nil, &capcli.RequestError{Field: "policy", Text: "never starts job " + l.Jobs[i].ID + ", so its wait cannot be compared", Hint: "take a policy that starts every job: policy=easy"}
	}
	return watch.starts, nil
}

// begin is the instant at which a replay begins: the cut of PartFrom, or the first job.
func (l *Log) begin() capcli.Time {
	if l.Cut.IsKnown() && l.Cut != 0 {
		return l.Cut
	}
	return l.Jobs[0].Queued
}

// request returns j as the engine gets it. What happened before the replay begins is taken off.
func (l *Log) request(j *Job, run, delay capcli.Seconds) capcli.Job {
	begin := l.begin()
	r := capcli.Job{
		ID: j.ID, Tenant: j.Tenant, Class: j.Class, Priority: j.Priority, GPUs: int(j.Units), Submit: max(begin, j.Queued),
		Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Run: run, Limit: j.Limit,
	}
	if l.Seeded == 0 || j.Start >= begin {
		r.Submit = max(begin, j.Queued+capcli.Time(delay))
	}
	if l.Seeded > 0 && j.Start < begin {
		gone := capcli.Seconds(begin - j.Start)
		r.Run = max(0, run-gone)
		r.Limit = max(1, max(1, j.Limit)-gone)
	}
	return r
}

// withheld returns what of the pool no job may start on: base at all times; what the steps of the
// capacity leave out; and within each stretch all that was not held in the recorded past.
func (l *Log) withheld(base int64, stretches []Stretch) []simulate.Withheld {
	var out []simulate.Withheld
	begin := l.begin()
	add := func(at capcli.Time, units int64) {
		step := simulate.Withheld{At: max(0, capcli.Seconds(at-begin)), Milli: 1000 * (base + units)}
		switch last := len(out) - 1; {
		case last >= 0 && out[last].At == step.At:
			out[last] = step
		case last < 0 && step.Milli > 0, last >= 0 && out[last].Milli != step.Milli:
			out = append(out, step)
		}
	}
	add(begin, 0)
	step, absent := 0, int64(0)
	steps := func(until capcli.Time, emit bool) {
		for ; step < len(l.Steps) && l.Steps[step].At < until; step++ {
			if absent = l.Capacity - l.Steps[step].Units; emit {
				add(l.Steps[step].At, absent)
			}
		}
	}
	next, held := 0, int64(0)
	var levels []level
	if len(stretches) > 0 {
		levels = l.heldLevels(l.starts())
	}
	for _, s := range stretches {
		steps(s.From, true)
		for ; next < len(levels) && levels[next].from <= s.From; next++ {
			held = levels[next].units
		}
		add(s.From, max(0, l.Capacity-held))
		for ; next < len(levels) && levels[next].from < s.To; next++ {
			held = levels[next].units
			add(levels[next].from, max(0, l.Capacity-held))
		}
		steps(s.To, false)
		add(s.To, absent)
	}
	steps(math.MaxInt64, true)
	return out
}

// startWatch records the first start of each job, by its number in the order of arrival.
type startWatch struct {
	origin capcli.Time
	starts []capcli.Time
}

// Observe implements simulate.Observer.
func (w *startWatch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start && e.Job.FirstStart == e.At {
		w.starts[e.Job.Index()] = w.origin + capcli.Time(e.At)
	}
}

// PartFrom returns the part of the log from cut on. The jobs that ran at the cut come first and hold
// their units from then on, as recorded. Those that waited join the queue at the cut, ahead of all
// later ones. The jobs that had ended are gone.
func (l *Log) PartFrom(cut capcli.Time) *Log {
	part := &Log{Capacity: l.Capacity, Steps: l.Steps, TooLarge: l.TooLarge, Cut: cut}
	for i := range l.Jobs {
		if j := &l.Jobs[i]; j.Start < cut && j.End > cut {
			part.Jobs = append(part.Jobs, *j)
		}
	}
	part.Seeded = len(part.Jobs)
	for i := range l.Jobs {
		if l.Jobs[i].Start >= cut {
			part.Jobs = append(part.Jobs, l.Jobs[i])
		}
	}
	return part
}
