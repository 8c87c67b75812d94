package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	OwnSettings.Add("aging", "priority: each interval of waiting of this length adds a point of priority; 0 adds none", 0)
	Catalog.Add("priority", "larger priority first; the head of the line waits, or with skip is passed over", func(s simulate.Settings) simulate.Policy {
		return priority{s.Skip, s.Own["aging"]}
	})
	Catalog.Add("priority-preempt", "larger priority first, taking GPUs away from jobs of less", func(simulate.Settings) simulate.Policy {
		return &priorityPreempt{}
	})
}

// priority starts jobs in order of priority, then of arrival: static priorities without
// preemption (Cobham, "Priority assignment in waiting line problems", 1954).
//
// With aging, a job of priority p that was submitted at s has, at time t, the priority
//
//	p + (t - s) / aging
//
// (Kleinrock, "A delay dependent queue discipline", 1964, with one slope). All waiting jobs gain
// alike, so their order is that of s - p * aging, which does not change with time.
type priority struct {
	skip  bool
	aging capcli.Seconds
}

func (p priority) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

func (p priority) Key(l *simulate.Live) int64 {
	if p.aging > 0 {
		return int64(l.Submitted) - int64(l.Priority)*int64(p.aging)
	}
	return -int64(l.Priority)
}

// priorityPreempt is priority with preemption. Jobs of equal priority never preempt
// each other.
type priorityPreempt struct{ contest }

// Preempts declares that it takes GPUs away from running jobs.
func (*priorityPreempt) Preempts() {}

func (p *priorityPreempt) Schedule(t *simulate.Turn) {
	p.rank(t, func(l *simulate.Live, _ capcli.Seconds) int64 { return p.Key(l) })
}

func (*priorityPreempt) Key(l *simulate.Live) int64 { return -int64(l.Priority) }
