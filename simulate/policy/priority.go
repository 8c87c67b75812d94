package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("priority", "larger priority first; the head of the line waits, or with skip is passed over", func(s simulate.Settings) simulate.Policy {
		return priority{s.Skip}
	})
	Catalog.Add("priority-preempt", "larger priority first, taking GPUs away from jobs of less", func(simulate.Settings) simulate.Policy {
		return &priorityPreempt{}
	})
}

// priority starts jobs in order of priority, then of arrival: static priorities without
// preemption (Cobham, "Priority assignment in waiting line problems", 1954).
type priority struct{ skip bool }

func (p priority) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

func (priority) Key(l *simulate.Live, _ capcli.Seconds) int64 { return -int64(l.Priority) }

// priorityPreempt is priority with preemption. Jobs of equal priority never preempt
// each other.
type priorityPreempt struct{ contest }

// Preempts declares that it takes GPUs away from running jobs.
func (*priorityPreempt) Preempts() {}

func (p *priorityPreempt) Schedule(t *simulate.Turn) { p.rank(t, p) }

func (*priorityPreempt) Key(l *simulate.Live, _ capcli.Seconds) int64 { return -int64(l.Priority) }
